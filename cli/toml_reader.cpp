// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/toml_reader.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kvpane::cli {

namespace {

std::string range_sentence(const std::string& what, const Range& range, std::int64_t got) {
    if (range.max == INT64_MAX) {
        return fmt::format("{} must be at least {}, got {}", what, range.min, got);
    }
    return fmt::format("{} must be {}..{}, got {}", what, range.min, range.max, got);
}

std::string quoted_list(const std::vector<std::string_view>& words) {
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view between = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
        list += fmt::format("{}'{}'", between, words[i]);
    }
    return list;
}

}  // namespace

Table::Table(const Document& document, const Node& node, std::string name)
    : document_(&document), node_(&node), name_(std::move(name)) {}

void Table::fail(Place place, const std::string& sentence) const { throw InputError(document_->file, place, sentence); }

std::string Table::spelled(std::string_view key) const { return fmt::format("'{}' in {}", key, name_); }

void Table::ask(std::string_view key) {
    if (std::ranges::find(asked_, key) == asked_.end()) {
        asked_.emplace_back(key);
    }
}

const Node* Table::find(std::string_view key) {
    ask(key);
    const auto found = std::ranges::find(node_->members, key, &Member::key);
    return found == node_->members.end() ? nullptr : &found->value;
}

const Node& Table::require(std::string_view key) {
    const Node* value = find(key);
    if (value == nullptr) {
        missing(key);
    }
    return *value;
}

void Table::missing(std::string_view key) const {
    // A misspelt key explains why the right one is missing, and is the better place to point at.
    for (const Member& member : node_->members) {
        const bool asked = std::ranges::find(asked_, member.key) != asked_.end();
        if (!asked && !did_you_mean(member.key, {key}).empty()) {
            unknown(member);
        }
    }
    fail(node_->place, fmt::format("'{}' is missing in {}", key, name_));
}

void Table::unknown(const Member& member) const {
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    fail(member.place, fmt::format("unknown key '{}' in {}{}", member.key, name_, did_you_mean(member.key, known)));
}

const std::vector<Member>& Table::all_members() {
    all_asked_ = true;
    return node_->members;
}

void Table::finish() const {
    if (all_asked_) {
        return;
    }
    for (const Member& member : node_->members) {
        if (std::ranges::find(asked_, member.key) == asked_.end()) {
            unknown(member);
        }
    }
}

const Node& Table::of_kind(const Node& value, NodeKind kind, const std::string& what) const {
    if (value.kind != kind) {
        fail(value.place, fmt::format("{} must be {}, not {}", what, with_article(kind), with_article(value.kind)));
    }
    return value;
}

std::int64_t Table::to_integer(const Node& value, const std::string& what, Range range) const {
    const std::int64_t got = of_kind(value, NodeKind::integer, what).integer;
    if (got < range.min || got > range.max) {
        fail(value.place, range_sentence(what, range, got));
    }
    return got;
}

std::vector<std::int64_t> Table::to_integers(const Node& value, const std::string& what, Range range) const {
    std::vector<std::int64_t> numbers;
    numbers.reserve(value.items.size());
    for (const Node& item : to_array(value, what)) {
        numbers.push_back(to_integer(item, "an entry of " + what, range));
    }
    return numbers;
}

const std::string& Table::to_string(const Node& value, const std::string& what) const {
    return of_kind(value, NodeKind::string, what).text;
}

const std::vector<Node>& Table::to_array(const Node& value, const std::string& what) const {
    return of_kind(value, NodeKind::array, what).items;
}

Table Table::to_table(const Node& value, const std::string& what, const std::string& name) const {
    return {*document_, of_kind(value, NodeKind::table, what), name};
}

std::optional<std::int64_t> Table::integer_if(std::string_view key, Range range) {
    const Node* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(to_integer(*value, spelled(key), range));
}

std::int64_t Table::integer_or(std::string_view key, std::int64_t fallback, Range range) {
    return integer_if(key, range).value_or(fallback);
}

std::int64_t Table::integer(std::string_view key, Range range) { return to_integer(require(key), spelled(key), range); }

double Table::number(std::string_view key, double min, double max) {
    const Node& value = require(key);
    if (value.kind != NodeKind::integer && value.kind != NodeKind::floating) {
        fail(value.place, fmt::format("{} must be a number, not {}", spelled(key), with_article(value.kind)));
    }
    const double got = value.kind == NodeKind::integer ? static_cast<double>(value.integer) : value.number;
    if (!std::isfinite(got) || got < min || got > max) {
        fail(value.place, fmt::format("{} must be {}..{}, got {}", spelled(key), min, max, got));
    }
    return got;
}

double Table::number_or(std::string_view key, double fallback, double min, double max) {
    return find(key) == nullptr ? fallback : number(key, min, max);
}

bool Table::boolean_or(std::string_view key, bool fallback) {
    const Node* value = find(key);
    return value == nullptr ? fallback : of_kind(*value, NodeKind::boolean, spelled(key)).boolean;
}

const std::string& Table::string(std::string_view key) { return to_string(require(key), spelled(key)); }

const std::string* Table::string_if(std::string_view key) {
    const Node* value = find(key);
    return value == nullptr ? nullptr : &to_string(*value, spelled(key));
}

std::string Table::string_or(std::string_view key, const std::string& fallback) {
    const std::string* value = string_if(key);
    return value == nullptr ? fallback : *value;
}

std::optional<std::size_t> Table::choice_if(std::string_view key, const std::vector<std::string_view>& words) {
    const Node* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::string& got = to_string(*value, spelled(key));
    const auto found = std::ranges::find(words, got);
    if (found == words.end()) {
        fail(value->place,
             fmt::format("{} must be {}, not '{}'{}", spelled(key), quoted_list(words), got, did_you_mean(got, words)));
    }
    return static_cast<std::size_t>(found - words.begin());
}

std::size_t Table::choice(std::string_view key, const std::vector<std::string_view>& words) {
    const std::optional<std::size_t> index = choice_if(key, words);
    if (!index) {
        missing(key);
    }
    return *index;
}

std::optional<Table> Table::table_if(std::string_view key, const std::string& name) {
    const Node* value = find(key);
    return value == nullptr ? std::nullopt : std::optional(to_table(*value, spelled(key), name));
}

Table Table::table(std::string_view key, const std::string& name) { return to_table(require(key), spelled(key), name); }

std::vector<Table> Table::tables(std::string_view key, const std::string& name) {
    std::vector<Table> tables;
    if (const Node* value = find(key)) {
        for (const Node& item : to_array(*value, spelled(key))) {
            const std::size_t number = tables.size() + 1;
            tables.push_back(to_table(item, fmt::format("entry {} of {}", number, spelled(key)),
                                      fmt::format("{} {}", name, number)));
        }
    }
    return tables;
}

}  // namespace kvpane::cli

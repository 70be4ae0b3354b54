// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/audit_log.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kvpane::cli {

namespace log = invariants::engine_log;

namespace {

using Kind = JsonValue::Kind;

constexpr std::int64_t format_version = 1;
constexpr std::int64_t most_groups = 1024;
constexpr std::int64_t any_length = longest_sequence;
constexpr std::int64_t largest_token = std::numeric_limits<Token>::max();
constexpr std::size_t longest_label = 256;
constexpr std::size_t longest_word = 64;  // longer ones are no misspelled key

constexpr std::array<std::string_view, 10> events = {"start", "append", "fork",  "truncate", "end",
                                                     "write", "copy",   "alloc", "free",     "table"};

std::string in_quotes(std::string_view word) {
    return word.size() <= longest_word ? fmt::format("'{}'", word)
                                       : fmt::format("'{}...'", word.substr(0, longest_word));
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
    return word.size() <= longest_word ? did_you_mean(word, candidates) : std::string{};
}

struct Range {
    std::int64_t min;
    std::int64_t max;
};

}  // namespace

// The members of an object. Whoever has read all that it knows calls done(): what is left is unknown.
class AuditLog::Fields {
public:
    Fields(const AuditLog& log, const JsonValue& object) : log_(log), object_(object) {}

    // Null when it is not there.
    const JsonValue* find(std::string_view key) {
        known_.push_back(key);
        return object_.find(key);
    }

    const JsonValue& need(std::string_view key) {
        const JsonValue* value = find(key);
        if (value == nullptr) {
            missing_ = missing_.empty() ? key : missing_;
            static const JsonValue nothing;
            return nothing;
        }
        return *value;
    }

    std::int64_t integer(std::string_view key, Range range) { return integer_in(key, need(key), range); }
    std::int64_t integer_or(std::string_view key, std::int64_t other, Range range) {
        const JsonValue* value = find(key);
        return value == nullptr ? other : integer_in(key, *value, range);
    }

    std::string text_or_nothing(std::string_view key) {
        const JsonValue* value = find(key);
        return value == nullptr ? std::string{} : text_in(key, *value);
    }
    std::string text(std::string_view key) { return text_in(key, need(key)); }

    // The name of a sequence: a text, or a number.
    std::string label(std::string_view key) {
        const JsonValue& value = need(key);
        if (value.kind == Kind::integer) {
            return std::to_string(value.integer);
        }
        std::string label = text_in(key, value);
        const bool is_printed = std::ranges::none_of(label, [](char c) { return static_cast<unsigned char>(c) < ' '; });
        if (!is_missing(value) && (label.empty() || label.size() > longest_label || !is_printed)) {
            refuse(value.byte, fmt::format("'{}' must have 1..{} bytes and no control characters", key, longest_label));
        }
        return label;
    }

    std::vector<Token> tokens() {
        const std::vector<std::int64_t>& values = integers("tokens");
        std::vector<Token> tokens(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] < 0 || values[i] > largest_token) {
                refuse(object_.find("tokens")->bytes[i],
                       fmt::format("a token must be 0..{}, got {}", largest_token, values[i]));
            }
            tokens[i] = static_cast<Token>(values[i]);
        }
        return tokens;
    }

    const std::vector<std::int64_t>& integers(std::string_view key) {
        const JsonValue& value = need(key);
        wrong_kind(key, value, Kind::integers, "an array of integers");
        return value.integers;
    }

    // The number of the group that is named; it may be left out where that makes no difference.
    std::uint32_t group(bool may_be_left_out) {
        if (may_be_left_out && object_.find("group") == nullptr) {
            known_.emplace_back("group");
            return 0;
        }
        const std::string name = label("group");
        std::vector<std::string_view> names;
        for (const log::Group& group : log_.header_.groups) {
            if (group.name == name) {
                return static_cast<std::uint32_t>(names.size());
            }
            names.emplace_back(group.name);
        }
        if (const JsonValue* value = object_.find("group")) {
            refuse(value->byte, fmt::format("unknown group {}{}", in_quotes(name), suggestion(name, names)));
        }
        return 0;
    }

    invariants::Scope scope() {
        invariants::Scope scope;
        if (const JsonValue* value = find("scope")) {
            wrong_kind("scope", *value, Kind::object, "an object");
            Fields parts(log_, *value);
            scope.model = parts.text_or_nothing("model");
            scope.tenant = parts.text_or_nothing("tenant");
            scope.lora = parts.text_or_nothing("lora");
            scope.lora_id = parts.integer_or("lora_id", 0, {0, std::numeric_limits<std::int64_t>::max()});
            scope.salt = parts.text_or_nothing("salt");
            parts.done();
        }
        return scope;
    }

    // ERRORS InputError: an unknown key, or else a missing one. Unknown ones first: they may be the missing ones.
    void done() const {
        for (const JsonValue& member : object_.members) {
            if (std::ranges::find(known_, member.key) == known_.end()) {
                refuse(member.key_byte,
                       fmt::format("unknown key {}{}", in_quotes(member.key), suggestion(member.key, known_)));
            }
        }
        if (!missing_.empty()) {
            refuse(object_.byte, fmt::format("'{}' is missing", missing_));
        }
    }

    [[noreturn]] void refuse(std::size_t byte, const std::string& sentence) const { log_.refuse(byte, sentence); }

    void wrong_kind(std::string_view key, const JsonValue& value, Kind wanted, const char* what) const {
        if (value.kind != wanted && !is_missing(value)) {
            refuse(value.byte, fmt::format("'{}' must be {}, not {}", key, what, with_article(value.kind)));
        }
    }

private:
    // What need() gives instead of what is not there; done() says so.
    bool is_missing(const JsonValue& value) const { return value.kind == Kind::null && value.byte == 0; }

    std::int64_t integer_in(std::string_view key, const JsonValue& value, Range range) const {
        if (value.kind == Kind::not_an_integer) {
            const bool is_huge = value.text.find_first_not_of("-0123456789") == std::string::npos;
            refuse(value.byte,
                   is_huge ? fmt::format("'{}' must be {}..{}, got {}", key, range.min, range.max,
                                         value.text.substr(0, longest_word))
                           : fmt::format("'{}' must be an integer, got {}", key, value.text.substr(0, longest_word)));
        }
        wrong_kind(key, value, Kind::integer, "an integer");
        if (value.kind == Kind::integer && (value.integer < range.min || value.integer > range.max)) {
            refuse(value.byte, fmt::format("'{}' must be {}..{}, got {}", key, range.min, range.max, value.integer));
        }
        return value.integer;
    }

    std::string text_in(std::string_view key, const JsonValue& value) const {
        wrong_kind(key, value, Kind::text, "a string");
        return value.text;
    }

    const AuditLog& log_;
    const JsonValue& object_;
    std::vector<std::string_view> known_;
    std::string_view missing_;
};

AuditLog::AuditLog(std::string file, std::istream& stream)
    : file_(std::move(file)), reader_(file_, stream, longest_line) {
    if (!read_line()) {
        throw InputError(file_, {}, "is empty");
    }
    read_header();
}

bool AuditLog::read_line() {
    const LineReader::Line* line = reader_.next();
    if (line == nullptr) {
        return false;
    }
    line_ = line->number;
    text_ = line->text;
    try {
        json_ = parse_json_line(text_);
    } catch (const JsonError& error) {
        if (error.is_cut_off && line->ends_with_file) {
            refuse(error.byte, "the file ends in the middle of an event");
        }
        refuse(error.byte, error.what());
    }
    return true;
}

void AuditLog::refuse(std::size_t byte, const std::string& sentence) const {
    const Place within = place_behind(std::string_view(text_).substr(0, byte));
    throw InputError(file_, {line_, within.column}, sentence);
}

void AuditLog::refuse(const invariants::Refusal& refusal) const {
    const JsonValue* member = json_.find(refusal.field);
    if (member == nullptr) {
        member = json_.find("block");  // it stands for the slots
    }
    if (member == nullptr) {
        refuse(0, refusal.sentence);
    }
    const bool is_entry = refusal.index && *refusal.index < member->bytes.size();
    refuse(is_entry ? member->bytes[*refusal.index] : member->byte, refusal.sentence);
}

void AuditLog::read_header() {
    Fields fields(*this, json_);
    if (json_.find("kvpane_audit") == nullptr) {
        refuse(0, "the first line must be a header, as {\"kvpane_audit\": 1, \"block_size\": 16}");
    }
    fields.integer("kvpane_audit", {format_version, format_version});
    header_.block_size = fields.integer("block_size", {1, log::largest_block_size});
    header_.blocks = fields.integer_or("blocks", log::most_blocks, {1, log::most_blocks});
    header_.null_block = fields.integer_or("null_block", -1, {-1, header_.blocks - 1});
    if (const JsonValue* groups = fields.find("groups")) {
        fields.wrong_kind("groups", *groups, Kind::objects, "an array of objects");
        if (groups->objects.size() > most_groups) {
            refuse(groups->byte, fmt::format("there are at most {} groups", most_groups));
        }
        header_.groups.clear();
        for (const JsonValue& object : groups->objects) {
            Fields parts(*this, object);
            log::Group group{.name = parts.label("name"),
                             .window = parts.integer_or("window", 0, {0, any_length}),
                             .sinks = parts.integer_or("sinks", 0, {0, any_length}),
                             .pool = static_cast<std::uint32_t>(parts.integer_or("pool", 0, {0, most_groups}))};
            parts.done();
            if (std::ranges::find(header_.groups, group.name, &log::Group::name) != header_.groups.end()) {
                refuse(object.find("name")->byte, fmt::format("two groups are called {}", in_quotes(group.name)));
            }
            has_pools_ = has_pools_ || (!header_.groups.empty() && group.pool != header_.groups[0].pool);
            header_.groups.push_back(std::move(group));
        }
    }
    fields.done();
}

std::optional<log::Event> AuditLog::next() {
    if (!read_line()) {
        return std::nullopt;
    }
    Fields fields(*this, json_);
    const JsonValue* event = json_.find("event");
    if (event == nullptr) {
        std::vector<std::string_view> keys = {"event"};
        for (const JsonValue& member : json_.members) {
            if (const std::string meant = suggestion(member.key, keys); !meant.empty()) {
                refuse(member.key_byte, fmt::format("unknown key {}{}", in_quotes(member.key), meant));
            }
        }
        refuse(0, "'event' is missing");
    }
    log::Event read = read_event(fields.text("event"), fields);
    fields.done();
    return read;
}

log::Event AuditLog::read_event(const std::string& name, Fields& fields) const {
    const bool one_group = header_.groups.size() == 1;
    if (name == "start") {
        return log::Start{fields.label("sequence"), fields.tokens(), fields.integer_or("cached", 0, {0, any_length}),
                          fields.scope()};
    }
    if (name == "append") {
        return log::Append{fields.label("sequence"), fields.tokens()};
    }
    if (name == "fork") {
        log::Fork fork{fields.label("parent"), fields.label("child"), std::nullopt};
        const std::int64_t at = fields.integer_or("at", -1, {0, any_length});
        fork.at = at < 0 ? std::nullopt : std::optional<Length>(at);
        return fork;
    }
    if (name == "truncate") {
        return log::Truncate{fields.label("sequence"), fields.integer("length", {0, any_length})};
    }
    if (name == "end") {
        return log::End{fields.label("sequence")};
    }
    if (name == "write") {
        log::Write write{fields.label("sequence"), fields.group(one_group), fields.integer("position", {0, any_length}),
                         fields.tokens()};
        read_write(write, fields);
        return write;
    }
    const Range blocks{0, header_.blocks - 1};
    if (name == "copy") {
        return log::Copy{fields.group(!has_pools_), fields.integer("from", blocks), fields.integer("to", blocks),
                         fields.integer_or("cells", header_.block_size, {0, header_.block_size})};
    }
    if (name == "alloc") {
        return log::Alloc{fields.group(!has_pools_), fields.integers("blocks")};
    }
    if (name == "free") {
        return log::Free{fields.group(!has_pools_), fields.integers("blocks")};
    }
    if (name == "table") {
        log::Table table{fields.label("sequence"), fields.group(one_group),
                         fields.integer_or("first", 0, {0, any_length}), fields.integers("blocks"),
                         fields.integer("length", {0, any_length})};
        const std::int64_t query = fields.integer_or("query", -1, {0, any_length});
        table.query = query < 0 ? std::nullopt : std::optional<Length>(query);
        table.reserved = fields.integer_or("reserved", 0, {0, any_length});
        return table;
    }
    refuse(json_.find("event")->byte,
           fmt::format("unknown event {}{}", in_quotes(name), suggestion(name, {events.begin(), events.end()})));
}

// Either a slot for each token, or a block and the offset of the first one.
void AuditLog::read_write(log::Write& event, Fields& fields) const {
    const JsonValue* block = fields.find("block");
    if (block == nullptr) {
        event.slots = fields.integers("slots");
        return;
    }
    if (fields.find("slots") != nullptr) {
        refuse(block->byte, "'block' and 'slots' say the same: give one of them");
    }
    const std::int64_t id = fields.integer("block", {0, header_.blocks - 1});
    const std::int64_t offset = fields.integer("offset", {0, header_.block_size - 1});
    const auto cells = static_cast<std::int64_t>(event.tokens.size());
    if (cells > header_.block_size - offset) {
        refuse(json_.find("tokens")->byte,
               fmt::format("'tokens' must hold at most {} tokens: the block ends there, got {}",
                           header_.block_size - offset, cells));
    }
    for (std::int64_t i = 0; i < cells; ++i) {
        event.slots.push_back(id * header_.block_size + offset + i);
    }
}

}  // namespace kvpane::cli

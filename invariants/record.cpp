// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/record.h>

#include <algorithm>
#include <functional>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

// The finaliser of splitmix64: every bit of the input counts.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

std::uint64_t content_at(std::span<const ExternalContent> extra, Length position) {
    for (const ExternalContent& content : extra) {
        if (content.at <= position && position < content.at + content.count) {
            return content_code(content.id, position - content.at);
        }
    }
    return 0;
}

}  // namespace

Scope owned(const kvpane::Scope& scope) {
    return {std::string(scope.model), std::string(scope.tenant), std::string(scope.adapter), std::string(scope.salt),
            scope.adapter_id};
}

std::vector<ExternalContent> owned(std::span<const kvpane::ExternalContent> extra) {
    std::vector<ExternalContent> out;
    for (const kvpane::ExternalContent& piece : extra) {
        out.push_back({piece.at, piece.count, std::string(piece.id)});
    }
    return out;
}

// Mixed twice: a scope must not stand for a token, nor the other way round.
std::uint64_t first_chain(std::uint32_t scope) { return mixed(mixed(scope)); }

std::uint64_t next_chain(std::uint64_t before, Length position, Token token, std::uint64_t content) {
    const std::uint64_t here = (static_cast<std::uint64_t>(position) << 32U) | static_cast<std::uint32_t>(token);
    return mixed(mixed(before + here) + content);  // in order: scope 1, token 2 is not scope 2, token 1
}

std::uint64_t content_code(std::string_view id, Length offset) {
    return std::hash<std::string_view>{}(id) + static_cast<std::uint64_t>(offset) + 1;
}

std::vector<std::uint64_t> chains_of(std::uint32_t scope, std::span<const Token> tokens,
                                     std::span<const ExternalContent> extra) {
    std::vector<std::uint64_t> chains;
    std::uint64_t chain = first_chain(scope);
    for (const Token token : tokens) {
        const auto position = static_cast<Length>(chains.size());
        chain = next_chain(chain, position, token, content_at(extra, position));
        chains.push_back(chain);
    }
    return chains;
}

void start(Record& record, Name name, SequenceHandle handle, std::uint32_t scope, std::span<const spec::Rule> rules) {
    record.alive = true;
    record.name = name;
    record.handle = handle;
    record.scope = scope;
    record.extra.clear();
    record.history.clear();
    record.groups.resize(rules.size());
    for (std::size_t group = 0; group < rules.size(); ++group) {
        record.groups[group].holding = {rules[group]};
        record.groups[group].reserved.clear();
    }
    record.just_committed = false;
    record.length_at_reserve = 0;
    record.own_from = 0;
}

void start_fork(Record& child, const Record& parent, Name name, SequenceHandle handle, Length length) {
    child = parent;
    child.name = name;
    child.handle = handle;
    child.just_committed = parent.just_committed && length == parent.length();
    child.own_from = length;
    cut(child, length);
}

void add_token(Record& record, Token token) {
    const Length position = record.length();
    const std::uint64_t before = position == 0 ? first_chain(record.scope) : record.history.back().chain;
    record.history.push_back({next_chain(before, position, token, content_at(record.extra, position)), token});
}

void cut(Record& record, Length length) {
    record.history.resize(static_cast<std::size_t>(length));
    record.length_at_reserve = std::min(record.length_at_reserve, length);
    record.own_from = std::min(record.own_from, length);
    for (Record::Group& group : record.groups) {
        group.reserved.clear();
        group.holding.cut(length);
    }
}

ShadowCell cell_of(const Record& record, std::uint32_t group, Length position) {
    const HistoryCell& cell = record.history[static_cast<std::size_t>(position)];
    return {position, cell.chain, cell.token, record.scope, group, record.name};
}

ShadowCell due_cell(const Record& record, std::uint32_t group, Length position) {
    ShadowCell cell = cell_of(record, group, position);
    cell.writer = nobody;
    return cell;
}

std::string describe(const ShadowCell& cell) {
    if (cell.is_poison()) {
        return "poison";
    }
    return text("position ", cell.position, " token ", cell.token, " scope ", cell.scope, " group ", cell.group,
                " chain ", std::hex, cell.chain, std::dec,
                cell.writer == nobody ? std::string{} : text(" written by #", cell.writer));
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/table_audit.h>

#include <algorithm>
#include <utility>

#include <kvpane/invariants/spec.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace log = engine_log;

TableAudit::TableAudit(log::Header header, std::int64_t tokens_kept)
    : header_(std::move(header)), memory_(header_.block_size), texts_(tokens_kept) {}

std::optional<AuditFinding> TableAudit::follow(const log::Event& event, std::int64_t line) {
    line_ = line;
    Found found = std::visit([this](const auto& what) { return on(what); }, event);
    ++counts_.events;
    return found;
}

// --- what the texts are ----------------------------------------------------------------------------------------------

TableAudit::Found TableAudit::on(const log::Start& event) {
    give_tables(texts_.start(event.sequence, line_, event.tokens, event.cached, event.scope));
    return {};
}

TableAudit::Found TableAudit::on(const log::Append& event) {
    texts_.append(texts_.name_of(event.sequence), event.tokens);
    return {};
}

TableAudit::Found TableAudit::on(const log::Fork& event) {
    const Name parent = texts_.name_of(event.parent);
    give_tables(texts_.fork(parent, event.child, line_, event.at.value_or(texts_[parent].length())));
    return {};
}

TableAudit::Found TableAudit::on(const log::Truncate& event) {
    const Name name = texts_.name_of(event.sequence);
    texts_.truncate(name, event.length);
    for (Exported& table : tables_[name]) {
        table.length = std::min(table.length, event.length);
    }
    return {};
}

TableAudit::Found TableAudit::on(const log::End& event) {
    const Name name = texts_.name_of(event.sequence);
    for (std::uint32_t group = 0; group < tables_[name].size(); ++group) {
        let_go(name, group, {});
    }
    tables_[name].clear();
    texts_.end(name);
    return {};
}

// --- what happens to memory ------------------------------------------------------------------------------------------

TableAudit::Found TableAudit::on(const log::Write& event) {
    const Name name = texts_.name_of(event.sequence);
    texts_.write(name, event.position, event.tokens, written_);
    for (std::size_t i = 0; i < written_.size(); ++i) {
        const log::Block id = event.slots[i] < 0 ? header_.null_block : event.slots[i] / header_.block_size;
        if (id == header_.null_block) {
            continue;
        }
        const Length offset = event.slots[i] % header_.block_size;
        const Length position = event.position + static_cast<Length>(i);
        const BlockKey key = key_of(event.group, id);
        const AuditCell cell{.chain = written_[i].chain,
                             .line = line_,
                             .position = static_cast<std::int32_t>(position),
                             .token = written_[i].token,
                             .scope = texts_[name].scope,
                             .group = event.group,
                             .writer = name};
        AuditedBlock& block = memory_.at(key);
        block.touch({BlockTouch::Kind::written, line_, name, event.group, 0, position, offset, 1});
        if (Found found = find_harm(key, offset, cell, name)) {
            return found;
        }
        memory_.write(block, offset, cell);
    }
    return {};
}

TableAudit::Found TableAudit::on(const log::Copy& event) {
    const BlockKey from = key_of(event.group, event.from);
    const BlockKey to = key_of(event.group, event.to);
    memory_.at(from).touch({BlockTouch::Kind::copied_away, line_, 0, event.group, to.block, 0, 0, event.cells});
    AuditedBlock& block = memory_.at(to);
    block.touch({BlockTouch::Kind::copied_here, line_, 0, event.group, from.block, 0, 0, event.cells});
    for (Length offset = 0; offset < event.cells; ++offset) {
        const AuditCell cell = memory_.cell(from, offset);
        if (Found found = find_harm(to, offset, cell, std::nullopt)) {
            return found;
        }
        memory_.write(block, offset, cell);
    }
    return {};
}

TableAudit::Found TableAudit::on(const log::Alloc& event) {
    for (const log::Block id : event.blocks) {
        const BlockKey key = key_of(event.group, id);
        AuditedBlock& block = memory_.at(key);
        block.touch({BlockTouch::Kind::allocated, line_, 0, event.group, 0, 0, 0, 0});
        if (Found found = find_reuse(key)) {
            return found;
        }
        block.freed = 0;
        block.has_allocations = true;
        AuditMemory::give_up(block);
    }
    return {};
}

// That somebody still needs it is no finding yet: engines differ in what they log first, the release or its reason.
TableAudit::Found TableAudit::on(const log::Free& event) {
    for (const log::Block id : event.blocks) {
        const BlockKey key = key_of(event.group, id);
        AuditedBlock& block = memory_.at(key);
        block.touch({BlockTouch::Kind::freed, line_, 0, event.group, 0, 0, 0, 0});
        if (block.freed != 0 && block.has_allocations) {
            return finding(Invariant::P3, key,
                           text("block ", id, " is freed, and was freed at line ", block.freed,
                                " already: the next two allocations get the same block"));
        }
        block.freed = line_;
        AuditMemory::give_up(block);
    }
    return {};
}

bool TableAudit::needs(const Holder& holder, Length offset) const {
    const AuditText& history = texts_[holder.sequence];
    const Exported& table = tables_[holder.sequence][holder.group];
    const log::Group& group = header_.groups[holder.group];
    const Length position = holder.logical * header_.block_size + offset;
    const Length query = std::max(table.length, history.length());
    return position < std::min(table.length, history.length()) &&
           spec::query_sees(query, position, group.window, group.sinks);
}

TableAudit::Found TableAudit::find_harm(BlockKey key, Length offset, const AuditCell& cell,
                                        std::optional<Name> writer) const {
    for (const Holder& holder : memory_.find(key)->holders) {
        if (holder.sequence == writer || !needs(holder, offset)) {
            continue;
        }
        const Length position = holder.logical * header_.block_size + offset;
        const AuditCell expected = texts_.expected(holder.sequence, holder.group, position);
        if (!cell.same_as(expected)) {
            AuditFinding found = finding(
                Invariant::T5, holder, key, position,
                text("block ", key.block, ", offset ", offset, " is overwritten, and the table of ",
                     texts_[holder.sequence].label, in_group(holder.group), " has its position ", position, " there"));
            found.expected = told(expected);
            found.found = told(cell, expected);
            return found;
        }
    }
    return {};
}

TableAudit::Found TableAudit::find_reuse(BlockKey key) const {
    for (const Holder& holder : memory_.find(key)->holders) {
        for (Length offset = 0; offset < header_.block_size; ++offset) {
            if (needs(holder, offset)) {
                const Length position = holder.logical * header_.block_size + offset;
                return finding(
                    Invariant::P1, holder, key, position,
                    text("block ", key.block, " is allocated, and the table of ", texts_[holder.sequence].label,
                         in_group(holder.group), " still has position ", position, " there"));
            }
        }
    }
    return {};
}

// --- what attention will read ----------------------------------------------------------------------------------------

TableAudit::Found TableAudit::on(const log::Table& event) {
    const Name name = texts_.name_of(event.sequence);
    tables_[name].resize(header_.groups.size());
    hold(event, name);
    Found found = read_back(event, name);
    tables_[name][event.group].was_sound = !found;
    ++counts_.tables;
    return found;
}

log::Block TableAudit::block_at(const Exported& table, Length logical) const {
    const Length index = logical - table.first;
    return index < 0 || index >= static_cast<Length>(table.blocks.size())
               ? header_.null_block
               : table.blocks[static_cast<std::size_t>(index)];
}

// Both touch only what changes: a long table that grew by one block costs its comparison.

// What `next` does not have at the same place.
void TableAudit::let_go(Name name, std::uint32_t group, const Exported& next) {
    const Exported& table = tables_[name][group];
    for (std::size_t i = 0; i < table.blocks.size(); ++i) {
        const Length logical = table.first + static_cast<Length>(i);
        const bool stays = table.blocks[i] == block_at(next, logical);
        const bool was_read = table.reading.has_block(logical, header_.block_size);
        const bool is_read = stays && next.reading.has_block(logical, header_.block_size);
        if (table.blocks[i] == header_.null_block || (stays && was_read == is_read)) {
            continue;
        }
        AuditedBlock& block = memory_.at(key_of(group, table.blocks[i]));
        if (was_read && !is_read) {
            std::erase(block.holders, Holder{name, group, logical});
        }
        if (!stays) {
            block.touch({BlockTouch::Kind::left, line_, name, group, 0, logical, 0, 0});
        }
    }
}

void TableAudit::hold(const log::Table& event, Name name) {
    Exported& table = tables_[name][event.group];
    Exported next{event.first, event.blocks, event.length, reading_of(event), table.was_sound};
    let_go(name, event.group, next);
    for (std::size_t i = 0; i < next.blocks.size(); ++i) {
        const Length logical = next.first + static_cast<Length>(i);
        const bool stays = next.blocks[i] == block_at(table, logical);
        const bool was_read = stays && table.reading.has_block(logical, header_.block_size);
        const bool is_read = next.reading.has_block(logical, header_.block_size);
        if (next.blocks[i] == header_.null_block || (stays && was_read == is_read)) {
            continue;
        }
        AuditedBlock& block = memory_.at(key_of(event.group, next.blocks[i]));
        if (is_read && !was_read) {
            block.holders.push_back({name, event.group, logical});
        }
        if (!stays) {
            block.touch({BlockTouch::Kind::held, line_, name, event.group, 0, logical, 0, 0});
        }
    }
    table = std::move(next);
}

bool TableAudit::Reading::has_block(Length logical, Length size) const noexcept {
    const Length first = logical * size;
    return first < sink_end || (first < end && first + size > begin) ||
           (first < reserved_end && first + size > reserved_begin);
}

TableAudit::Reading TableAudit::reading_of(const log::Table& event) const {
    const log::Group& group = header_.groups[event.group];
    const Length query = event.query.value_or(event.length);
    Reading reading;
    reading.end = std::min(event.length, query + 1);  // a query sees nothing behind it
    reading.sink_end = std::min(group.sinks, reading.end);
    reading.begin = std::max(reading.sink_end, std::min(reading.end, spec::need(query, group.window)));
    reading.reserved_begin = event.length;
    reading.reserved_end = event.length + event.reserved;
    return reading;
}

TableAudit::Found TableAudit::read_back(const log::Table& event, Name name) {
    const Length known = texts_[name].length();
    if (event.length > known) {
        AuditFinding found = finding(
            Invariant::T3, event, known,
            text("the table of ", event.sequence, " counts ", event.length, " tokens, and its history has ", known));
        found.expected = ToldCell{.kind = ToldCell::Kind::no_token};
        return found;
    }
    const Reading& reading = tables_[name][event.group].reading;
    if (Found found = read_range(event, name, 0, reading.sink_end)) {
        return found;
    }
    if (Found found = read_range(event, name, reading.begin, reading.end)) {
        return found;
    }
    for (Length at = reading.reserved_begin; at < reading.reserved_end;
         at += header_.block_size - at % header_.block_size) {
        if (Found found = find_no_block(event, name, at)) {
            return found;
        }
    }
    return {};
}

TableAudit::Found TableAudit::read_range(const log::Table& event, Name name, Length begin, Length end) {
    for (Length at = begin; at < end;) {
        if (Found found = find_no_block(event, name, at)) {
            return found;
        }
        const Length logical = at / header_.block_size;
        const BlockKey key = key_of(event.group, block_at(tables_[name][event.group], logical));
        for (const Length block_end = std::min(end, (logical + 1) * header_.block_size); at < block_end; ++at) {
            ++counts_.cells;
            if (Found found = find_wrong_cell(event, name, at, memory_.cell(key, at % header_.block_size))) {
                return found;
            }
        }
    }
    return {};
}

TableAudit::Found TableAudit::find_no_block(const log::Table& event, Name name, Length position) const {
    const Exported& table = tables_[name][event.group];
    const Length logical = position / header_.block_size;
    const log::Block id = block_at(table, logical);
    if (id == header_.null_block) {
        const bool is_behind = logical >= table.first + static_cast<Length>(table.blocks.size());
        const bool is_reserved = position >= event.length;
        AuditFinding found = finding(
            is_behind || is_reserved ? Invariant::T1 : Invariant::T2, event, position,
            text(reader(event), is_reserved ? " will be written at position " : " sees position ", position,
                 ", and the table has ", is_behind ? "only " : "a hole at logical block ",
                 is_behind ? text(table.blocks.size(), " blocks from logical block ", table.first) : text(logical)));
        if (!is_reserved) {
            found.expected = told(texts_.expected(name, event.group, position));
        }
        found.found = ToldCell{.kind = ToldCell::Kind::no_block};
        return found;
    }
    for (const Holder& other : memory_.find(key_of(event.group, id))->holders) {
        if (other.sequence == name && other.group == event.group && other.logical != logical) {
            return finding(Invariant::T1, event, position,
                           text("the table of ", event.sequence, " has block ", id, " as logical block ",
                                std::min(logical, other.logical), " and as ", std::max(logical, other.logical)));
        }
    }
    return {};
}

TableAudit::Found TableAudit::find_wrong_cell(const log::Table& event, Name name, Length position,
                                              const AuditCell& cell) const {
    const AuditCell expected = texts_.expected(name, event.group, position);
    if (cell.is_there() && cell.same_as(expected)) {
        return {};
    }
    const AuditText& history = texts_[name];
    const bool is_hit = position < history.cached && !tables_[name][event.group].was_sound && cell.line < history.since;
    const Invariant invariant = is_hit                               ? Invariant::X2
                                : cell.is_given_up                   ? Invariant::T2
                                : cell.line == 0                     ? Invariant::T3
                                : cell.position != expected.position ? Invariant::T4
                                                                     : Invariant::T3;
    AuditFinding found =
        finding(invariant, event, position,
                text(reader(event), " sees position ", position,
                     is_hit ? text(", one of the ", history.cached, " cached tokens that it began with,") : "",
                     " in block ", block_at(tables_[name][event.group], position / header_.block_size), ", offset ",
                     position % header_.block_size));
    found.expected = told(expected);
    found.found = told(cell, expected);
    return found;
}

}  // namespace kvpane::invariants

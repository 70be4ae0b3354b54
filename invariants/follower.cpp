// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/follower.h>

#include <algorithm>
#include <utility>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

std::vector<spec::Rule> rules_of(const Config& config) {
    std::vector<spec::Rule> rules;
    for (const GroupConfig& group : config.groups) {
        rules.push_back({group.window, group.sinks, config.rewind_slack, Length{config.block_size}});
    }
    return rules;
}

using Touched = BlockHistory::Kind;

constexpr Length most_room = 1U << 16U;  // [tokens] that are made room for when a sequence is born: 1 MiB

}  // namespace

Follower::Follower(const Config& config)
    : rules_(rules_of(config)), release_(config.window_release), shadow_(config.blocks, config.block_size),
      history_(config.blocks), expected_length_(static_cast<std::size_t>(std::min(config.expected_length, most_room))) {
}

// In order and before anything is written. An engine may run them side by side, so none may read what another writes.
Found Follower::copied(std::span<const BlockCopy> copies) {
    for (const BlockCopy& copy : copies) {
        if (!shadow_.covers(copy.source) || !shadow_.covers(copy.destination) || copy.cells > shadow_.block_size()) {
            return Finding{Invariant::T3,
                           text("a copy of ", copy.cells, " cells from block ", to_index(copy.source), " to block ",
                                to_index(copy.destination), " leaves the pool"),
                           {.block = copy.destination}};
        }
        for (const BlockCopy& other : copies) {
            if (copy.destination == other.source || (copy.destination == other.destination && &copy != &other)) {
                return Finding{
                    Invariant::T3,
                    text("block ", to_index(copy.destination), " is written by one copy of a step and used by another"),
                    {.block = copy.destination}};
            }
        }
        shadow_.copy(copy.source, copy.destination, copy.cells);
        const std::uint32_t group = to_index(copy.group);
        history_.note(Touched::copied_away, copy.source, 0, group, to_index(copy.destination), copy.cells);
        history_.note(Touched::copied_here, copy.destination, 0, group, to_index(copy.source), copy.cells);
    }
    return std::nullopt;
}

Found Follower::admitted(Name name, SequenceHandle handle, const Scope& scope, std::span<const Token> tokens,
                         std::vector<ExternalContent> extra, Length cut, const Step& step) {
    Record& record = new_record(name);
    start(record, name, handle, number_of(scope), rules_);
    record.history.reserve(expected_length_);
    record.extra = std::move(extra);
    adopt(record, tokens, cut);
    record.own_from = cut;
    if (step.cells == 0) {
        return std::nullopt;
    }
    if (auto finding = handed_out(name, step, 0, step.cells)) {
        return finding;
    }
    committed(name, tokens.subspan(static_cast<std::size_t>(cut), static_cast<std::size_t>(step.cells)));
    return std::nullopt;
}

// A hit: the tokens before the cut are history, and of their blocks those are held that the next query sees; at least
// the one of the last token.
void Follower::adopt(Record& record, std::span<const Token> tokens, Length cut) {
    for (const Token token : tokens.first(static_cast<std::size_t>(cut))) {
        add_token(record, token);
    }
    for (Record::Group& group : record.groups) {
        spec::Holding& holding = group.holding;
        const Length first = std::max<Length>(0, std::min(spec::need(cut, holding.rule.window), cut - 1));
        holding.low = first - first % holding.rule.block_size;
        holding.end = cut;
    }
}

Found Follower::handed_out(Name name, const Step& step, Length first, Length cells) {
    Record& record = records_[name];
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        Record::Group& in = record.groups[group];
        if (static_cast<std::size_t>(first + cells) > step.slots_of(GroupId{group}).size()) {
            return Finding{Invariant::T5,
                           text(label(name), ": fewer slots than cells were handed out"),
                           {.sequence = name, .group = group}};
        }
        const std::span<const Slot> slots =
            step.slots_of(GroupId{group}).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cells));
        for (const Slot slot : slots) {
            if (!shadow_.covers(slot)) {
                return Finding{Invariant::T5,
                               text(label(name), ": slot ", slot, " lies outside the pool"),
                               {.sequence = name, .group = group}};
            }
        }
        shadow_.poison_slots(slots);
        in.reserved.insert(in.reserved.end(), slots.begin(), slots.end());
        in.holding.release_before(record.length());
        in.holding.end += cells;
    }
    record.just_committed = false;
    record.length_at_reserve = record.length();
    return std::nullopt;
}

void Follower::committed(Name name, std::span<const Token> tokens) {
    if (tokens.empty()) {
        return;
    }
    Record& record = records_[name];
    const Length before = record.length();
    for (const Token token : tokens) {
        add_token(record, token);
    }
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        Record::Group& in = record.groups[group];
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            shadow_.write(in.reserved[i], cell_of(record, group, before + static_cast<Length>(i)));
        }
        note_written(name, group, std::span(in.reserved).first(tokens.size()));
        in.reserved.erase(in.reserved.begin(), in.reserved.begin() + static_cast<std::ptrdiff_t>(tokens.size()));
        if (release_ == WindowRelease::commit) {
            in.holding.release_before(record.length() - 1);  // what the last query saw stays
        }
    }
    record.just_committed = true;
}

// Slots of one block that follow each other are one touch.
void Follower::note_written(Name name, std::uint32_t group, std::span<const Slot> slots) noexcept {
    for (std::size_t i = 0, next = 0; i < slots.size(); i = next) {
        const Slot first = shadow_.offset_of(slots[i]);
        for (next = i + 1;
             next < slots.size() && slots[next] == slots[next - 1] + 1 && shadow_.offset_of(slots[next]) != 0;) {
            ++next;
        }
        history_.note(Touched::written, shadow_.block_of(slots[i]), name, group, static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>(first + static_cast<Slot>(next - i) - 1));
    }
}

void Follower::forked(Name parent, Name child, SequenceHandle handle, std::optional<Length> at) {
    Record& record = new_record(child);
    start_fork(record, records_[parent], child, handle, at.value_or(records_[parent].length()));
}

// Cells that are cut off are poison at once where nobody else holds them; whole blocks follow when they are idle.
void Follower::shortened(Name name, Length length, const Manager& manager) {
    Record& record = records_[name];
    cut(record, length);
    record.just_committed = false;
    const Length block_size = shadow_.block_size();
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        const BlockId tail =
            manager.table(record.handle, GroupId{group}).value()[static_cast<std::size_t>(length / block_size)];
        // What is indexed stays whole, for whoever hits it.
        if (!shadow_.covers(tail) || manager.pool().refs(tail) != 1 || manager.pool().content(tail) != no_content) {
            continue;
        }
        history_.note(Touched::cut, tail, name, group, static_cast<std::uint32_t>(length % block_size));
        for (Length offset = length % block_size; offset < block_size; ++offset) {
            const Slot slot = Slot{to_index(tail)} * block_size + offset;
            shadow_.poison_slots({&slot, 1});
        }
    }
}

void Follower::released(Name name) {
    std::erase(living_, &records_[name]);
    records_[name].alive = false;
}

void Follower::withdrawn(Name name, std::span<const Length> entries, const Manager& manager) {
    for (std::uint32_t group = 0; group < rules_.size(); ++group) {
        const TableView table = manager.table(records_[name].handle, GroupId{group}).value();
        for (const Length entry : entries) {
            history_.note(Touched::withdrawn, table[static_cast<std::size_t>(entry)], name, group,
                          static_cast<std::uint32_t>(entry));
        }
    }
}

Record& Follower::new_record(Name name) {
    if (name >= records_.size()) {
        records_.resize(std::size_t{name} + 1);  // a deque: living_ still points to the others
    }
    living_.push_back(&records_[name]);
    return records_[name];
}

std::uint32_t Follower::number_of(const Scope& scope) {
    return scopes_.try_emplace(scope, static_cast<std::uint32_t>(scopes_.size())).first->second;
}

void Follower::poison_idle_blocks(const BlockPool& pool) {
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        poison_if_idle(BlockId{i}, pool);
    }
}

void Follower::poison_if_idle(BlockId block, const BlockPool& pool) {
    if (pool.refs(block) == 0 && pool.content(block) == no_content) {
        shadow_.poison_block(block);
    }
}

}  // namespace kvpane::invariants

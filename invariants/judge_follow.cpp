// SPDX-License-Identifier: Apache-2.0
// The engine's part, played on the shadow cells, and the histories.
#include <algorithm>

#include <kvpane/invariants/judge.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

Found Judge::follow(const Operation& operation, const Outcome& outcome, const Driver& driver) {
    if (auto finding = run_copies(outcome.step.copies)) {
        return finding;
    }
    const Name name = operation.sequence;
    const Step& step = outcome.step;
    switch (operation.verb) {
        case Verb::admit: {
            Record& record = new_record(name);
            start(record, name, driver.handle(name), number_of(operation.scope), rules_);
            record.extra = operation.extra;
            adopt(record, operation.tokens, outcome.cached_tokens);
            if (step.cells == 0) {
                return std::nullopt;
            }
            if (auto finding = hand_out(record, step, 0, step.cells)) {
                return finding;
            }
            commit(record,
                   std::span(operation.tokens)
                       .subspan(static_cast<std::size_t>(outcome.cached_tokens), static_cast<std::size_t>(step.cells)));
            return std::nullopt;
        }
        case Verb::reserve: return hand_out(records_[name], step, 0, operation.count);
        case Verb::commit: commit(records_[name], operation.tokens); return std::nullopt;
        case Verb::cancel:
            if (records_[name].reserved() > 0) {
                shorten(records_[name], records_[name].length(), driver.manager());
            }
            return std::nullopt;
        case Verb::append:
            if (auto finding = hand_out(records_[name], step, 0, static_cast<Length>(operation.tokens.size()))) {
                return finding;
            }
            commit(records_[name], operation.tokens);
            return std::nullopt;
        case Verb::append_batch:
            for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
                if (auto finding = hand_out(records_[operation.sequences[i]], step, static_cast<Length>(i), 1)) {
                    return finding;
                }
            }
            for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
                commit(records_[operation.sequences[i]], {&operation.tokens[i], 1});
            }
            return std::nullopt;
        case Verb::fork: {
            Record& child = new_record(operation.child);
            const Record& parent = records_[name];
            start_fork(child, parent, operation.child, driver.handle(operation.child),
                       operation.at.value_or(parent.length()));
            return std::nullopt;
        }
        case Verb::truncate: shorten(records_[name], operation.length, driver.manager()); return std::nullopt;
        case Verb::release:
            std::erase(living_, &records_[name]);
            records_[name].alive = false;
            return std::nullopt;
        case Verb::step_begin: open_steps_.insert(operation.step); return std::nullopt;
        case Verb::step_end: open_steps_.erase(operation.step); return std::nullopt;
        default: return std::nullopt;
    }
}

// In order and before anything is written. An engine may run them side by side, so none may read what another writes.
Found Judge::run_copies(std::span<const BlockCopy> copies) {
    for (const BlockCopy& copy : copies) {
        if (!shadow_.covers(copy.source) || !shadow_.covers(copy.destination) || copy.cells > shadow_.block_size()) {
            return Finding{Invariant::T3, text("a copy of ", copy.cells, " cells from block ", to_index(copy.source),
                                               " to block ", to_index(copy.destination), " leaves the pool")};
        }
        for (const BlockCopy& other : copies) {
            if (copy.destination == other.source || (copy.destination == other.destination && &copy != &other)) {
                return Finding{Invariant::T3, text("block ", to_index(copy.destination),
                                                   " is written by one copy of a step and used by another")};
            }
        }
        shadow_.copy(copy.source, copy.destination, copy.cells);
    }
    return std::nullopt;
}

// Cells [first, first + cells) of the step are the record's next positions. They hold nothing until they are committed.
// A hit: the tokens before the cut are history, and of their blocks those are held that the next query sees; at least
// the one of the last token.
void Judge::adopt(Record& record, std::span<const Token> tokens, Length cut) {
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

Found Judge::hand_out(Record& record, const Step& step, Length first, Length cells) {
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        Record::Group& in = record.groups[group];
        if (static_cast<std::size_t>(first + cells) > step.slots_of(GroupId{group}).size()) {
            return Finding{Invariant::T5, text(label(record.name), ": fewer slots than cells were handed out")};
        }
        const std::span<const Slot> slots =
            step.slots_of(GroupId{group}).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cells));
        for (const Slot slot : slots) {
            if (!shadow_.covers(slot)) {
                return Finding{Invariant::T5, text(label(record.name), ": slot ", slot, " lies outside the pool")};
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

void Judge::commit(Record& record, std::span<const Token> tokens) {
    if (tokens.empty()) {
        return;
    }
    const Length before = record.length();
    for (const Token token : tokens) {
        add_token(record, token);
    }
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        Record::Group& in = record.groups[group];
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            shadow_.write(in.reserved[i], cell_of(record, group, before + static_cast<Length>(i)));
        }
        in.reserved.erase(in.reserved.begin(), in.reserved.begin() + static_cast<std::ptrdiff_t>(tokens.size()));
        if (release_ == WindowRelease::commit) {
            in.holding.release_before(record.length() - 1);  // what the last query saw stays
        }
    }
    record.just_committed = true;
}

// Cells that are cut off are poison at once where nobody else holds them; whole blocks follow when they are idle.
void Judge::shorten(Record& record, Length length, const Manager& manager) {
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
        for (Length offset = length % block_size; offset < block_size; ++offset) {
            const Slot slot = Slot{to_index(tail)} * block_size + offset;
            shadow_.poison_slots({&slot, 1});
        }
    }
}

Record& Judge::new_record(Name name) {
    if (name >= records_.size()) {
        records_.resize(std::size_t{name} + 1);  // a deque: living_ still points to the others
    }
    living_.push_back(&records_[name]);
    return records_[name];
}

std::uint32_t Judge::number_of(const Scope& scope) {
    return scopes_.try_emplace(scope, static_cast<std::uint32_t>(scopes_.size())).first->second;
}

}  // namespace kvpane::invariants

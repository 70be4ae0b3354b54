// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_audit.h>

#include <algorithm>

#include <kvpane/invariants/explorer_recount.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::explorer {

namespace {

Found found(Invariant invariant, std::string what) { return Finding{invariant, std::move(what)}; }

std::string spelled(const std::optional<Error>& error) {
    return error ? std::string(to_string(*error)) : std::string("success");
}

// A1: what the Manager's own plan said, and what is due.
Found audit_plan(const Plan& plan, const Due& due) {
    const Error lacking = plan.verdict == Verdict::later ? Error::later : Error::never;
    const bool is_due = plan.verdict == Verdict::ok ? (due.errors & (Due::bit(Error::later) | Due::bit(Error::never))) == 0
                                                    : (due.errors & Due::bit(lacking)) != 0;
    if (!is_due) {
        return found(Invariant::A1, text("the plan says ", to_string(plan.verdict), ", which is not due"));
    }
    if (due.takes && (plan.blocks_needed != due.blocks || plan.copies != due.copies)) {
        return found(Invariant::A1, text("the plan needs ", plan.blocks_needed, " blocks and ", plan.copies,
                                         " copies, due are ", due.blocks, " and ", due.copies));
    }
    return std::nullopt;
}

bool is_touched(const Move& move, std::size_t index) {
    const bool has_other = move.verb == Verb::fork || move.verb == Verb::append_batch;
    return move.sequence == index || (has_other && move.other == index);
}

bool has_committed(const Move& move, std::size_t index) {
    switch (move.verb) {
        case Verb::admit: return move.sequence == index && move.number == 0;
        case Verb::append: return move.sequence == index;
        case Verb::commit: return move.sequence == index && move.tokens > 1;
        case Verb::append_batch: return is_touched(move, index);
        default: return false;
    }
}

// P1, the fences: what is given up while steps are open waits for all of them, whatever began later.
Found audit_fences(const Setting& setting, const World& before, const World& after, const Move& move) {
    const Shadow& shadow = after.shadow();
    const auto& open = before.shadow().open;
    const auto ended = std::find(open.begin(), open.begin() + before.shadow().n_open, move.number) - open.begin();
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& was = before.seen().blocks[block];
        const Snapshot::Block& is = after.seen().blocks[block];
        std::uint8_t left = was.waits;  // what still waits for the steps that it waited for
        left = move.verb == Verb::step_end && ended < left ? static_cast<std::uint8_t>(left - 1) : left;
        const bool given_up = was.refs > 0 && is.refs == 0;
        const bool may_be_given_up_again = move.verb == Verb::admit;  // a hit that the first query does not see
        bool ok = is.waits == (is.refs > 0 ? 0 : given_up ? shadow.n_open : left);
        ok = ok || (may_be_given_up_again && is.refs == 0 && is.waits == shadow.n_open);
        if (!ok || (is.waits > 0) != (is.state == BlockState::fenced)) {
            return found(Invariant::P1, text("block ", block, " waits for ", int{is.waits}, " of ", int{shadow.n_open},
                                             " open steps, and waited for ", int{was.waits}));
        }
    }
    return std::nullopt;
}

// Names of contents and their groups, as the events tell them.
struct Stored {
    struct Entry {
        std::uint64_t serial;
        std::uint8_t group;
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::array<Entry, 4 * most_blocks> entries{};
    std::size_t size = 0;

    bool has(const Entry& entry) const {
        return std::find(entries.begin(), entries.begin() + size, entry) != entries.begin() + size;
    }
    bool add(const Entry& entry) {
        if (has(entry) || size == entries.size()) {
            return false;
        }
        entries[size++] = entry;
        return true;
    }
    bool remove(const Entry& entry) {
        const auto at = std::find(entries.begin(), entries.begin() + size, entry);
        if (at == entries.begin() + size) {
            return false;
        }
        *at = entries[--size];
        return true;
    }
};

Stored stored_in(const Setting& setting, const Snapshot& seen) {
    Stored stored;
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        if (seen.blocks[block].content != no_content) {
            stored.add({seen.blocks[block].serial, seen.blocks[block].group});
        }
    }
    return stored;
}

// X3: the events of this operation lead from what was stored to what is stored.
Found audit_events(const Setting& setting, const World& before, const World& world) {
    const CacheEvents& events = world.manager().index()->events();
    Stored stored = stored_in(setting, before.seen());
    for (std::uint64_t number = before.manager().index()->events().next(); number < events.next(); ++number) {
        const CacheEvent event = events.read(number);
        const Stored::Entry entry{event.content, static_cast<std::uint8_t>(to_index(event.group))};
        bool is_news = true;
        switch (event.kind) {
            case CacheEvent::Kind::stored: is_news = stored.add(entry); break;
            case CacheEvent::Kind::removed: is_news = stored.remove(entry); break;
            case CacheEvent::Kind::cleared: stored.size = 0; break;
        }
        if (!is_news || event.number != number) {
            return found(Invariant::X3, text("event ", number, " stores what is stored, or removes what is not there"));
        }
        // What an event tells of a content that is still there is what the index says of it.
        for (std::size_t block = 1; event.kind == CacheEvent::Kind::stored && block <= setting.blocks; ++block) {
            const Snapshot::Block& seen = world.seen().blocks[block];
            const PrefixTree& tree = world.manager().index()->tree();
            if (seen.content != no_content && seen.serial == event.content &&
                (event.parent != tree.serial(tree.parent(seen.content)) ||
                 !std::ranges::equal(event.tokens, tree.tokens(seen.content)))) {
                return found(Invariant::X3, text("event ", number, " tells other tokens or another predecessor"));
            }
        }
    }
    const Stored is = stored_in(setting, world.seen());
    bool same = is.size == stored.size;
    for (std::size_t i = 0; i < is.size && same; ++i) {
        same = stored.has(is.entries[i]);
    }
    if (!same) {
        return found(Invariant::X3, text("the events say that ", stored.size, " contents are stored, the blocks hold ",
                                         is.size, is.size == stored.size ? " others" : ""));
    }
    return std::nullopt;
}

}  // namespace

Found audit_outcome(const Setting& setting, const Move& move, const Result& result, const Due& due,
                    const std::optional<expected<Plan>>& foreseen) {
    if (due.value && !result.error && move.verb != Verb::plan && result.value != *due.value) {
        const bool is_hit = move.verb == Verb::admit || move.verb == Verb::probe;
        return found(is_hit ? Invariant::X2 : Invariant::A1,
                     is_hit ? text("the longest cached prefix has ", *due.value, " tokens, ", result.value, " were hit")
                            : text(*due.value, " blocks are due, got ", result.value));
    }
    const bool is_plan = move.verb == Verb::plan;
    const std::uint8_t errors = is_plan ? 0 : due.errors;
    const bool is_due = result.error ? (errors & Due::bit(*result.error)) != 0 : errors == 0;
    if (!is_due) {
        std::string names;
        for (std::size_t error = 0; error < invariants::errors; ++error) {
            if ((errors >> error & 1U) != 0) {
                names += text(names.empty() ? "" : " or ", to_string(static_cast<Error>(error)));
            }
        }
        return found(Invariant::A1,
                     text("expected ", names.empty() ? "success" : names, ", got ", spelled(result.error)));
    }
    if (is_plan) {
        return audit_plan(*result.plan, due);
    }
    if (foreseen && foreseen->has_value()) {
        if (Found wrong = audit_plan(**foreseen, due)) {
            return wrong;
        }
    }
    if (!due.takes || result.error) {
        return std::nullopt;
    }
    std::int64_t copied = 0;
    for (const BlockCopy& copy : result.step.copies) {
        copied += copy.cells;
    }
    const auto copies = static_cast<std::int64_t>(result.step.copies.size());
    if (result.step.blocks_taken != due.blocks || copies != due.copies || copied != due.copied_cells ||
        result.step.cells != due.cells ||
        static_cast<Length>(result.step.slots.size()) != due.cells * Length{setting.groups}) {
        return found(Invariant::A1, text("expected ", due.blocks, " blocks, ", due.copies, " copies of ",
                                         due.copied_cells, " cells and ", due.cells, " cells, took ",
                                         result.step.blocks_taken, ", ", copies, " of ", copied, " and ",
                                         result.step.cells));
    }
    return std::nullopt;
}

Found audit_state(const Setting& setting, const World& before, const World& after, const Move& move, const Due& due) {
    const Snapshot& seen = after.seen();
    const Shadow& shadow = after.shadow();
    Found wrong = recount_pool(setting, seen, shadow);
    wrong = wrong ? wrong : audit_fences(setting, before, after, move);
    wrong = wrong ? wrong : recount_tables(setting, seen, shadow);
    if (!wrong && move.verb == Verb::admit) {
        wrong = recount_adoption(setting, seen, shadow.sequences[move.sequence], move.sequence, due);
    }
    for (std::size_t index = 0; index < setting.sequences && !wrong; ++index) {
        wrong = read_back(setting, seen, shadow, index, has_committed(move, index));
        const bool is_cell = wrong && (wrong->invariant == Invariant::T3 || wrong->invariant == Invariant::T4);
        if (is_cell && !is_touched(move, index)) {
            wrong->invariant = Invariant::F1;
        }
    }
    wrong = wrong ? wrong : recount_index(setting, seen, shadow);
    wrong = wrong ? wrong : recount_entries(setting, before, after, move);
    return wrong || !setting.is_cached ? wrong : audit_events(setting, before, after);
}

Found audit_nothing_changed(const World& before, const World& after, std::uint64_t digest_before) {
    if (after.look_again() == before.seen() && after.manager().digest() == digest_before) {
        return std::nullopt;
    }
    return found(Invariant::F2, "the operation was refused, or only asked, and the state is another one");
}

}  // namespace kvpane::invariants::explorer

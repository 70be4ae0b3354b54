// SPDX-License-Identifier: Apache-2.0
// What is in the index after an operation, worked out from what was in it before.
#include <algorithm>
#include <array>

#include <kvpane/invariants/explorer_recount.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::explorer {

namespace {

using Entries = std::array<Prefix, most_blocks + 1>;  // by block; 0 = not in the index

// Takes the first `most` idle blocks out that are known by something, in the order of the queue.
void evict(const Snapshot& before, std::size_t most, Entries& due) {
    for (std::size_t i = 0; i < before.queue.size && most > 0; ++i) {
        most -= due[before.queue.blocks[i]] != 0 ? 1U : 0U;
        due[before.queue.blocks[i]] = 0;
    }
}

void uncache(const Setting& setting, const Snapshot::Sequence& sequence, std::size_t entry, Entries& due) {
    for (std::size_t group = 0; group < setting.groups; ++group) {
        due[sequence.tables[group].entries[entry]] = 0;
    }
}

// What the sequence filled itself goes, what it hit or inherited stays, and so does what is pinned.
void forget(const Setting& setting, const World& before, std::size_t index, Entries& due) {
    const Shadow::Sequence& sequence = before.shadow().sequences[index];
    for (std::size_t group = 0; group < setting.groups && sequence.length > sequence.own_from; ++group) {
        const Snapshot::Table& table = before.seen().sequences[index].tables[group];
        for (auto entry = static_cast<std::size_t>(sequence.own_from / setting.block_size); entry < table.size; ++entry) {
            const std::uint8_t block = table.entries[entry];
            due[block] = before.seen().blocks[block].pins > 0 ? due[block] : 0;
        }
    }
}

// A partly filled tail is left behind; it replaces a shorter one in the same block that nobody pinned.
void leave_tail(const Setting& setting, const World& before, std::size_t index, Entries& due) {
    const Shadow::Sequence& sequence = before.shadow().sequences[index];
    const Length begin = sequence.length - sequence.length % setting.block_size;
    for (std::size_t group = 0; group < setting.groups && begin < sequence.length; ++group) {
        const auto entry = static_cast<std::size_t>(begin / setting.block_size);
        const std::uint8_t block = before.seen().sequences[index].tables[group].entries[entry];
        const Snapshot::Block& at = before.seen().blocks[block];
        const bool is_longer = Length{at.cells} < sequence.length - begin && at.pins == 0;
        if (block != 0 && sequence.holdings[group].has(begin) && (due[block] == 0 || is_longer)) {
            due[block] = sequence.prefix;
        }
    }
}

Entries entries_of(const Setting& setting, const Snapshot& seen) {
    Entries entries{};
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        entries[block] = seen.blocks[block].content != no_content ? seen.blocks[block].prefix : 0;
    }
    return entries;
}

// What is due in the index behind an operation.
Entries entries_due(const Setting& setting, const World& before, const World& after, const Move& move) {
    Entries due = entries_of(setting, before.seen());
    switch (move.verb) {
        case Verb::evict: evict(before.seen(), move.number, due); break;
        case Verb::reset_cache: evict(before.seen(), most_blocks, due); break;
        case Verb::uncache: uncache(setting, before.seen().sequences[move.sequence], move.number, due); break;
        case Verb::release:
            if (move.number == 0) {
                forget(setting, before, move.sequence, due);
            } else if (setting.by_token) {
                leave_tail(setting, before, move.sequence, due);
            }
            break;
        default: break;
    }
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        if ((after.handed_out() >> block & 1U) != 0) {
            due[block] = 0;  // about to be written: taken, or its only holder's
        }
        due[block] = after.completed()[block] != 0 ? after.completed()[block] : due[block];
    }
    return due;
}

}  // namespace

Found recount_entries(const Setting& setting, const World& before, const World& after, const Move& move) {
    if (!setting.is_cached) {
        return std::nullopt;
    }
    const Entries due = entries_due(setting, before, after, move);
    const Entries is = entries_of(setting, after.seen());
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        if (is[block] != due[block]) {
            return Finding{Invariant::X1, text("block ", block, " is known by prefix ", is[block], ", due is ",
                                               due[block], " (0: by none)")};
        }
    }
    return std::nullopt;
}

Length count_entries_due(const Setting& setting, const World& before, const World& after, const Move& move) {
    const Entries due = entries_due(setting, before, after, move);
    return std::count_if(due.begin() + 1, due.end(), [](Prefix prefix) { return prefix != 0; });
}

}  // namespace kvpane::invariants::explorer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/driver.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// Watches in which order blocks join and leave the free queue: a state alone shows only that of the cached ones
// (find_P3). It must see every operation. COST O(blocks + table entries of one sequence) each.
//
//   Blocks are taken from the front. Without content they join in front of all others while the cache is on, and what
//   one sequence gives back stands deepest first. `evict` drops what stands first, `reset_cache` everything. What a
//   request filled or hit has its priority at least.
class QueueWatch {
public:
    // `sequence` is the one that the operation works on, if it is alive.
    void before(const Manager& manager, SequenceHandle sequence);

    // What is wrong after an operation that succeeded; `made` is the sequence that an `admit` made.
    std::optional<std::string> wrong_order(const Manager& manager, const Operation& operation, const Outcome& outcome,
                                           SequenceHandle made);

private:
    struct Queued {
        BlockId block;
        bool was_known = false;  // cached
    };
    using Wrong = std::optional<std::string>;

    // Whether the block stood in no queue before the operation and stands in one now.
    bool joined(BlockId block) const noexcept { return place_before_[to_index(block)] == 0 && place(block) != 0; }
    std::uint32_t place(BlockId block) const noexcept { return place_[to_index(block)]; }

    Wrong taken_out_of_turn(const BlockPool& pool, const Operation& operation, const Outcome& outcome,
                            std::uint32_t block_size) const;
    Wrong joined_behind(const Manager& manager, const Outcome& outcome) const;
    Wrong shallow_first(const BlockPool& pool) const;
    Wrong dropped_out_of_turn(const BlockPool& pool, Length most) const;
    Wrong lower_than_asked(const Manager& manager, const Operation& operation, SequenceHandle made) const;

    std::vector<Queued> queue_;                 // before, front first
    std::vector<std::uint32_t> place_before_;   // [blocks + 1] from 1; 0 = in no queue
    std::vector<std::uint32_t> place_;          // [blocks + 1] now
    std::vector<std::vector<BlockId>> tables_;  // [groups] of the sequence, before
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <kvpane/allocator/block_pool.h>

namespace kvpane::invariants {

// Watches references go to zero, and remembers which device steps were open then: until all of them have ended the
// block is fenced, and no other block is. It must see every operation. COST O(blocks) each.
class FenceWatch {
public:
    void before(const BlockPool& pool);

    // The operation took this block; it may have given it up again.
    void took(BlockId block) { was_held_.at(to_index(block)) = true; }

    // `open_steps` as they were during the operation; `ended` is the step that it ended, if any. One that `has_hit` may
    // have taken cached or fenced blocks back and given them up again, unseen.
    void after(const BlockPool& pool, const std::set<std::uint64_t>& open_steps, std::optional<std::uint64_t> ended,
               bool has_hit);

    // The first block that is fenced and should not be, or the other way round; nothing when all are right.
    std::optional<std::string> wrong_block(const BlockPool& pool) const;

private:
    // The open steps that a block waits for at least, and those that it waits for if a hit gave it up once more.
    struct Wait {
        std::set<std::uint64_t> at_least;
        std::set<std::uint64_t> at_most;
    };

    std::vector<bool> was_held_;               // [blocks + 1] before the operation or in it
    std::map<std::uint32_t, Wait> waits_for_;  // by block
};

}  // namespace kvpane::invariants

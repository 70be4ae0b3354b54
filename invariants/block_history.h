// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/shadow_cells.h>

namespace kvpane::invariants {

// What the last operations did to each block of a pool, for whoever has to explain what stands in it.
class BlockHistory {
public:
    enum class Kind : std::uint8_t {
        leaves,       // the sequence's table, as logical block `first`
        enters,       // it
        copied_here,  // `last` cells from block `first`
        copied_away,  // `last` cells to block `first`
        written,      // cells [first, last] by the sequence
        cut,          // cells from `first` on are given up by the sequence
        withdrawn,    // from the index, as logical block `first` of the sequence
    };

    struct Touch {
        std::int64_t since;      // the operation that did it, or did the first part of it
        std::int64_t operation;  // the one that did it last
        Name sequence;
        std::uint32_t first;
        std::uint32_t last;
        std::uint16_t group;
        Verb verb;
        Kind kind;
    };
    static_assert(sizeof(Touch) == 32);

    static constexpr std::size_t kept = 8;  // touches of a block; one more and the oldest is forgotten

    explicit BlockHistory(std::int64_t blocks)
        : touches_(touched<Touch>((static_cast<std::size_t>(blocks) + 1) * kept)),
          counts_(static_cast<std::size_t>(blocks) + 1) {}

    // What follows is done by this operation.
    void begin(std::int64_t operation, Verb verb) noexcept {
        operation_ = operation;
        verb_ = verb;
    }

    // Writes of a sequence to cells that follow each other are one touch. Blocks that the pool has not are passed over.
    // COST O(1).
    void note(Kind kind, BlockId block, Name sequence, std::uint32_t group, std::uint32_t first,
              std::uint32_t last = 0) noexcept;

    // Oldest first, those of one operation in the order of the kinds.
    std::vector<Touch> of(BlockId block) const;

private:
    std::unique_ptr<Touch[]> touches_;   // [blocks + 1, kept] a ring for each block
    std::vector<std::uint64_t> counts_;  // [blocks + 1] touches so far
    std::int64_t operation_ = 0;
    Verb verb_ = Verb::check;
};

}  // namespace kvpane::invariants

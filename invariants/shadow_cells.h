// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// The writer of a cell that ought to be there.
inline constexpr Name nobody = 0xffffffffU;

// What stands in one cell of the pool, in the place of K and V. `chain` identifies the whole past of the token: equal
// tokens at equal positions behind different pasts differ in it.
struct ShadowCell {
    Length position;
    std::uint64_t chain;
    Token token;
    std::uint32_t scope;
    std::uint32_t group;
    Name writer;  // the sequence that wrote it last, or `nobody`; only for messages

    bool is_poison() const noexcept { return position < 0; }

    // Whether both are the same cell of the same history, whoever wrote them.
    bool same_as(const ShadowCell& other) const noexcept {
        return position == other.position && chain == other.chain && token == other.token && scope == other.scope &&
               group == other.group;
    }
};

// A cell that was never written, or was given up.
inline constexpr ShadowCell poison{-1, 0, -1, 0, 0, 0};

// Memory for a judge's books. Up to 64 MiB are touched at once, so that no operation waits for the system to give it a
// page (about 1 us, which would be most of what a check costs); of larger ones only what is used becomes memory.
template <class T>
std::unique_ptr<T[]> touched(std::size_t count) {
    constexpr std::size_t most_bytes = std::size_t{64} << 20U;
    return count <= most_bytes / sizeof(T) ? std::make_unique<T[]>(count) : std::make_unique_for_overwrite<T[]>(count);
}

// One shadow cell for each slot of the pool.
class ShadowCells {
public:
    static constexpr std::int64_t most_bytes = std::int64_t{8} << 30U;

    // Throws std::invalid_argument with one sentence when the cells need more than `most_bytes`.
    ShadowCells(std::int64_t blocks, std::uint32_t block_size);

    std::uint32_t block_size() const noexcept { return block_size_; }

    // Whether the slot, or the block, is one of the pool's; the null block is not. All below require it.
    bool covers(Slot slot) const noexcept { return slot >= block_size_ && slot < blocks_ * Slot{block_size_}; }
    bool covers(BlockId block) const noexcept { return block != null_block && to_index(block) < blocks_; }

    // Without a division where the size is a power of two, as it mostly is: a token asks several times.
    BlockId block_of(Slot slot) const noexcept {
        return BlockId{static_cast<std::uint32_t>(shift_ >= 0 ? slot >> shift_ : slot / block_size_)};
    }
    Slot offset_of(Slot slot) const noexcept { return slot - Slot{to_index(block_of(slot))} * block_size_; }

    const ShadowCell& at(Slot slot) const noexcept { return at(block_of(slot), offset_of(slot)); }
    const ShadowCell& at(BlockId block, Length offset) const noexcept {
        return written_[to_index(block)] == 0 ? poison : begin_of(to_index(block))[offset];
    }
    void write(Slot slot, const ShadowCell& cell) noexcept;

    // The first `cells` cells of `from` to those of `to`.
    void copy(BlockId from, BlockId to, std::uint32_t cells) noexcept;

    void poison_block(BlockId block) noexcept { written_[to_index(block)] = 0; }  // O(1)
    void poison_slots(std::span<const Slot> slots) noexcept;

private:
    ShadowCell* begin_of(std::size_t block) const noexcept { return cells_.get() + block * block_size_; }

    std::unique_ptr<ShadowCell[]> cells_;  // [blocks + 1, block_size]; of unwritten blocks: anything
    std::vector<std::uint8_t> written_;    // [blocks + 1] 0: all cells are poison, whatever the memory says
    std::int64_t blocks_;                  // the null block included
    std::uint32_t block_size_;
    int shift_;  // log2(block_size), or -1
};

static_assert(sizeof(ShadowCell) == 32);

}  // namespace kvpane::invariants

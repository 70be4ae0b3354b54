// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

// A row of int32 block ids in the caller's memory that mirrors one block table; see Manager::bind_row.
struct BoundRow {
    std::int32_t* ids = nullptr;  // [capacity]
    std::uint32_t capacity = 0;
    std::uint32_t changed_begin = 0;  // entries [changed_begin, changed_end) were written since the last take
    std::uint32_t changed_end = 0;

    void set(std::uint32_t entry, BlockId block) noexcept;
};

// The block table of one sequence in one group: logical block -> physical block. What is held is always
//
//     [0, sinks)         the blocks of the sink cells, as far as the sequence reaches
//     [first, size)      one unbroken run that ends at the tail
//
// and everything between is a hole (null block). Windows move `first`, so dropping blocks never touches the others.
// `missing_below` is set only when the run starts inside a block whose earlier cells are gone (window 1, truncated).
//
// A table only records; who holds a reference is the Manager's business.
class BlockTable {
public:
    explicit BlockTable(std::uint32_t sink_blocks = 0) noexcept : sink_blocks_(sink_blocks) {}

    // --- questions, O(1) --------------------------------------------------------------------------------------------

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(blocks_.size()); }
    std::uint32_t first() const noexcept { return first_; }
    std::uint32_t sinks() const noexcept { return std::min(sink_blocks_, size()); }
    std::uint32_t held() const noexcept { return sinks() + (size() - first_); }
    bool run_is_empty() const noexcept { return first_ == size(); }
    bool holds(std::uint32_t entry) const noexcept { return entry < size() && (entry < sinks() || entry >= first_); }
    BlockId operator[](std::uint32_t entry) const noexcept { return holds(entry) ? blocks_[entry] : null_block; }

    std::span<const BlockId> sink_part() const noexcept { return {blocks_.data(), sinks()}; }
    std::span<const BlockId> run_part() const noexcept { return std::span(blocks_).subspan(first_); }

    // First position of the unbroken run of cells that ends at the tail; `length` when nothing is held.
    Length first_resident(const BlockShape& shape, Length length) const noexcept;

    // Whether every position in [begin, end) has its cell. REQUIRES end <= the cells that the table covers.
    bool holds_cells(const BlockShape& shape, Length begin, Length end) const noexcept;

    // The first logical block kept when everything wholly below `position` goes.
    std::uint32_t first_after(const BlockShape& shape, Length position) const noexcept {
        return std::clamp(static_cast<std::uint32_t>(shape.index(position)), first_, size());
    }

    // The first logical block that shrinking to `length` cells drops: never a block that keeps a cell.
    std::uint32_t end_after(const BlockShape& shape, Length length) const noexcept {
        const auto kept = static_cast<std::uint32_t>(shape.blocks_for(length));
        return missing_below_ != 0 && missing_below_ >= length ? std::min(kept, first_) : kept;
    }

    // --- changes, O(1) each unless noted ----------------------------------------------------------------------------

    // Makes room for `entries` in all, so that what follows cannot fail. Grows geometrically.
    void reserve(std::size_t entries) {
        if (entries > blocks_.capacity()) {
            blocks_.reserve(std::max(entries, 2 * blocks_.capacity()));
        }
    }

    // REQUIRES room for one more entry, see reserve().
    void append(BlockId block) noexcept;

    // Adds a hole behind the sinks' blocks. REQUIRES room, an empty run, and as many entries as sink blocks.
    void append_hole() noexcept;
    void replace(std::uint32_t entry, BlockId block) noexcept;

    // Fills the hole at the tail: the run starts there, its cells below `position` are missing.
    void fill_tail_hole(BlockId block, Length position) noexcept;

    // Turns [first, to) into holes. COST O(entries) when a row is bound, else O(1).
    void drop_front(std::uint32_t to) noexcept;

    // Shrinks to `length` cells, the blocks from end_after() on forgotten.
    void shrink(const BlockShape& shape, Length length) noexcept;

    // Becomes a copy of the first `length` cells of `parent`. REQUIRES room for its entries, see reserve().
    // COST O(entries), holes included.
    void assign_prefix(const BlockTable& parent, const BlockShape& shape, Length length) noexcept;

    // Forgets everything, the bound row too; keeps its memory.
    void clear() noexcept;

    BoundRow& row() noexcept { return row_; }
    const BoundRow& row() const noexcept { return row_; }

    // Writes the whole table into the bound row, zeros behind it.
    void refresh_row() noexcept;

    void add_to(Digest& digest) const noexcept;

private:
    friend struct Tamper;

    std::vector<BlockId> blocks_;  // [size]; holes keep stale ids that nothing reads
    Length missing_below_ = 0;
    BoundRow row_;
    std::uint32_t first_ = 0;  // in [sinks(), size()]
    std::uint32_t sink_blocks_;
};

inline Length BlockTable::first_resident(const BlockShape& shape, Length length) const noexcept {
    if (run_is_empty()) {
        return size() <= sink_blocks_ ? 0 : length;
    }
    if (missing_below_ > shape.begin(first_)) {
        return missing_below_;
    }
    return first_ <= sink_blocks_ ? 0 : shape.begin(first_);
}

}  // namespace kvpane

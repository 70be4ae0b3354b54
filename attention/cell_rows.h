// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/payload_error.h>
#include <kvpane/blocktable/block_shape.h>

// What operations on cells take beside a store: rows, and ranges of positions.
namespace kvpane {

// K and V of n cells as an engine has them: dense, [n, kv_heads, head_dim] each.
struct CellRows {
    const void* k = nullptr;
    const void* v = nullptr;
    DType dtype = DType::f32;
};
struct CellRowsOut {
    void* k = nullptr;
    void* v = nullptr;
    DType dtype = DType::f32;
};

// The slot of a row that nobody asked for: batches of a fixed size are padded with it.
inline constexpr Slot no_slot = -1;

// Whether a row may be given for the slot: a cell of one of the blocks 1..blocks, or none at all. The null block is
// nobody's.
constexpr bool is_slot_or_none(Slot slot, const BlockShape& shape, std::int64_t blocks) noexcept {
    return slot == no_slot || (slot >= Slot{shape.size()} && shape.index(slot) <= blocks);
}

// Positions [first, first + count) of one sequence.
struct CellRange {
    std::span<const std::int32_t> table;  // [width] block ids by logical block, as in a row of export_padded()
    Length first = 0;
    Length count = 0;
};

// What is wrong with the rows of `n` cells. ERRORS bad_shape (no memory; bytes beyond size_t), misaligned, overlapping
// (rows and store; rows that are written and each other). REQUIRES find_wrong(store) finds nothing.
payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRows& rows) noexcept;
payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRowsOut& rows) noexcept;

// The memory of the rows of `n` cells, K and V. REQUIRES sizes within size_t.
std::array<ArgumentMemory, 2> memory_of(const CellShape& shape, std::size_t n, const CellRows& rows) noexcept;

// What is wrong with a range as far as it shows without reading its table. ERRORS out_of_range (its positions),
// misaligned (the table), buffer_too_small (the table ends before the positions do). COST O(1). REQUIRES a block size.
payload_expected<void> find_wrong_extent(const CellStore& store, const CellRange& range) noexcept;

// What is wrong with a range. ERRORS also out_of_range (a block id that the store does not have), hole (a position
// without block). COST O(blocks).
payload_expected<void> find_wrong(const CellStore& store, const CellRange& range) noexcept;

// What is wrong with the memory of `places`: slots, ids or a table that say which cells of `written` are written.
// ERRORS misaligned, overlapping (the store). REQUIRES find_wrong(written) finds nothing.
template <class T>
payload_expected<void> find_wrong_places(const CellStore& written, const char* where, std::span<T> places) noexcept {
    const ArgumentMemory memory = memory_of(where, places);
    return find_misaligned({memory}).and_then([&] { return find_overlapping({memory}, ranges_of(written)); });
}

// What is wrong between the table of a gather and the rows that it writes. ERRORS overlapping.
payload_expected<void> find_wrong_gather(const CellStore& store, const CellRange& range,
                                         const CellRowsOut& out) noexcept;

// All that is asked of a store, a range and its rows, the dtype's way apart. ERRORS also as find_wrong(CellStore).
template <class Rows>
payload_expected<void> find_wrong(const CellStore& store, const CellRange& range, const Rows& rows) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    if (const auto found = find_wrong(store, range); !found) {
        return found;
    }
    return find_wrong(store, static_cast<std::size_t>(range.count), rows);
}

// Calls visit(block, cell, cells, row) for the cells of the range in each block; `row` is that of the first of them.
template <class Visit>
void for_each_block(const CellRange& range, std::uint32_t block_size, Visit visit) {
    const BlockShape shape(block_size);
    for (Length row = 0; row < range.count;) {
        const Length position = range.first + row;
        const Length cell = shape.offset(position);
        const Length cells = std::min(shape.size() - cell, range.count - row);
        visit(range.table[static_cast<std::size_t>(shape.index(position))], cell, static_cast<std::uint32_t>(cells),
              row);
        row += cells;
    }
}

inline std::byte* at(void* rows, std::int64_t offset) noexcept { return static_cast<std::byte*>(rows) + offset; }
inline const std::byte* at(const void* rows, std::int64_t offset) noexcept {
    return static_cast<const std::byte*>(rows) + offset;
}

}  // namespace kvpane

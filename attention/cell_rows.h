// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
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

// What is wrong with a range. ERRORS out_of_range (its positions; a block id that the store does not have),
// buffer_too_small (the table ends before the positions do), hole (a position without block). COST O(blocks).
payload_expected<void> find_wrong(const CellStore& store, const CellRange& range) noexcept;

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

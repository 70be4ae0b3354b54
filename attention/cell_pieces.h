// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/memory_range.h>

// Where the elements of some cells of one block lie, in pieces as long as possible: one memcpy for all cells of a block
// where they are dense, one for each head or each cell where only those are.
namespace kvpane {

// The strides of rows as callers have them, dense [n, kv_heads, head_dim].
inline CellStrides row_strides(const CellShape& shape) noexcept {
    return {.block = 0, .cell = std::int64_t{shape.kv_heads} * shape.head_dim, .head = shape.head_dim};
}

// Calls visit(offset_a, offset_b, elements) until all elements of `cells` cells have been visited, on two sides with
// strides of their own; the offsets count from the first cell's first element.
template <class Visit>
void for_each_piece(const CellShape& shape, std::uint32_t cells, const CellStrides& a, const CellStrides& b,
                    Visit visit) {
    const std::int64_t dim = shape.head_dim;
    const std::int64_t heads = shape.kv_heads;
    const bool heads_adjoin = heads == 1 || (a.head == dim && b.head == dim);
    if (heads_adjoin && a.cell == heads * dim && b.cell == heads * dim) {
        visit(std::int64_t{0}, std::int64_t{0}, static_cast<std::size_t>(cells * heads * dim));
    } else if (heads_adjoin) {
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            visit(cell * a.cell, cell * b.cell, static_cast<std::size_t>(heads * dim));
        }
    } else if (a.cell == dim && b.cell == dim) {
        for (std::int64_t head = 0; head < heads; ++head) {
            visit(head * a.head, head * b.head, static_cast<std::size_t>(cells * dim));
        }
    } else {
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            for (std::int64_t head = 0; head < heads; ++head) {
                visit(cell * a.cell + head * a.head, cell * b.cell + head * b.head, static_cast<std::size_t>(dim));
            }
        }
    }
}

// The address of a cell's first element in K or V of `store`.
inline std::byte* cell_address(const CellStore& store, void* part, std::int64_t block, std::int64_t cell) noexcept {
    return static_cast<std::byte*>(part) + store.strides.index(block, cell, 0) * bytes_of(store.shape.dtype);
}

// From the first to behind the last element of K or V of `store`, what lies between them included.
// REQUIRES find_wrong(store) finds nothing.
inline MemoryRange range_of_part(const CellStore& store, const void* part) noexcept {
    return range_of(part, static_cast<std::size_t>(reach_of(store.shape, store.strides)) * bytes_of(store.shape.dtype));
}

// Of K, and of V.
inline std::array<MemoryRange, 2> ranges_of(const CellStore& store) noexcept {
    return {range_of_part(store, store.k), range_of_part(store, store.v)};
}

}  // namespace kvpane

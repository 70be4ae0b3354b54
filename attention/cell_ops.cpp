// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_ops.h>

#include <algorithm>

#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/element_copy.h>
#include <kvpane/attention/streaming_copy.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

namespace {

// Calls move(stored, rows, elements, scale) with addresses for the elements of `cells` cells of a block, K then V, and
// their places in the rows from `row` on.
template <class Rows, class Move>
void for_each_pair(const CellStore& store, const Rows& rows, std::int64_t block, std::int64_t cell, std::uint32_t cells,
                   std::int64_t row, Move move) {
    const CellStrides dense = row_strides(store.shape);
    const std::int64_t stored_bytes = bytes_of(store.shape.dtype);
    const std::int64_t row_bytes = bytes_of(rows.dtype);
    const auto part = [&](void* stored_part, auto* rows_part, float scale) {
        std::byte* stored = cell_address(store, stored_part, block, cell);
        auto* given = at(rows_part, row * dense.cell * row_bytes);
        for_each_piece(store.shape, cells, store.strides, dense,
                       [&](std::int64_t in_store, std::int64_t in_rows, std::size_t elements) {
                           move(stored + in_store * stored_bytes, given + in_rows * row_bytes, elements, scale);
                       });
    };
    part(store.k, rows.k, store.k_scale);
    part(store.v, rows.v, store.v_scale);
}

// The same for all cells of a range and rows [range.count, ...].
template <class Rows, class Move>
void for_each_pair(const CellStore& store, const CellRange& range, const Rows& rows, Move move) {
    for_each_block(range, store.shape.block_size,
                   [&](std::int64_t block, std::int64_t cell, std::uint32_t cells, std::int64_t row) {
                       for_each_pair(store, rows, block, cell, cells, row, move);
                   });
}

// K and V of `cells` cells, dense, in the store's dtype.
std::size_t bytes_of_rows(const CellShape& shape, Length cells) noexcept {
    return 2 * static_cast<std::size_t>(cells) * static_cast<std::size_t>(row_strides(shape).cell) *
           bytes_of(shape.dtype);
}

}  // namespace

payload_expected<void> write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    const ElementCopy copy = copy_into_store(rows.dtype, store.shape.dtype);
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "rows");
    }
    if (const auto found = find_wrong_places(store, "slots", slots); !found) {
        return found;
    }
    const BlockShape shape(store.shape.block_size);
    const auto is_bad = [&](Slot slot) { return !is_slot_or_none(slot, shape, store.shape.blocks); };
    if (std::ranges::any_of(slots, is_bad)) {
        return refuse(PayloadFault::out_of_range, "slots");
    }
    if (const auto found = find_wrong(store, slots.size(), rows); !found) {
        return found;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] != no_slot) {
            for_each_pair(store, rows, shape.index(slots[i]), shape.offset(slots[i]), 1, static_cast<std::int64_t>(i),
                          [=](std::byte* stored, const std::byte* row, std::size_t elements, float scale) {
                              copy(stored, row, elements, scale);
                          });
        }
    }
    return {};
}

payload_expected<void> gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out) noexcept {
    if (const auto found = find_wrong(store, range, out); !found) {
        return found;
    }
    if (const auto found = find_wrong_gather(store, range, out); !found) {
        return found;
    }
    const ElementCopy copy = copy_out_of_store(store.shape.dtype, out.dtype);
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "rows");
    }
    if (out.dtype == store.shape.dtype && bytes_of_rows(store.shape, range.count) >= streaming_bytes) {
        const std::size_t element_bytes = bytes_of(out.dtype);
        for_each_pair(store, range, out, [=](const std::byte* stored, std::byte* row, std::size_t elements, float) {
            stream_bytes(row, stored, elements * element_bytes);
        });
        finish_streams();
        return {};
    }
    for_each_pair(store, range, out, [=](const std::byte* stored, std::byte* row, std::size_t elements, float scale) {
        copy(row, stored, elements, scale);
    });
    return {};
}

payload_expected<void> scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows) noexcept {
    if (const auto found = find_wrong(store, range, rows); !found) {
        return found;
    }
    if (const auto found = find_wrong_places(store, "table", range.table); !found) {
        return found;
    }
    const ElementCopy copy = copy_into_store(rows.dtype, store.shape.dtype);
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "rows");
    }
    for_each_pair(store, range, rows, [=](std::byte* stored, const std::byte* row, std::size_t elements, float scale) {
        copy(stored, row, elements, scale);
    });
    return {};
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/payload_error.h>

// Cells of a store in and out: of slots, and of a sequence's positions through its block table. Everything is asked
// before anything is written, and nothing allocates.
//
// Rows have the store's dtype, and then the bits go as they are, or f32, f16 or bf16, and are converted
// (element_copy.h).
//
// ERRORS of all: as find_wrong(CellStore); bad_shape (rows without memory, rows beyond what a size_t counts), misaligned
// (rows), overlapping (rows and store), unsupported_dtype (rows). With a range: out_of_range (its positions; a block id
// that the store does not have), buffer_too_small (its table ends before its positions do), hole (a position without
// block).
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

// The row that nobody asked for: batches of a fixed size are padded with it.
inline constexpr Slot no_slot = -1;

// Writes row i to slots[i], nothing for no_slot. REQUIRES slots that differ: else one of the rows wins.
// ERRORS also out_of_range (a slot behind the store, below no_slot, or of the null block). COST O(elements).
payload_expected<void> write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows) noexcept;

// Reads the range into rows [range.count, ...]. COST O(elements); one memcpy a block for dense cells of equal dtype.
payload_expected<void> gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out) noexcept;

// Writes rows [range.count, ...] to the range. COST as gather_cells.
payload_expected<void> scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows) noexcept;

// The first element that is not what was expected, in the order of position, K before V, head, element.
struct CellMismatch {
    static constexpr Length none = -1;

    Length position = none;
    bool in_v = false;
    std::uint32_t head = 0;
    std::uint32_t element = 0;
    float found = 0;
    float expected = 0;

    friend bool operator==(const CellMismatch&, const CellMismatch&) = default;
};

// Compares the range, converted as gather_cells does, with rows [range.count, ...]; a position of none where all is
// equal. Equal is: the same bits; with a tolerance also |found - expected| <= tolerance, and NaN of any kind.
// ERRORS also out_of_range (a tolerance that is negative or not finite), bad_shape (no `out`). COST O(elements).
payload_expected<void> compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                     std::optional<float> tolerance, CellMismatch* out) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>

// Cells of a store in and out: of slots, and of a sequence's positions through its block table. Everything is asked
// before anything is written, and nothing allocates.
//
// Rows have the store's dtype, and then the bits go as they are, or f32, f16 or bf16, and are converted
// (element_copy.h). ERRORS of all: as the questions of cell_rows.h, those of memory included: the slots, or the table,
// share none with what is written; unsupported_dtype (rows).
namespace kvpane {

// Writes row i to slots[i], nothing for no_slot. REQUIRES slots that differ: else one of the rows wins.
// ERRORS also out_of_range (a slot behind the store, below no_slot, or of the null block). COST O(elements).
payload_expected<void> write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows) noexcept;

// Reads the range into rows [range.count, ...]. COST O(elements); one memcpy a block for dense cells of equal dtype, past
// the caches from 8 MB on (streaming_copy.h).
payload_expected<void> gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out) noexcept;

// Writes rows [range.count, ...] to the range. COST as gather_cells.
payload_expected<void> scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows) noexcept;

}  // namespace kvpane

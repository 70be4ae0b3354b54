// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>
#include <kvpane/attention/table_ops.h>

// The operations of cell_ops.h, block_ops.h, cell_compare.h and table_ops.h on a CUDA device: the same arguments, with
// every address and every span in memory that the device reaches. They are queued on the stream (a cudaStream_t; null
// is the default one), allocate nothing, and give the same bits as the host.
//
// The host cannot read such arrays: what the contents of spans have to be is REQUIRED here where the host's function
// would find it (slots, ids, holes, positions, counts), what shows in sizes and addresses is found. Where the contents
// are something else, nothing beyond the spans and the stores is read or written all the same: what names no block of
// the store is passed over. Nothing is written to it or for it; device_compare_cells() takes it for a mismatch (found:
// NaN), device_fingerprint_blocks() for a block without cells, device_slots_of_positions() gives no_slot,
// device_tables_to_csr() cuts a length at the end of its row, and device_csr_to_tables() leaves a row 0 whose indptr or
// first_position is wrong.
//
// ERRORS of all: no_device, cuda_error; misaligned (stores and rows start at multiples of 16 bytes, or of 8 elements
// where that is less; strides are multiples of 8 elements; arrays start at multiples of their element); bad_shape,
// overlapping, unsupported_dtype and buffer_too_small as of the host's function.
namespace kvpane {

payload_expected<void> device_write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows,
                                          void* stream) noexcept;

payload_expected<void> device_gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out,
                                           void* stream) noexcept;

payload_expected<void> device_scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows,
                                            void* stream) noexcept;

// They run at once: REQUIRES copies_at_once(group, copies) == copies.size(), as it is for those of a Step.
payload_expected<void> device_copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies,
                                          void* stream) noexcept;

// One of the stores may lie in pinned host memory. They run at once: REQUIRES destinations that differ.
payload_expected<void> device_swap_blocks(const CellStore& from, const CellStore& to, std::span<const BlockPair> pairs,
                                          void* stream) noexcept;

payload_expected<void> device_fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks,
                                                 std::span<std::uint64_t> out, void* stream) noexcept;

// `scratch`: 8 bytes for the kernels, memory of its own. ERRORS also bad_shape (no scratch, no `out`).
payload_expected<void> device_compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                            std::optional<float> tolerance, std::uint64_t* scratch, CellMismatch* out,
                                            void* stream) noexcept;

// What device_tables_to_csr() needs for the running sum of n_seqs counts. ERRORS no_device, cuda_error.
payload_expected<std::size_t> csr_workspace_bytes(std::size_t n_seqs) noexcept;

// REQUIRES room for all entries in `indices`; their number is indptr[n_seqs]. The workspace may start anywhere.
// ERRORS also overlapping (the workspace and any array); workspace_too_small, behind no_device: how much is needed only a
// device knows.
payload_expected<void> device_tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths,
                                            const SeenRule& rule, const CsrArrays& out, std::span<std::byte> workspace,
                                            void* stream) noexcept;

payload_expected<void> device_csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out,
                                            void* stream) noexcept;

payload_expected<void> device_slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                                                 std::span<const Length> positions, std::span<Slot> out,
                                                 void* stream) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/attention/cuda/device_cascade.h>
#include <kvpane/attention/cuda/device_ops.h>

// The seam between what is asked of arguments and what runs on a device: kernels.cu with CUDA, no_device.cpp without.
// REQUIRES of all: the function of device_attention.h, device_cascade.h or device_ops.h has found nothing wrong.
namespace kvpane::on_device {

using Done = payload_expected<void>;

Done attention(const AttentionProblem& problem, const DeviceBounds& bounds, std::span<std::byte> workspace,
               const AttentionResult& result, void* stream) noexcept;
Done cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared, const CascadeBounds& bounds,
                       std::span<std::byte> workspace, const AttentionResult& result, void* stream) noexcept;
Done find_wrong_entry(const AttentionProblem& problem, std::uint64_t* scratch, WrongEntry* out, void* stream) noexcept;
Done merge_parts(const AttentionParts& parts, const AttentionResult& result, void* stream) noexcept;

Done write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows, void* stream) noexcept;
Done gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out, void* stream) noexcept;
Done scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows, void* stream) noexcept;
Done copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies, void* stream) noexcept;
Done swap_blocks(const CellStore& from, const CellStore& to, std::span<const BlockPair> pairs, void* stream) noexcept;
Done fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks, std::span<std::uint64_t> out,
                        void* stream) noexcept;
Done compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                   std::optional<float> tolerance, std::uint64_t* scratch, CellMismatch* out, void* stream) noexcept;

Done tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths, const SeenRule& rule,
                   const CsrArrays& out, std::span<std::byte> workspace, void* stream) noexcept;
Done csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out, void* stream) noexcept;
Done slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                        std::span<const Length> positions, std::span<Slot> out, void* stream) noexcept;

// values[i] = the sum of the first i + 1 of them, in place.
Done running_sum(std::int32_t* values, std::size_t n, std::span<std::byte> workspace, void* stream) noexcept;
payload_expected<std::size_t> running_sum_bytes(std::size_t n) noexcept;

}  // namespace kvpane::on_device

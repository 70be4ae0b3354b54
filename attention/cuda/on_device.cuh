// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/on_device.h>
#include <kvpane/attention/cuda/cascade_launch.cuh>
#include <kvpane/attention/cuda/ops_launch.cuh>

// The functions of on_device.h for whoever has said what cuda::StreamLaunch is, the `launch` of attention_launch.cuh that
// is made from a stream: kernels.cu, and the emulated device of tests/gpu.
namespace kvpane::on_device {

Done attention(const AttentionProblem& problem, const DeviceBounds& bounds, std::span<std::byte> workspace,
               const AttentionResult& result, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_attention(launch, problem, bounds, workspace, result);
}

Done cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared, const CascadeBounds& bounds,
                       std::span<std::byte> workspace, const AttentionResult& result, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_cascade(launch, problem, shared, bounds, workspace, result);
}

Done find_wrong_entry(const AttentionProblem& problem, std::uint64_t* scratch, WrongEntry* out, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_find_wrong_entry(launch, problem, scratch, out);
}

Done merge_parts(const AttentionParts& parts, const AttentionResult& result, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_merge(launch, parts, result);
}

Done write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_write_slots(launch, store, slots, rows);
}

Done gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_gather_cells(launch, store, range, out);
}

Done scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_scatter_cells(launch, store, range, rows);
}

Done copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_copy_blocks(launch, store, group, copies);
}

Done swap_blocks(const CellStore& from, const CellStore& to, std::span<const BlockPair> pairs, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_swap_blocks(launch, from, to, pairs);
}

Done fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks, std::span<std::uint64_t> out,
                        void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_fingerprint_blocks(launch, store, blocks, out);
}

Done compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                   std::optional<float> tolerance, std::uint64_t* scratch, CellMismatch* out, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_compare_cells(launch, store, range, expected, tolerance, scratch, out);
}

Done tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths, const SeenRule& rule,
                   const CsrArrays& out, std::span<std::byte> workspace, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_tables_to_csr(launch, tables, lengths, rule, out, workspace);
}

Done csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_csr_to_tables(launch, csr, width, out);
}

Done slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                        std::span<const Length> positions, std::span<Slot> out, void* stream) noexcept {
    cuda::StreamLaunch launch(stream);
    return cuda::run_slots_of_positions(launch, tables, indptr, positions, out);
}

}  // namespace kvpane::on_device

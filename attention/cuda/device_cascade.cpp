// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/device_cascade.h>

#include <array>

#include <kvpane/attention/cuda/cascade_workspace.h>
#include <kvpane/attention/cuda/device_problem.h>
#include <kvpane/attention/cuda/on_device.h>
#include <kvpane/attention/problem_memory.h>
#include <kvpane/attention/workspace_cutter.h>

namespace kvpane {

namespace {

using Found = payload_expected<void>;

Found find_wrong_bounds(const AttentionProblem& problem, const SharedPrefixes& shared,
                        const CascadeBounds& bounds) noexcept {
    const std::size_t groups = shared.lengths.size();
    return fits_a_grid(problem, groups, bounds.most_group_rows) &&
                   bounds.problem.rows <= groups * bounds.most_group_rows
               ? Found{}
               : refuse(PayloadFault::bad_shape, "bounds");
}

Found find_overlapping_groups(const AttentionProblem& problem, const SharedPrefixes& shared,
                              const CascadeBounds& bounds, std::span<std::byte> workspace,
                              const AttentionResult& result) noexcept {
    const auto outputs = outputs_of(problem, result, bounds.problem.rows);
    const std::array written = {outputs[0].range, outputs[1].range, range_of(workspace)};
    return find_overlapping({memory_of("shared", shared.indptr)}, written).and_then([&] {
        return find_overlapping({memory_of("shared", shared.lengths)}, written);
    });
}

}  // namespace

CascadeWorkspace divide_workspace(const AttentionProblem& problem, const SharedPrefixes& shared,
                                  const CascadeBounds& bounds, std::byte* base) noexcept {
    const std::size_t groups = shared.lengths.size();
    const std::size_t rows = bounds.problem.rows;
    WorkspaceCutter cutter(base);
    CascadeWorkspace workspace;
    workspace.tables = cutter.cut<std::int32_t>({groups, problem.width});
    workspace.query_indptr = cutter.cut<std::int32_t>({groups + 1});
    workspace.lengths = cutter.cut<Length>({groups});
    workspace.end = cutter.cut<Length>({groups});
    workspace.begin = cutter.cut<Length>({problem.lengths.size()});
    workspace.part_out = cutter.cut<float>({2, rows, problem.query_heads, problem.cells.shape.head_dim});
    workspace.part_lse = cutter.cut<float>({2, rows, problem.query_heads});
    workspace.attention = cutter.cut<std::byte>({device_workspace_bytes(problem, bounds.problem)});
    workspace.bytes = cutter.bytes();
    return workspace;
}

std::size_t device_cascade_workspace_bytes(const AttentionProblem& problem, const SharedPrefixes& shared,
                                           const CascadeBounds& bounds) noexcept {
    return divide_workspace(problem, shared, bounds, nullptr).bytes;
}

payload_expected<void> device_cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared,
                                                const CascadeBounds& bounds, std::span<std::byte> workspace,
                                                const AttentionResult& result, void* stream) noexcept {
    return find_wrong_on_device(problem, bounds.problem, result)
        .and_then([&] { return find_wrong_sizes(problem, shared); })
        .and_then([&] { return find_wrong_bounds(problem, shared, bounds); })
        .and_then([&] { return find_overlapping_groups(problem, shared, bounds, workspace, result); })
        .and_then([&] {
            return find_wrong_workspace(problem, bounds.problem, result,
                                        {"workspace", range_of(workspace), alignof(Length)},
                                        device_cascade_workspace_bytes(problem, shared, bounds));
        })
        .and_then([&] { return on_device::cascade_attention(problem, shared, bounds, workspace, result, stream); });
}

}  // namespace kvpane

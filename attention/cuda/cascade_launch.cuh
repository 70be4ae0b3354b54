// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/attention/cuda/attention_launch.cuh>
#include <kvpane/attention/cuda/cascade_workspace.h>
#include <kvpane/attention/cuda/kernels/cascade.cuh>

// Which kernels a cascade needs; `launch(kernel, shape, arguments)` as in attention_launch.cuh.
namespace kvpane::cuda {

template <class Launch>
payload_expected<void> launch_groups(Launch& launch, const AttentionProblem& problem, const SharedPrefixes& shared,
                                     const CascadeWorkspace& workspace) {
    const std::size_t groups = shared.lengths.size();
    const std::size_t threads = std::max({problem.lengths.size(), groups + 1, groups * problem.width});
    return launch(make_groups, LaunchShape{{blocks_for(threads, table_threads)}, table_threads},
                  GroupArgs{.problem = kernel_problem(problem),
                            .indptr = shared.indptr.data(),
                            .prefixes = shared.lengths.data(),
                            .n_groups = static_cast<std::uint32_t>(groups),
                            .tables = workspace.tables.data(),
                            .query_indptr = workspace.query_indptr.data(),
                            .lengths = workspace.lengths.data(),
                            .end = workspace.end.data(),
                            .begin = workspace.begin.data()});
}

inline KernelProblem over_prefixes(const AttentionProblem& problem, std::size_t rows,
                                   const CascadeWorkspace& workspace) {
    KernelProblem prefixes = kernel_problem(problem);
    prefixes.tables = workspace.tables.data();
    prefixes.room += static_cast<Length>(rows);  // the queries' own cells need no entries: nothing of them counts
    prefixes.lengths = workspace.lengths.data();
    prefixes.query_indptr = workspace.query_indptr.data();
    prefixes.end = workspace.end.data();
    prefixes.sink_logits = nullptr;
    prefixes.n_seqs = static_cast<std::uint32_t>(workspace.lengths.size());
    return prefixes;
}

template <class Launch>
payload_expected<void> run_cascade(Launch& launch, const AttentionProblem& problem, const SharedPrefixes& shared,
                                   const CascadeBounds& bounds, std::span<std::byte> workspace,
                                   const AttentionResult& result) {
    const std::size_t rows = bounds.problem.rows;
    if (rows == 0) {
        return {};
    }
    const CascadeWorkspace divided = divide_workspace(problem, shared, bounds, workspace.data());
    const std::size_t states = divided.part_lse.size() / 2;
    const std::size_t elements = divided.part_out.size() / 2;
    const auto part = [&](std::size_t i) {
        return AttentionResult{{&divided.part_out[i * elements], DType::f32},
                               divided.part_lse.subspan(i * states, states)};
    };
    AttentionProblem rest = problem;
    rest.rule.sink_logits = {};
    rest.begin = divided.begin;
    const AttentionParts parts{.parts = 2,
                               .rows = rows,
                               .query_heads = problem.query_heads,
                               .head_dim = problem.cells.shape.head_dim,
                               .out = divided.part_out,
                               .lse = divided.part_lse,
                               .sink_logits = problem.rule.sink_logits};
    return launch_groups(launch, problem, shared, divided)
        .and_then([&] {
            return run_prefill(launch, over_prefixes(problem, rows, divided), {rows, bounds.most_group_rows}, part(0));
        })
        .and_then([&] { return run_attention(launch, rest, bounds.problem, divided.attention, part(1)); })
        .and_then([&] { return run_merge(launch, parts, result); });
}

}  // namespace kvpane::cuda

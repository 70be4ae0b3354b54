// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/launch_shape.h>
#include <kvpane/attention/cuda/kernels/decode.cuh>
#include <kvpane/attention/cuda/kernels/find_wrong.cuh>
#include <kvpane/attention/cuda/kernels/merge.cuh>
#include <kvpane/attention/cuda/kernels/prefill.cuh>

// Which kernels solve a problem, and how large their grids are. `launch(kernel, shape, arguments)` runs one: on a
// device, or in the emulator.
namespace kvpane::cuda {

inline KernelProblem kernel_problem(const AttentionProblem& problem) {
    const AttentionRule& rule = problem.rule;
    const auto or_null = [](const auto& span) { return span.empty() ? nullptr : span.data(); };
    return {.cells = problem.cells,
            .tables = problem.tables.data(),
            .width = problem.width,
            .room = std::min(longest_sequence, room_of(problem.width, problem.cells.shape.block_size)),
            .lengths = problem.lengths.data(),
            .query_indptr = or_null(problem.query_indptr),
            .begin = or_null(problem.begin),
            .end = or_null(problem.end),
            .sink_logits = or_null(rule.sink_logits),
            .queries = problem.queries.data,
            .query_dtype = problem.queries.dtype,
            .n_seqs = static_cast<std::uint32_t>(problem.lengths.size()),
            .query_heads = problem.query_heads,
            .group = problem.query_heads / problem.cells.shape.kv_heads,
            .scale = scale_of(problem) * problem.cells.k_scale,
            .soft_cap = rule.soft_cap,
            .rule = rule.visibility()};
}

template <class Launch>
payload_expected<void> launch_merge(Launch& launch, const MergeArgs& args) {
    constexpr std::size_t states_of_block = merge_threads / warp_size;
    return launch(merge_states, LaunchShape{{blocks_for(args.states, states_of_block)}, merge_threads}, args);
}

template <class Cells, unsigned heads, class Launch>
payload_expected<void> launch_chunks(Launch& launch, DecodeArgs args, std::uint32_t chunks) {
    args.tiles = blocks_for(args.problem.group, heads);
    const CellShape& shape = args.problem.cells.shape;
    return launch(decode_chunk<Cells, heads>,
                  LaunchShape{{args.problem.n_seqs, shape.kv_heads * args.tiles, chunks},
                              decode_threads,
                              decode_shared_bytes<heads>(shape.head_dim)},
                  args);
}

// The tile of heads that wastes least: one, four or eight.
template <class Cells, class Launch>
payload_expected<void> launch_decode(Launch& launch, const DecodeArgs& args, std::uint32_t chunks) {
    return args.problem.group == 1   ? launch_chunks<Cells, 1>(launch, args, chunks)
           : args.problem.group <= 4 ? launch_chunks<Cells, 4>(launch, args, chunks)
                                     : launch_chunks<Cells, 8>(launch, args, chunks);
}

template <class Cells, class Launch>
payload_expected<void> launch_prefill(Launch& launch, const PrefillArgs& args) {
    const CellShape& shape = args.problem.cells.shape;
    return launch(
        prefill_tile<Cells>,
        LaunchShape{
            {args.problem.n_seqs * args.tiles, shape.kv_heads}, prefill_threads, prefill_shared_bytes(shape.head_dim)},
        args);
}

template <class Launch>
payload_expected<void> run_prefill(Launch& launch, const KernelProblem& problem, const DeviceBounds& bounds,
                                   const AttentionResult& result) {
    const PrefillArgs args{.problem = problem,
                           .rows = static_cast<std::uint32_t>(bounds.rows),
                           .tiles = blocks_for(bounds.most_rows * problem.group, tile_queries),
                           .out = result.out.data,
                           .out_dtype = result.out.dtype,
                           .lse = result.lse.empty() ? nullptr : result.lse.data()};
    switch (problem.cells.shape.dtype) {
        case DType::f32: return launch_prefill<F32Cells>(launch, args);
        case DType::f16: return launch_prefill<F16Cells>(launch, args);
        case DType::bf16: return launch_prefill<BF16Cells>(launch, args);
        case DType::e4m3: return launch_prefill<E4M3Cells>(launch, args);
        case DType::e5m2: return launch_prefill<E5M2Cells>(launch, args);
    }
    return {};
}

template <class Launch>
payload_expected<void> run_decode(Launch& launch, const AttentionProblem& problem, const DeviceBounds& bounds,
                                  std::span<std::byte> workspace, const AttentionResult& result) {
    const DecodeSplit split = split_decode(problem, bounds);
    const std::size_t states = problem.lengths.size() * problem.query_heads;
    const std::uint32_t head_dim = problem.cells.shape.head_dim;
    auto* const part_out = reinterpret_cast<float*>(workspace.data());
    const DecodeArgs args{.problem = kernel_problem(problem),
                          .chunk = split.chunk,
                          .part_out = part_out,
                          .part_lse = part_out + split.chunks * states * head_dim};
    const auto decoded = [&] {
        switch (problem.cells.shape.dtype) {
            case DType::f32: return launch_decode<F32Cells>(launch, args, split.chunks);
            case DType::f16: return launch_decode<F16Cells>(launch, args, split.chunks);
            case DType::bf16: return launch_decode<BF16Cells>(launch, args, split.chunks);
            case DType::e4m3: return launch_decode<E4M3Cells>(launch, args, split.chunks);
            case DType::e5m2: return launch_decode<E5M2Cells>(launch, args, split.chunks);
        }
        return payload_expected<void>{};
    }();
    return decoded.and_then([&] {
        return launch_merge(launch, MergeArgs{.part_out = args.part_out,
                                              .part_lse = args.part_lse,
                                              .parts = split.chunks,
                                              .states = states,
                                              .query_heads = problem.query_heads,
                                              .head_dim = head_dim,
                                              .sink_logits = args.problem.sink_logits,
                                              .out = result.out.data,
                                              .out_dtype = result.out.dtype,
                                              .lse = result.lse.empty() ? nullptr : result.lse.data()});
    });
}

template <class Launch>
payload_expected<void> run_attention(Launch& launch, const AttentionProblem& problem, const DeviceBounds& bounds,
                                     std::span<std::byte> workspace, const AttentionResult& result) {
    if (bounds.rows == 0) {
        return {};
    }
    return problem.query_indptr.empty() ? run_decode(launch, problem, bounds, workspace, result)
                                        : run_prefill(launch, kernel_problem(problem), bounds, result);
}

template <class Launch>
payload_expected<void> run_find_wrong_entry(Launch& launch, const AttentionProblem& problem, std::uint64_t* scratch,
                                            WrongEntry* out) {
    const FindWrongArgs args{
        .problem = kernel_problem(problem), .least = reinterpret_cast<unsigned long long*>(scratch), .out = out};
    return launch.fill(scratch, 0xff, sizeof *scratch)
        .and_then([&] {
            return launch(find_wrong_entries,
                          LaunchShape{{blocks_for(questions_of(args.problem), find_wrong_threads)}, find_wrong_threads},
                          args);
        })
        .and_then([&] {
            return launch(describe_wrong_entry, LaunchShape{{1}, 1}, args);
        });
}

template <class Launch>
payload_expected<void> run_merge(Launch& launch, const AttentionParts& parts, const AttentionResult& result) {
    if (parts.rows == 0) {
        return {};
    }
    return launch_merge(launch, MergeArgs{.part_out = parts.out.data(),
                                          .part_lse = parts.lse.data(),
                                          .parts = static_cast<std::uint32_t>(parts.parts),
                                          .states = parts.rows * parts.query_heads,
                                          .query_heads = parts.query_heads,
                                          .head_dim = parts.head_dim,
                                          .sink_logits = parts.sink_logits.empty() ? nullptr : parts.sink_logits.data(),
                                          .out = result.out.data,
                                          .out_dtype = result.out.dtype,
                                          .lse = result.lse.empty() ? nullptr : result.lse.data()});
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/kernels/elements.cuh>
#include <kvpane/attention/cuda/kernels/softmax.cuh>

// What merge_parts() computes (attention/merge.h), a warp a state.
namespace kvpane::cuda {

inline constexpr unsigned merge_threads = 128;

struct MergeArgs {
    const float* part_out = nullptr;  // [parts, states, head_dim]
    const float* part_lse = nullptr;  // [parts, states]
    std::uint32_t parts = 0;
    std::size_t states = 0;  // rows * query_heads
    std::uint32_t query_heads = 0;
    std::uint32_t head_dim = 0;
    const float* sink_logits = nullptr;  // [query_heads], or null
    void* out = nullptr;                 // [states, head_dim]
    DType out_dtype = DType::f32;
    float* lse = nullptr;  // [states], or null
};

// grid [states * 32 / merge_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(merge_threads) merge_states(const MergeArgs args) {
    const std::size_t state = std::size_t{block_index().x} * (merge_threads / warp_size) + thread_index() / warp_size;
    if (state >= args.states) {
        return;
    }
    const float sink = args.sink_logits == nullptr ? nothing : args.sink_logits[state % args.query_heads];
    float top = sink;
    for (std::uint32_t part = 0; part < args.parts; ++part) {
        top = larger(top, args.part_lse[part * args.states + state]);
    }
    float sum = weight_of(sink, top);
    for (std::uint32_t part = 0; part < args.parts; ++part) {
        sum += weight_of(args.part_lse[part * args.states + state], top);
    }
    for (std::uint32_t d = thread_index() % warp_size; d < args.head_dim; d += warp_size) {
        float value = 0;
        for (std::uint32_t part = 0; part < args.parts; ++part) {
            const float lse = args.part_lse[part * args.states + state];
            if (lse != nothing) {
                value += weight_of(lse, top) / sum * args.part_out[(part * args.states + state) * args.head_dim + d];
            }
        }
        store_element(args.out, args.out_dtype, state * args.head_dim + d, value);
    }
    if (args.lse != nullptr && thread_index() % warp_size == 0) {
        args.lse[state] = top == nothing && sum == 0 ? nothing : top + logf(sum);
    }
}

}  // namespace kvpane::cuda

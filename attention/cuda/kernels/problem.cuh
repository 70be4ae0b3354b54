// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/blocktable/window.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

// An AttentionProblem as kernels take it: pointers and sizes, by value.
namespace kvpane::cuda {

struct KernelProblem {
    CellStore cells;
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    const Length* lengths = nullptr;             // [n_seqs]
    const std::int32_t* query_indptr = nullptr;  // [n_seqs + 1], or null: one row each
    const Length* begin = nullptr;               // [n_seqs], or null
    const Length* end = nullptr;                 // [n_seqs], or null
    const float* sink_logits = nullptr;          // [query_heads], or null
    const void* queries = nullptr;               // [rows, query_heads, head_dim]
    DType query_dtype = DType::f32;
    std::uint32_t n_seqs = 0;
    std::uint32_t query_heads = 0;
    std::uint32_t group = 0;  // query heads that share a KV head
    float scale = 0;          // of the logits, k_scale included
    float soft_cap = 0;
    Length window = 0;
    Length sinks = 0;
};

// The positions that some queries see, one after the other: those of the sinks, then those of the run.
struct Seen {
    Length sink_begin = 0;
    Length sinks = 0;
    Length run_begin = 0;
    Length run = 0;

    KVPANE_DEVICE Length size() const { return sinks + run; }
    KVPANE_DEVICE Length operator[](Length i) const { return i < sinks ? sink_begin + i : run_begin + (i - sinks); }
};

KVPANE_DEVICE Length at_least(Length a, Length b) { return a > b ? a : b; }
KVPANE_DEVICE Length at_most(Length a, Length b) { return a < b ? a : b; }

// What the queries at positions [first, last] see together; each position of it is seen by one of them at least.
KVPANE_DEVICE Seen seen_by_queries(const KernelProblem& problem, std::uint32_t sequence, Length first, Length last) {
    const Length from = problem.begin == nullptr ? 0 : problem.begin[sequence];
    const Length to = problem.end == nullptr ? problem.lengths[sequence] : problem.end[sequence];
    const auto cut = [&](Length position) { return at_least(from, at_most(position, to)); };
    const Length run = need(first, problem.window);
    const Length behind = last + 1;
    const Length sink_end = cut(at_most(at_most(problem.sinks, run), behind));
    const Length run_begin = cut(run);
    return {cut(0), sink_end - cut(0), run_begin, at_least(cut(behind) - run_begin, 0)};
}

// Does the query see the position, which is one of those that begin and end allow?
KVPANE_DEVICE bool sees(const KernelProblem& problem, Length query, Length position) {
    return position <= query && (position >= need(query, problem.window) || position < problem.sinks);
}

// The index of element 0 of a head of a cell, in K and V alike.
KVPANE_DEVICE std::int64_t element_of(const KernelProblem& problem, std::uint32_t sequence, Length position,
                                      std::uint32_t kv_head) {
    const auto cell = static_cast<std::uint32_t>(position);  // no sequence is longer
    const std::uint32_t block_size = problem.cells.shape.block_size;
    const std::int32_t block = problem.tables[std::size_t{sequence} * problem.width + cell / block_size];
    const CellStrides& strides = problem.cells.strides;
    return block * strides.block + cell % block_size * strides.cell + kv_head * strides.head;
}

}  // namespace kvpane::cuda

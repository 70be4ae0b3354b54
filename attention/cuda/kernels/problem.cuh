// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/visibility.h>
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
    Visibility rule = {};
};

// What the queries at positions [first, last] of a sequence see together.
KVPANE_DEVICE SeenPositions seen_by_queries(const KernelProblem& problem, std::uint32_t sequence, Length first,
                                            Length last) {
    const Length begin = problem.begin == nullptr ? 0 : problem.begin[sequence];
    const Length end = problem.end == nullptr ? problem.lengths[sequence] : problem.end[sequence];
    return seen_by_queries(problem.rule, first, last, begin, end);
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

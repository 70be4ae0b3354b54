// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/seen_positions.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

// An AttentionProblem as kernels take it: pointers and sizes, by value. Whatever the arrays hold, nothing is touched
// beyond them and beyond the store.
namespace kvpane::cuda {

struct KernelProblem {
    CellStore cells;
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    Length room = 0;                             // positions that a row of the tables has entries for
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

// The length of a sequence. One that its row has no room for is cut behind the first position without an entry, so that
// its last query still sees that there is none.
KVPANE_DEVICE Length length_of(const KernelProblem& problem, std::uint32_t sequence) {
    return std::max<Length>(0, std::min(problem.lengths[sequence], problem.room + 1));
}

// What the queries at positions [first, last] of a sequence see together.
KVPANE_DEVICE SeenPositions seen_by_queries(const KernelProblem& problem, std::uint32_t sequence, Length first,
                                            Length last) {
    const Length begin = problem.begin == nullptr ? 0 : problem.begin[sequence];
    const Length end = problem.end == nullptr ? length_of(problem, sequence) : problem.end[sequence];
    return seen_by_queries(problem.rule, first, last, begin, end);
}

// Where an element of a cell is, in K and V alike; not_there if the table has no block for it, or none that the store
// has.
inline constexpr std::int64_t not_there = -1;
KVPANE_DEVICE std::int64_t element_of(const KernelProblem& problem, std::uint32_t sequence, Length position,
                                      std::uint32_t kv_head, std::uint32_t element) {
    const auto cell = static_cast<std::uint32_t>(position);  // no sequence is longer
    const CellShape& shape = problem.cells.shape;
    const std::uint32_t entry = cell / shape.block_size;
    if (entry >= problem.width) {
        return not_there;
    }
    const std::int32_t block = problem.tables[std::size_t{sequence} * problem.width + entry];
    return has_block(shape, block) ? problem.cells.strides.index(block, cell % shape.block_size, kv_head) + element
                                   : not_there;
}

}  // namespace kvpane::cuda

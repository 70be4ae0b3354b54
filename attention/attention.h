// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/payload_error.h>
#include <kvpane/attention/visibility.h>

// Attention of queries over the cells that block tables name: decode (one query a sequence), prefill (many, causal) and
// the halves of a cascade are the same problem. It is solved by the reference (reference_attention.h), by the host's
// fast path (host_attention.h) and by CUDA kernels (cuda/): the same arguments, the same conventions.
//
// The query at position p with window W and S sinks sees the positions q <= p with q > p - W or q < S (W = 0: all q <= p);
// W counts the query itself. For query head h, with g = h / (query_heads / kv_heads):
//
//     s_q = scale * <query_h, K_q,g>,  then  soft_cap * tanh(s_q / soft_cap) if soft_cap > 0
//     lse = ln( sum_q exp(s_q)  [+ exp(sink_logit_h)] ),  out = sum_q exp(s_q - lse) V_q,g
//
// Nothing seen and no sink logit: out = 0, lse = -inf. Blocks of which nothing is seen are skipped, not masked: holes in
// the table are allowed there, and whatever cells hold that are not seen has no influence.
//
// The reference computes in double, all other paths in single precision, and they divide by the sum last. Where a logit
// or a sum of finite inputs leaves f32's range (q = K = 1e20; V = 3e38 in two cells) they give infinities or NaN.
namespace kvpane {

struct AttentionRule {
    float scale = 0;     // 0 = 1 / sqrt(head_dim)
    Length window = 0;   // 0 = none
    Length sinks = 0;    // without effect unless there is a window
    float soft_cap = 0;  // 0 = none
    // [query_heads] a logit without value in each sum, or empty; -inf: none for that head.
    std::span<const float> sink_logits = {};

    constexpr Visibility visibility() const noexcept { return {window, sinks}; }
};

// Rows of a tensor of queries, or of outputs: [rows, query_heads, head_dim], dense, f32, f16 or bf16.
struct QueryRows {
    const void* data = nullptr;
    DType dtype = DType::f32;
};
struct OutputRows {
    void* data = nullptr;
    DType dtype = DType::f32;
};

struct AttentionProblem {
    CellStore cells = {};
    AttentionRule rule = {};
    std::uint32_t query_heads = 0;  // a multiple of kv_heads

    // [n_seqs, width] block ids by logical block, 0 for holes and behind the end, as export_padded() and bound rows
    // give them.
    std::span<const std::int32_t> tables;
    std::size_t width = 0;
    std::span<const Length> lengths;  // [n_seqs] cells; the last query of a sequence has position length - 1

    QueryRows queries;  // [rows, query_heads, head_dim]
    // [n_seqs + 1] rows of sequence i: [query_indptr[i], query_indptr[i + 1]), ascending positions that end at
    // length - 1; it starts at 0. Empty: one row each (decode), rows = n_seqs; of a sequence of length 0 it sees nothing.
    std::span<const std::int32_t> query_indptr = {};

    // [n_seqs] only positions in [begin, end) count, beside what the rule says; empty: all. For the parts of a cascade
    // and of a split.
    std::span<const Length> begin = {};
    std::span<const Length> end = {};
};

struct AttentionResult {
    OutputRows out;        // [rows, query_heads, head_dim]
    std::span<float> lse;  // [rows, query_heads] natural logarithm; may be empty
};

// The rows of one sequence.
struct SequenceRows {
    std::size_t begin = 0;
    std::size_t end = 0;
    Length first_position = 0;  // of row `begin`; the others follow one by one. -1 for a decode row of length 0.

    std::size_t size() const noexcept { return end - begin; }
};
// REQUIRES of both: find_wrong() finds nothing.
SequenceRows rows_of_sequence(const AttentionProblem& problem, std::size_t sequence) noexcept;
std::size_t rows_of(const AttentionProblem& problem) noexcept;

// What every path asks first. ERRORS, in this order:
//   as find_wrong(CellStore);
//   misaligned: a span that does not start at a multiple of its element;
//   heads_do_not_divide (query_heads 0, too);
//   bad_shape: spans that do not fit each other; a query_indptr that does not start at 0, that falls, or that gives a
//     sequence more rows than cells; a negative window, sinks, soft_cap or length; no memory; sizes beyond size_t;
//   out_of_range: a scale or cap that is not finite, a sink logit that is NaN or +inf;
//   unsupported_dtype: queries or outputs of fp8;
//   buffer_too_small: lse; a table row that ends before a position that is seen;
//   misaligned: queries or an output that do not start at a multiple of their element;
//   overlapping: an output shares memory with an input or the other output;
//   out_of_range, hole: a position that is seen has a block that the store lacks, or none. Entries of which nothing is
//     seen are not looked at.
// COST O(n_seqs * width).
payload_expected<void> find_wrong(const AttentionProblem& problem, const AttentionResult& result) noexcept;

// The part of it that looks neither at queries and outputs nor at the entries of tables: a workspace can be sized for
// what passes. ERRORS as above, down to out_of_range of a rule. COST O(n_seqs + query_heads).
payload_expected<void> find_wrong_shape(const AttentionProblem& problem) noexcept;

// The positions of a sequence that count beside the rule: [begin, end).
inline Length begin_of(const AttentionProblem& problem, std::size_t sequence) noexcept {
    return problem.begin.empty() ? 0 : problem.begin[sequence];
}
inline Length end_of(const AttentionProblem& problem, std::size_t sequence) noexcept {
    return problem.end.empty() ? problem.lengths[sequence] : problem.end[sequence];
}

// The factor of the logits: scale, or what its 0 stands for.
float scale_of(const AttentionProblem& problem) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/attention.h>

#include <algorithm>
#include <cmath>

#include <kvpane/attention/problem_memory.h>
#include <kvpane/attention/seen_positions.h>

namespace kvpane {

namespace {

using Found = payload_expected<void>;

Found wrong(PayloadFault fault, const char* where) noexcept { return tl::unexpected(PayloadError{fault, where}); }

Found find_wrong_sizes(const AttentionProblem& problem) noexcept {
    const std::size_t n_seqs = problem.lengths.size();
    std::size_t entries = 0;
    if (problem.query_heads == 0 || problem.query_heads % problem.cells.shape.kv_heads != 0) {
        return wrong(PayloadFault::heads_do_not_divide, "query_heads");
    }
    if (__builtin_mul_overflow(n_seqs, problem.width, &entries) || problem.tables.size() != entries) {
        return wrong(PayloadFault::bad_shape, "tables");
    }
    if (!problem.query_indptr.empty() && problem.query_indptr.size() != n_seqs + 1) {
        return wrong(PayloadFault::bad_shape, "query_indptr");
    }
    if (!problem.begin.empty() && problem.begin.size() != n_seqs) {
        return wrong(PayloadFault::bad_shape, "begin");
    }
    if (!problem.end.empty() && problem.end.size() != n_seqs) {
        return wrong(PayloadFault::bad_shape, "end");
    }
    if (std::ranges::any_of(problem.lengths, [](Length length) { return length < 0 || length > longest_sequence; })) {
        return wrong(PayloadFault::bad_shape, "lengths");
    }
    return {};
}

Found find_wrong_rule(const AttentionProblem& problem) noexcept {
    const AttentionRule& rule = problem.rule;
    if (rule.window < 0) {
        return wrong(PayloadFault::bad_shape, "window");
    }
    if (rule.sinks < 0) {
        return wrong(PayloadFault::bad_shape, "sinks");
    }
    if (rule.soft_cap < 0) {
        return wrong(PayloadFault::bad_shape, "soft_cap");
    }
    if (!rule.sink_logits.empty() && rule.sink_logits.size() != problem.query_heads) {
        return wrong(PayloadFault::bad_shape, "sink_logits");
    }
    if (!std::isfinite(rule.scale)) {
        return wrong(PayloadFault::out_of_range, "scale");
    }
    if (!std::isfinite(rule.soft_cap)) {
        return wrong(PayloadFault::out_of_range, "soft_cap");
    }
    const auto is_bad = [](float logit) { return std::isnan(logit) || (std::isinf(logit) && logit > 0); };
    if (std::ranges::any_of(rule.sink_logits, is_bad)) {
        return wrong(PayloadFault::out_of_range, "sink_logits");
    }
    return {};
}

Found find_wrong_rows(const AttentionProblem& problem) noexcept {
    const auto& indptr = problem.query_indptr;
    if (indptr.empty()) {
        return {};
    }
    if (indptr.front() != 0) {
        return wrong(PayloadFault::bad_shape, "query_indptr");
    }
    for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
        const Length rows = Length{indptr[i + 1]} - indptr[i];
        if (rows < 0 || rows > problem.lengths[i]) {
            return wrong(PayloadFault::bad_shape, "query_indptr");
        }
    }
    return {};
}

MemoryRange range_of_cells(const CellStore& store, const void* memory) noexcept {
    return range_of(memory,
                    static_cast<std::size_t>(reach_of(store.shape, store.strides)) * bytes_of(store.shape.dtype));
}

// Of the queries, and of the outputs.
std::size_t elements_of(const AttentionProblem& problem) noexcept {
    return rows_of(problem) * problem.query_heads * problem.cells.shape.head_dim;
}

bool is_narrow(DType dtype) noexcept { return bytes_of(dtype) < 2; }

Found find_wrong_memory(const AttentionProblem& problem, const AttentionResult& result) noexcept {
    if (is_narrow(problem.queries.dtype)) {
        return wrong(PayloadFault::unsupported_dtype, "queries");
    }
    if (is_narrow(result.out.dtype)) {
        return wrong(PayloadFault::unsupported_dtype, "out");
    }
    std::size_t states = 0;  // rows * query_heads
    std::size_t bytes = 0;   // of f32, the widest
    if (__builtin_mul_overflow(rows_of(problem), problem.query_heads, &states) ||
        __builtin_mul_overflow(states, std::size_t{4} * problem.cells.shape.head_dim, &bytes)) {
        return wrong(PayloadFault::bad_shape, "query_heads");
    }
    if (bytes > 0 && problem.queries.data == nullptr) {
        return wrong(PayloadFault::bad_shape, "queries");
    }
    if (bytes > 0 && result.out.data == nullptr) {
        return wrong(PayloadFault::bad_shape, "out");
    }
    if (!result.lse.empty() && result.lse.size() < states) {
        return wrong(PayloadFault::buffer_too_small, "lse");
    }

    const auto [out, lse] = outputs_of(problem, result);
    const auto inputs = inputs_of(problem);
    const MemoryRange queries = inputs.front();
    if (queries.begin % bytes_of(problem.queries.dtype) != 0) {
        return wrong(PayloadFault::misaligned, "queries");
    }
    if (out.begin % bytes_of(result.out.dtype) != 0) {
        return wrong(PayloadFault::misaligned, "out");
    }
    if (lse.begin % alignof(float) != 0) {
        return wrong(PayloadFault::misaligned, "lse");
    }
    for (const MemoryRange& input : inputs) {
        if (overlap(out, input)) {
            return wrong(PayloadFault::overlapping, "out");
        }
        if (overlap(lse, input)) {
            return wrong(PayloadFault::overlapping, "lse");
        }
    }
    return overlap(out, lse) ? wrong(PayloadFault::overlapping, "lse") : Found{};
}

// The blocks of the positions [begin, end) of one table.
Found find_wrong_entries(const AttentionProblem& problem, std::span<const std::int32_t> table, Length begin,
                         Length end) noexcept {
    if (begin == end) {
        return {};
    }
    const auto block_size = Length{problem.cells.shape.block_size};
    const auto first = static_cast<std::size_t>(begin / block_size);
    const auto behind = static_cast<std::size_t>((end - 1) / block_size + 1);
    if (behind > table.size()) {
        return wrong(PayloadFault::buffer_too_small, "tables");
    }
    for (const std::int32_t block : table.subspan(first, behind - first)) {
        if (!has_block(problem.cells.shape, block)) {
            return wrong(block == 0 ? PayloadFault::hole : PayloadFault::out_of_range, "tables");
        }
    }
    return {};
}

Found find_wrong_tables(const AttentionProblem& problem) noexcept {
    for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
        const SequenceRows rows = rows_of_sequence(problem, i);
        if (rows.size() == 0) {
            continue;
        }
        const auto table = problem.tables.subspan(i * problem.width, problem.width);
        const SeenPositions seen = seen_by_queries(problem.rule.visibility(), rows.first_position,
                                                   problem.lengths[i] - 1, begin_of(problem, i), end_of(problem, i));
        const Found found = find_wrong_entries(problem, table, seen.sink_begin, seen.sink_end).and_then([&] {
            return find_wrong_entries(problem, table, seen.run_begin, seen.run_end);
        });
        if (!found) {
            return found;
        }
    }
    return {};
}

}  // namespace

SequenceRows rows_of_sequence(const AttentionProblem& problem, std::size_t sequence) noexcept {
    const Length length = problem.lengths[sequence];
    if (problem.query_indptr.empty()) {
        return {sequence, sequence + 1, length - 1};
    }
    const auto begin = static_cast<std::size_t>(problem.query_indptr[sequence]);
    const auto end = static_cast<std::size_t>(problem.query_indptr[sequence + 1]);
    return {begin, end, length - static_cast<Length>(end - begin)};
}

std::size_t rows_of(const AttentionProblem& problem) noexcept {
    return problem.query_indptr.empty() ? problem.lengths.size()
                                        : static_cast<std::size_t>(problem.query_indptr.back());
}

payload_expected<void> find_wrong(const AttentionProblem& problem, const AttentionResult& result) noexcept {
    return find_wrong(problem.cells)
        .and_then([&] { return find_wrong_sizes(problem); })
        .and_then([&] { return find_wrong_rule(problem); })
        .and_then([&] { return find_wrong_rows(problem); })
        .and_then([&] { return find_wrong_memory(problem, result); })
        .and_then([&] { return find_wrong_tables(problem); });
}

std::array<MemoryRange, 9> inputs_of(const AttentionProblem& problem) noexcept {
    const CellStore& cells = problem.cells;
    return {range_of(problem.queries.data, elements_of(problem) * bytes_of(problem.queries.dtype)),
            range_of_cells(cells, cells.k),
            range_of_cells(cells, cells.v),
            range_of(problem.rule.sink_logits),
            range_of(problem.tables),
            range_of(problem.lengths),
            range_of(problem.query_indptr),
            range_of(problem.begin),
            range_of(problem.end)};
}

std::array<MemoryRange, 2> outputs_of(const AttentionProblem& problem, const AttentionResult& result) noexcept {
    return {range_of(result.out.data, elements_of(problem) * bytes_of(result.out.dtype)), range_of(result.lse)};
}

float scale_of(const AttentionProblem& problem) noexcept {
    return problem.rule.scale != 0 ? problem.rule.scale
                                   : 1 / std::sqrt(static_cast<float>(problem.cells.shape.head_dim));
}

}  // namespace kvpane

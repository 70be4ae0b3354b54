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

Found find_wrong_spans(const AttentionProblem& problem) noexcept {
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

Found find_wrong_indptr(const AttentionProblem& problem) noexcept {
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

payload_expected<void> find_wrong_shape(const AttentionProblem& problem) noexcept {
    return find_wrong(problem.cells)
        .and_then([&] { return find_misaligned_arrays(problem); })
        .and_then([&] { return find_wrong_spans(problem); })
        .and_then([&] { return find_wrong_rule(problem); })
        .and_then([&] { return find_wrong_indptr(problem); });
}

payload_expected<void> find_wrong(const AttentionProblem& problem, const AttentionResult& result) noexcept {
    return find_wrong_shape(problem)
        .and_then([&] { return find_wrong_rows(problem, result, rows_of(problem)); })
        .and_then([&] { return find_wrong_tables(problem); });
}

float scale_of(const AttentionProblem& problem) noexcept {
    return problem.rule.scale != 0 ? problem.rule.scale
                                   : 1 / std::sqrt(static_cast<float>(problem.cells.shape.head_dim));
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/problem_memory.h>

#include <kvpane/attention/cell_pieces.h>

namespace kvpane {

namespace {

// Of the queries, and of the outputs.
std::size_t elements_of(const AttentionProblem& problem, std::size_t rows) noexcept {
    return rows * problem.query_heads * problem.cells.shape.head_dim;
}

bool is_narrow(DType dtype) noexcept { return bytes_of(dtype) < 2; }

}  // namespace

std::array<MemoryRange, 9> inputs_of(const AttentionProblem& problem, std::size_t rows) noexcept {
    const auto [k, v] = ranges_of(problem.cells);
    return {range_of(problem.queries.data, elements_of(problem, rows) * bytes_of(problem.queries.dtype)),
            k,
            v,
            range_of(problem.rule.sink_logits),
            range_of(problem.tables),
            range_of(problem.lengths),
            range_of(problem.query_indptr),
            range_of(problem.begin),
            range_of(problem.end)};
}

std::array<ArgumentMemory, 2> outputs_of(const AttentionProblem& problem, const AttentionResult& result,
                                         std::size_t rows) noexcept {
    const std::size_t element = bytes_of(result.out.dtype);
    return {{{"out", range_of(result.out.data, elements_of(problem, rows) * element), element},
             memory_of("lse", result.lse)}};
}

payload_expected<void> find_misaligned_arrays(const AttentionProblem& problem) noexcept {
    return find_misaligned({memory_of("tables", problem.tables), memory_of("lengths", problem.lengths),
                            memory_of("query_indptr", problem.query_indptr), memory_of("begin", problem.begin),
                            memory_of("end", problem.end), memory_of("sink_logits", problem.rule.sink_logits)});
}

payload_expected<void> find_wrong_rows(const AttentionProblem& problem, const AttentionResult& result,
                                       std::size_t rows) noexcept {
    if (is_narrow(problem.queries.dtype)) {
        return refuse(PayloadFault::unsupported_dtype, "queries");
    }
    if (is_narrow(result.out.dtype)) {
        return refuse(PayloadFault::unsupported_dtype, "out");
    }
    std::size_t states = 0;  // rows * query_heads
    std::size_t bytes = 0;   // of f32, the widest
    if (__builtin_mul_overflow(rows, problem.query_heads, &states) ||
        __builtin_mul_overflow(states, std::size_t{4} * problem.cells.shape.head_dim, &bytes)) {
        return refuse(PayloadFault::bad_shape, "query_heads");
    }
    if (bytes > 0 && problem.queries.data == nullptr) {
        return refuse(PayloadFault::bad_shape, "queries");
    }
    if (bytes > 0 && result.out.data == nullptr) {
        return refuse(PayloadFault::bad_shape, "out");
    }
    if (!result.lse.empty() && result.lse.size() < states) {
        return refuse(PayloadFault::buffer_too_small, "lse");
    }
    const auto inputs = inputs_of(problem, rows);
    const auto outputs = outputs_of(problem, result, rows);
    return find_misaligned({{"queries", inputs.front(), bytes_of(problem.queries.dtype)}, outputs[0], outputs[1]})
        .and_then([&] { return find_overlapping(outputs, inputs); });
}

}  // namespace kvpane

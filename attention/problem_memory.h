// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/attention.h>

// What is asked of the memory of a problem, wherever it lies: no array is read.
namespace kvpane {

// All memory of a problem of `rows` query rows: that of the queries first; and of its result, `out` and `lse`.
// REQUIRES find_wrong(problem.cells) finds nothing, and sizes within size_t.
std::array<MemoryRange, 9> inputs_of(const AttentionProblem& problem, std::size_t rows) noexcept;
std::array<ArgumentMemory, 2> outputs_of(const AttentionProblem& problem, const AttentionResult& result,
                                         std::size_t rows) noexcept;

// ERRORS misaligned: tables, lengths, query_indptr, begin, end, sink_logits.
payload_expected<void> find_misaligned_arrays(const AttentionProblem& problem) noexcept;

// The queries and the outputs. ERRORS unsupported_dtype, bad_shape (no memory, sizes beyond size_t), buffer_too_small
// (lse), misaligned, overlapping (an output and any of the inputs, or the other output).
// REQUIRES find_wrong(problem.cells) finds nothing.
payload_expected<void> find_wrong_rows(const AttentionProblem& problem, const AttentionResult& result,
                                       std::size_t rows) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/cuda/device_attention.h>

// What every way to solve a problem on a device asks of its arguments: no array is read.
namespace kvpane {

// ERRORS as device_attention(), the workspace apart.
payload_expected<void> find_wrong_on_device(const AttentionProblem& problem, const DeviceBounds& bounds,
                                            const AttentionResult& result) noexcept;

// Can a prefill of `n_seqs` sequences, each with at most so many rows, be one grid?
bool fits_a_grid(const AttentionProblem& problem, std::size_t n_seqs, std::size_t most_rows) noexcept;

// ERRORS misaligned; overlapping (the workspace and what belongs to the problem or its result); workspace_too_small.
payload_expected<void> find_wrong_workspace(const AttentionProblem& problem, const DeviceBounds& bounds,
                                            const AttentionResult& result, const ArgumentMemory& workspace,
                                            std::size_t bytes_needed) noexcept;

}  // namespace kvpane

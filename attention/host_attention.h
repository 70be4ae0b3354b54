// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/attention/attention.h>

// The fast path of the host. K and V are read once for all query heads that share them and for several rows of a
// prefill; the softmax is taken online, tile by tile; a long sequence of few rows is split into chunks, which are merged.
// Arithmetic is in single precision.
namespace kvpane {

enum class HostPath : std::uint8_t {
    best,      // the fastest that this machine can run
    portable,  // plain C++
    avx2,      // AVX2, FMA and F16C; without them portable
};

struct HostOptions {
    HostPath path = HostPath::best;
    unsigned threads = 1;  // the caller's included; they live as long as the call
    // Cells of a chunk; 0: never split. The result depends on it (in rounding), not on the number of threads.
    Length chunk = 1024;
};

// What host_attention() needs beside its result: scratch memory for each thread, and the parts of what is split. 0 for
// options, and for a problem (find_wrong_shape()), that it refuses. COST O(n_seqs + query_heads).
std::size_t host_workspace_bytes(const AttentionProblem& problem, const HostOptions& options) noexcept;

// Solves the problem; every dtype of cells, f32, f16 and bf16 rows. The contents of the workspace do not matter.
// COST O(cells seen * query_heads * head_dim). No heap but for the threads, if there are any.
// ERRORS as find_wrong(problem, result); bad_shape (threads 0, a negative chunk), workspace_too_small, misaligned (a
// workspace that is not 64-byte aligned), overlapping (workspace and any other argument): nothing is written.
payload_expected<void> host_attention(const AttentionProblem& problem, const HostOptions& options,
                                      std::span<std::byte> workspace, const AttentionResult& result) noexcept;

// What HostPath::best stands for on this machine.
HostPath best_host_path() noexcept;

}  // namespace kvpane

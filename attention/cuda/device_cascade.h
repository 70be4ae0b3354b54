// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <kvpane/attention/cascade.h>
#include <kvpane/attention/cuda/device_attention.h>

// Cascade attention on a CUDA device: the problem and the groups of cascade.h, with every address and every span in
// device memory. Streams, and builds without CUDA, are as in device_attention.h.
namespace kvpane {

// What the host has to know of arrays that it cannot read.
struct CascadeBounds {
    DeviceBounds problem = {};        // as for device_attention()
    std::size_t most_group_rows = 0;  // no group has more query rows: those of all its sequences together
};

// What device_cascade_attention() needs: the groups as sequences, both halves' results in f32, and what
// device_attention() needs. REQUIRES a problem in which nothing is wrong.
std::size_t device_cascade_workspace_bytes(const AttentionProblem& problem, const SharedPrefixes& shared,
                                           const CascadeBounds& bounds) noexcept;

// The result of device_attention(problem), up to rounding: a launch that makes one sequence of each group, a prefill over
// the prefixes, the problem behind them, and a merge, in which a sink logit counts once.
// REQUIRES what device_attention() does of the problem, and of the contents of `shared` and of the tables what
// cascade_attention() would find. Where they are something else, nothing beyond the spans and the store is read or
// written all the same; a query whose prefix has a position without a block, or with one that the store lacks, gets NaN;
// what else is wrong gives results without a meaning.
// ERRORS as device_attention(), and as cascade_attention() as far as they show in sizes and addresses: misaligned and
// overlapping "shared", bad_shape "shared", "window", "begin", "end". Also bad_shape "bounds" (more rows than n_groups *
// most_group_rows, or than a grid has room for), misaligned (a workspace that does not start at a multiple of 8 bytes).
payload_expected<void> device_cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared,
                                                const CascadeBounds& bounds, std::span<std::byte> workspace,
                                                const AttentionResult& result, void* stream) noexcept;

}  // namespace kvpane

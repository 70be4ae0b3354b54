// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/attention/cuda/device_cascade.h>

namespace kvpane {

// What stands where in the workspace of device_cascade_attention().
struct CascadeWorkspace {
    // The groups as sequences, each with the queries of all of its own.
    std::span<std::int32_t> tables;        // [n_groups, width]
    std::span<std::int32_t> query_indptr;  // [n_groups + 1]
    std::span<Length> lengths;             // [n_groups]
    std::span<Length> end;                 // [n_groups] of the prefixes

    std::span<Length> begin;         // [n_seqs] where the prefix ends
    std::span<float> part_out;       // [2, rows, query_heads, head_dim] over the prefixes, over the rest
    std::span<float> part_lse;       // [2, rows, query_heads]
    std::span<std::byte> attention;  // of device_attention(), for the rest
    std::size_t bytes = 0;           // of all
};

// With the base nullptr only the sizes.
CascadeWorkspace divide_workspace(const AttentionProblem& problem, const SharedPrefixes& shared,
                                  const CascadeBounds& bounds, std::byte* base) noexcept;

}  // namespace kvpane

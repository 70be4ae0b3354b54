// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/attention/host_attention.h>

// Cascade attention: the cells of a prefix that neighbouring sequences share are read once for all of their queries; what
// each sequence has for itself is attended to apart, and both are merged. A sink logit counts once.
namespace kvpane {

struct SharedPrefixes {
    std::span<const std::int32_t> indptr;  // [n_groups + 1] sequences of group g: [indptr[g], indptr[g + 1])
    std::span<const Length> lengths;       // [n_groups] cells that they share, from position 0 on; 0 = none
};

// What cascade_attention() needs beside its result. 0 for a problem, for options, and for groups of sequences, that it
// refuses without a look at tables or queries. COST O(n_seqs + query_heads).
std::size_t cascade_workspace_bytes(const AttentionProblem& problem, const SharedPrefixes& shared,
                                    const HostOptions& options) noexcept;

// The result of host_attention(problem), up to rounding.
// ERRORS as host_attention(); misaligned, overlapping "shared" (with an output or the workspace); bad_shape "shared" (an
// indptr that is not 0 .. n_seqs in ascending order, negative lengths, a prefix longer than a sequence, a query within
// the prefix, tables of a group that differ within it), "window", "begin", "end" (no window and no other bounds: all
// queries of a group have to see all of the prefix); buffer_too_small "tables" (a row that ends within the prefix, be it
// of a group without queries): nothing is written to the result.
payload_expected<void> cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared,
                                         const HostOptions& options, std::span<std::byte> workspace,
                                         const AttentionResult& result) noexcept;

// What cascade_attention() asks of the sizes and addresses of `shared` and of the rule, on the host and on a device: it
// reads no array. ERRORS misaligned "shared"; bad_shape "window", "begin", "end", "shared". COST O(1).
payload_expected<void> find_wrong_sizes(const AttentionProblem& problem, const SharedPrefixes& shared) noexcept;

}  // namespace kvpane

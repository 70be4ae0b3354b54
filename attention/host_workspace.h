// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <kvpane/attention/host_attention.h>
#include <kvpane/attention/workspace_cutter.h>

// How host_attention() cuts a problem into items of work, and how it divides its workspace.
namespace kvpane {

// ERRORS bad_shape: threads 0, a negative chunk.
payload_expected<void> find_wrong_options(const HostOptions& options) noexcept;

// ERRORS misaligned; overlapping: the workspace with what belongs to the problem or its result.
payload_expected<void> find_wrong_memory(std::span<std::byte> workspace, const AttentionProblem& problem,
                                         const AttentionResult& result) noexcept;

// The query rows of one KV head that are computed together: `tokens` rows of the problem times the heads of the group.
// Enough to hide the loads of K and V, few enough to stay in the first-level cache with a tile.
struct RowTiles {
    std::size_t heads = 0;   // query heads of a KV head
    std::size_t tokens = 0;  // rows of the problem

    std::size_t rows() const noexcept { return heads * tokens; }
};
// REQUIRES find_wrong_shape() finds nothing.
RowTiles row_tiles(const AttentionProblem& problem) noexcept;

// The items of one sequence: [kv_heads, row_tiles, parts]. Only what fits into one row tile is split into parts.
struct SequenceItems {
    std::size_t row_tiles = 0;
    std::size_t parts = 0;
    std::size_t items = 0;
    std::size_t part_states = 0;  // [parts, rows, query_heads] results to be merged; 0 where there is one part
};
SequenceItems items_of(const AttentionProblem& problem, const HostOptions& options, std::size_t sequence) noexcept;

// What stands where in the workspace.
struct HostWorkspace {
    std::span<std::size_t> first_item;   // [n_seqs + 1]
    std::span<std::size_t> first_state;  // [n_seqs + 1] in part_out and part_lse
    std::span<std::size_t> items_left;   // [n_seqs] whoever finishes the last one merges the parts
    std::span<float> scratch;            // [threads, scratch_floats]
    std::span<float> part_out;           // [part states, head_dim]
    std::span<float> part_lse;           // [part states]
    std::size_t scratch_floats = 0;      // queries and out [rows, head_dim], weights [rows, tile_cells], 3 x [rows]
    std::size_t bytes = 0;               // of all
};
// With the base nullptr only the sizes. REQUIRES find_wrong_shape() and find_wrong_options() find nothing.
HostWorkspace divide_workspace(const AttentionProblem& problem, const HostOptions& options, std::byte* base) noexcept;

}  // namespace kvpane

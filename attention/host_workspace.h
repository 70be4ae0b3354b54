// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>

#include <kvpane/attention/host_attention.h>

// How host_attention() cuts a problem into items of work, and how it divides its workspace.
namespace kvpane {

inline constexpr std::size_t workspace_alignment = 64;  // a cache line

// Cuts arrays off the front of a workspace, each on its own cache lines. Without a base it only adds up.
class WorkspaceCutter {
public:
    explicit WorkspaceCutter(std::byte* base) noexcept : base_(base) {}

    // An array of that shape.
    template <class T>
    std::span<T> cut(std::initializer_list<std::size_t> shape) noexcept {
        const std::size_t begin = bytes_;
        std::size_t size = sizeof(T);
        const auto is_too_large = [&](std::size_t extent) { return __builtin_mul_overflow(size, extent, &size); };
        if (std::ranges::any_of(shape, is_too_large) || size > most / 2 || begin > most / 2) {
            bytes_ = most / 2 + 1;  // no memory is so large, and it stays that large
        } else {
            bytes_ += (size + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
        }
        return base_ == nullptr ? std::span<T>{} : std::span<T>(reinterpret_cast<T*>(base_ + begin), size / sizeof(T));
    }

    std::size_t bytes() const noexcept { return bytes_; }

private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2;

    std::byte* base_;
    std::size_t bytes_ = 0;
};

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

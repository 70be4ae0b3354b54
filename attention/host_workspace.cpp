// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_workspace.h>

#include <algorithm>

#include <kvpane/attention/host_kernels.h>

namespace kvpane {

namespace {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return a / b + (a % b == 0 ? 0 : 1); }

// Cuts arrays off the front of the workspace, each on its own cache line.
class Cutter {
public:
    explicit Cutter(std::byte* base) noexcept : base_(base) {}

    template <class T>
    std::span<T> cut(std::size_t count) noexcept {
        const std::size_t begin = bytes_;
        std::size_t size = 0;
        if (__builtin_mul_overflow(count, sizeof(T), &size) ||
            __builtin_add_overflow(bytes_, divide_up(size, workspace_alignment) * workspace_alignment, &bytes_)) {
            bytes_ = std::numeric_limits<std::size_t>::max() / 2;  // no memory is so large; sums of it stay large
        }
        return base_ == nullptr ? std::span<T>{} : std::span<T>(reinterpret_cast<T*>(base_ + begin), count);
    }

    std::size_t bytes() const noexcept { return bytes_; }

private:
    std::byte* base_;
    std::size_t bytes_ = 0;
};

}  // namespace

RowTiles row_tiles(const AttentionProblem& problem) noexcept {
    constexpr std::size_t wanted = 16;
    const std::size_t heads = problem.query_heads / problem.cells.shape.kv_heads;
    return {heads, std::max<std::size_t>(1, wanted / heads)};
}

SequenceItems items_of(const AttentionProblem& problem, const HostOptions& options, std::size_t sequence) noexcept {
    const SequenceRows rows = rows_of_sequence(problem, sequence);
    SequenceItems items;
    items.row_tiles = divide_up(rows.size(), row_tiles(problem).tokens);
    items.parts = 1;
    if (items.row_tiles == 1 && options.chunk > 0) {
        const SeenPositions seen =
            seen_by_queries(problem.rule, rows.first_position, problem.lengths[sequence] - 1,
                            begin_of(problem, sequence), end_of(problem, sequence));
        const Length cells = seen.sink_end - seen.sink_begin + seen.run_end - seen.run_begin;
        items.parts = std::max<std::size_t>(
            1, divide_up(static_cast<std::size_t>(cells), static_cast<std::size_t>(options.chunk)));
    }
    items.items = problem.cells.shape.kv_heads * items.row_tiles * items.parts;
    items.part_states = items.parts == 1 ? 0 : items.parts * rows.size() * problem.query_heads;
    return items;
}

HostWorkspace divide_workspace(const AttentionProblem& problem, const HostOptions& options, std::byte* base) noexcept {
    const std::size_t n_seqs = problem.lengths.size();
    std::size_t part_states = 0;
    for (std::size_t i = 0; i < n_seqs; ++i) {
        part_states += items_of(problem, options, i).part_states;
    }
    const std::size_t head_dim = problem.cells.shape.head_dim;
    std::size_t part_elements = 0;
    if (__builtin_mul_overflow(part_states, head_dim, &part_elements)) {
        part_elements = std::numeric_limits<std::size_t>::max();
    }

    HostWorkspace workspace;
    // A whole number of cache lines, so that threads do not share one.
    workspace.scratch_floats = divide_up(row_tiles(problem).rows() * (2 * head_dim + tile_cells + 3), 16) * 16;
    Cutter cutter(base);
    workspace.first_item = cutter.cut<std::size_t>(n_seqs + 1);
    workspace.first_state = cutter.cut<std::size_t>(n_seqs + 1);
    workspace.items_left = cutter.cut<std::size_t>(n_seqs);
    workspace.scratch = cutter.cut<float>(options.threads * workspace.scratch_floats);
    workspace.part_out = cutter.cut<float>(part_elements);
    workspace.part_lse = cutter.cut<float>(part_states);
    workspace.bytes = cutter.bytes();
    return workspace;
}

}  // namespace kvpane

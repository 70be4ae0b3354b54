// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_workspace.h>

#include <algorithm>

#include <kvpane/attention/host_kernels.h>
#include <kvpane/attention/problem_memory.h>
#include <kvpane/attention/seen_positions.h>

namespace kvpane {

namespace {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return a / b + (a % b == 0 ? 0 : 1); }

tl::unexpected<PayloadError> wrong(PayloadFault fault, const char* where) noexcept {
    return tl::unexpected(PayloadError{fault, where});
}

}  // namespace

payload_expected<void> find_wrong_options(const HostOptions& options) noexcept {
    if (options.threads == 0) {
        return wrong(PayloadFault::bad_shape, "threads");
    }
    if (options.chunk < 0) {
        return wrong(PayloadFault::bad_shape, "chunk");
    }
    return {};
}

payload_expected<void> find_wrong_memory(std::span<std::byte> workspace, const AttentionProblem& problem,
                                         const AttentionResult& result) noexcept {
    const std::size_t rows = rows_of(problem);
    const auto outputs = outputs_of(problem, result, rows);
    const ArgumentMemory memory{"workspace", range_of(workspace), workspace_alignment};
    return find_misaligned({memory}).and_then([&] {
        return find_overlapping({outputs[0], outputs[1], memory}, inputs_of(problem, rows));
    });
}

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
            seen_by_queries(problem.rule.visibility(), rows.first_position, problem.lengths[sequence] - 1,
                            begin_of(problem, sequence), end_of(problem, sequence));
        items.parts = std::max<std::size_t>(
            1, divide_up(static_cast<std::size_t>(seen.size()), static_cast<std::size_t>(options.chunk)));
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

    HostWorkspace workspace;
    // A whole number of cache lines, so that threads do not share one.
    workspace.scratch_floats = divide_up(row_tiles(problem).rows() * (2 * head_dim + tile_cells + 3), 16) * 16;
    WorkspaceCutter cutter(base);
    workspace.first_item = cutter.cut<std::size_t>({n_seqs + 1});
    workspace.first_state = cutter.cut<std::size_t>({n_seqs + 1});
    workspace.items_left = cutter.cut<std::size_t>({n_seqs});
    workspace.scratch = cutter.cut<float>({options.threads, workspace.scratch_floats});
    workspace.part_out = cutter.cut<float>({part_states, head_dim});
    workspace.part_lse = cutter.cut<float>({part_states});
    workspace.bytes = cutter.bytes();
    return workspace;
}

}  // namespace kvpane

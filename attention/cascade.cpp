// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cascade.h>

#include <algorithm>

#include <kvpane/attention/host_workspace.h>
#include <kvpane/attention/merge.h>
#include <kvpane/attention/problem_memory.h>
#include <kvpane/attention/workspace_cutter.h>

namespace kvpane {

namespace {

tl::unexpected<PayloadError> wrong(PayloadFault fault, const char* where) noexcept {
    return tl::unexpected(PayloadError{fault, where});
}

std::size_t blocks_of(const AttentionProblem& problem, Length cells) noexcept {
    const auto block_size = Length{problem.cells.shape.block_size};
    return static_cast<std::size_t>((cells + block_size - 1) / block_size);
}

// What shows without the tables.
payload_expected<void> find_wrong_groups(const AttentionProblem& problem, const SharedPrefixes& shared) noexcept {
    const auto wrong_sharing = wrong(PayloadFault::bad_shape, "shared");
    if (const auto found = find_wrong_sizes(problem, shared); !found) {
        return found;
    }
    const std::size_t groups = shared.lengths.size();
    if (shared.indptr.front() != 0 || static_cast<std::size_t>(shared.indptr.back()) != problem.lengths.size()) {
        return wrong_sharing;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        if (shared.indptr[g] >= shared.indptr[g + 1] || shared.lengths[g] < 0) {
            return wrong_sharing;
        }
    }
    return {};
}

// Of a group without query rows no entry of a table has been looked at; what is copied is asked here all the same.
payload_expected<void> find_wrong_prefixes(const AttentionProblem& problem, const SharedPrefixes& shared) noexcept {
    for (std::size_t g = 0; g < shared.lengths.size(); ++g) {
        const auto first = static_cast<std::size_t>(shared.indptr[g]);
        const auto behind = static_cast<std::size_t>(shared.indptr[g + 1]);
        for (std::size_t i = first; i < behind; ++i) {
            const Length seen_by_all = std::min(problem.lengths[i], rows_of_sequence(problem, i).first_position + 1);
            if (shared.lengths[g] > seen_by_all) {
                return wrong(PayloadFault::bad_shape, "shared");
            }
        }
        const std::size_t blocks = blocks_of(problem, shared.lengths[g]);
        if (blocks > problem.width) {
            return wrong(PayloadFault::buffer_too_small, "tables");
        }
        const auto prefix_of = [&](std::size_t i) { return problem.tables.subspan(i * problem.width, blocks); };
        for (std::size_t i = first + 1; i < behind; ++i) {
            if (!std::ranges::equal(prefix_of(first), prefix_of(i))) {
                return wrong(PayloadFault::bad_shape, "shared");
            }
        }
    }
    return {};
}

struct Workspace {
    std::span<std::int32_t> tables;        // [n_groups, width]
    std::span<std::int32_t> query_indptr;  // [n_groups + 1]
    std::span<Length> lengths;             // [n_groups]
    std::span<Length> begin;               // [n_seqs]
    std::span<float> part_out;             // [2, rows, query_heads, head_dim] over the prefixes, over the rest
    std::span<float> part_lse;             // [2, rows, query_heads]
    std::span<std::byte> host;             // enough for the problem as a whole, hence for each of its parts
    std::size_t bytes = 0;
};

Workspace divide(const AttentionProblem& problem, const SharedPrefixes& shared, const HostOptions& options,
                 std::byte* base) noexcept {
    const std::size_t groups = shared.lengths.size();
    const std::size_t rows = rows_of(problem);
    WorkspaceCutter cutter(base);
    Workspace workspace;
    workspace.tables = cutter.cut<std::int32_t>({groups, problem.width});
    workspace.query_indptr = cutter.cut<std::int32_t>({groups + 1});
    workspace.lengths = cutter.cut<Length>({groups});
    workspace.begin = cutter.cut<Length>({problem.lengths.size()});
    workspace.part_out = cutter.cut<float>({2, rows, problem.query_heads, problem.cells.shape.head_dim});
    workspace.part_lse = cutter.cut<float>({2, rows, problem.query_heads});
    workspace.host = cutter.cut<std::byte>({divide_workspace(problem, options, nullptr).bytes});
    workspace.bytes = cutter.bytes();
    return workspace;
}

// The queries of a group as those of one sequence that has the prefix and then as many cells as there are queries: each
// of them sees all of the prefix, and where the prefix ends nothing counts any more.
AttentionProblem over_prefixes(const AttentionProblem& problem, const SharedPrefixes& shared,
                               const Workspace& workspace) noexcept {
    const std::size_t groups = shared.lengths.size();
    std::ranges::fill(workspace.tables, 0);
    workspace.query_indptr.front() = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const auto first = static_cast<std::size_t>(shared.indptr[g]);
        const auto last = static_cast<std::size_t>(shared.indptr[g + 1]) - 1;
        const std::size_t begin = rows_of_sequence(problem, first).begin;
        const std::size_t end = rows_of_sequence(problem, last).end;
        workspace.query_indptr[g + 1] = static_cast<std::int32_t>(end);
        workspace.lengths[g] = shared.lengths[g] + static_cast<Length>(end - begin);
        std::copy_n(problem.tables.data() + first * problem.width, blocks_of(problem, shared.lengths[g]),
                    workspace.tables.data() + g * problem.width);
    }
    AttentionProblem prefixes = problem;
    prefixes.rule.sink_logits = {};
    prefixes.tables = workspace.tables;
    prefixes.lengths = workspace.lengths;
    prefixes.query_indptr = workspace.query_indptr;
    prefixes.end = shared.lengths;
    return prefixes;
}

AttentionProblem behind_prefixes(const AttentionProblem& problem, const SharedPrefixes& shared,
                                 const Workspace& workspace) noexcept {
    for (std::size_t g = 0; g < shared.lengths.size(); ++g) {
        const auto first = static_cast<std::size_t>(shared.indptr[g]);
        const auto behind = static_cast<std::size_t>(shared.indptr[g + 1]);
        std::ranges::fill(workspace.begin.subspan(first, behind - first), shared.lengths[g]);
    }
    AttentionProblem rest = problem;
    rest.rule.sink_logits = {};
    rest.begin = workspace.begin;
    return rest;
}

payload_expected<void> find_wrong_workspace(const AttentionProblem& problem, const SharedPrefixes& shared,
                                            const HostOptions& options, std::span<std::byte> workspace,
                                            const AttentionResult& result) noexcept {
    if (const auto found = find_wrong_options(options); !found) {
        return found;
    }
    if (workspace.size() < divide(problem, shared, options, nullptr).bytes) {
        return wrong(PayloadFault::workspace_too_small, "workspace");
    }
    const MemoryRange memory = range_of(workspace);
    for (const MemoryRange& sharing : {range_of(shared.indptr), range_of(shared.lengths)}) {
        for (const ArgumentMemory& output : outputs_of(problem, result, rows_of(problem))) {
            if (overlap(sharing, output.range) || overlap(sharing, memory)) {
                return wrong(PayloadFault::overlapping, "shared");
            }
        }
    }
    return find_wrong_memory(workspace, problem, result);
}

}  // namespace

payload_expected<void> find_wrong_sizes(const AttentionProblem& problem, const SharedPrefixes& shared) noexcept {
    if (const auto found = find_misaligned({memory_of("shared", shared.indptr), memory_of("shared", shared.lengths)});
        !found) {
        return found;
    }
    if (problem.rule.window != 0) {
        return wrong(PayloadFault::bad_shape, "window");
    }
    if (!problem.begin.empty()) {
        return wrong(PayloadFault::bad_shape, "begin");
    }
    if (!problem.end.empty()) {
        return wrong(PayloadFault::bad_shape, "end");
    }
    const std::size_t groups = shared.lengths.size();
    if (shared.indptr.size() != groups + 1 || groups > problem.lengths.size()) {
        return wrong(PayloadFault::bad_shape, "shared");
    }
    return {};
}

std::size_t cascade_workspace_bytes(const AttentionProblem& problem, const SharedPrefixes& shared,
                                    const HostOptions& options) noexcept {
    const auto found = find_wrong_shape(problem)
                           .and_then([&] { return find_wrong_groups(problem, shared); })
                           .and_then([&] { return find_wrong_options(options); });
    return found ? divide(problem, shared, options, nullptr).bytes : 0;
}

payload_expected<void> cascade_attention(const AttentionProblem& problem, const SharedPrefixes& shared,
                                         const HostOptions& options, std::span<std::byte> workspace,
                                         const AttentionResult& result) noexcept {
    const auto solve = [&]() -> payload_expected<void> {
        const Workspace divided = divide(problem, shared, options, workspace.data());
        const std::size_t states = divided.part_lse.size() / 2;
        const std::size_t elements = divided.part_out.size() / 2;
        const auto part = [&](std::size_t i) {
            return AttentionResult{{divided.part_out.subspan(i * elements, elements).data(), DType::f32},
                                   divided.part_lse.subspan(i * states, states)};
        };
        const AttentionParts parts{.parts = 2,
                                   .rows = rows_of(problem),
                                   .query_heads = problem.query_heads,
                                   .head_dim = problem.cells.shape.head_dim,
                                   .out = divided.part_out,
                                   .lse = divided.part_lse,
                                   .sink_logits = problem.rule.sink_logits};
        return host_attention(over_prefixes(problem, shared, divided), options, divided.host, part(0))
            .and_then([&] {
                return host_attention(behind_prefixes(problem, shared, divided), options, divided.host, part(1));
            })
            .and_then([&] { return merge_parts(parts, result); });
    };
    return find_wrong(problem, result)
        .and_then([&] { return find_wrong_groups(problem, shared); })
        .and_then([&] { return find_wrong_prefixes(problem, shared); })
        .and_then([&] { return find_wrong_workspace(problem, shared, options, workspace, result); })
        .and_then(solve);
}

}  // namespace kvpane

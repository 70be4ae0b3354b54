// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/device_attention.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <kvpane/attention/cuda/device_problem.h>
#include <kvpane/attention/cuda/on_device.h>
#include <kvpane/attention/cuda/piece_layout.h>
#include <kvpane/attention/problem_memory.h>

namespace kvpane {

namespace {

using Found = payload_expected<void>;

constexpr std::size_t largest_grid_x = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t largest_grid_y = 65535;
constexpr std::size_t most_parts = std::numeric_limits<std::uint32_t>::max();

Found find_wrong_sizes(const AttentionProblem& problem) noexcept {
    const std::size_t n_seqs = problem.lengths.size();
    std::size_t entries = 0;
    if (problem.query_heads == 0 || problem.query_heads % problem.cells.shape.kv_heads != 0) {
        return refuse(PayloadFault::heads_do_not_divide, "query_heads");
    }
    if (problem.query_heads > largest_grid_y) {  // of which the grid's y is a part
        return refuse(PayloadFault::bad_shape, "query_heads");
    }
    if (n_seqs > largest_grid_x) {
        return refuse(PayloadFault::bad_shape, "lengths");
    }
    if (__builtin_mul_overflow(n_seqs, problem.width, &entries) || problem.tables.size() != entries) {
        return refuse(PayloadFault::bad_shape, "tables");
    }
    if (!problem.query_indptr.empty() && problem.query_indptr.size() != n_seqs + 1) {
        return refuse(PayloadFault::bad_shape, "query_indptr");
    }
    for (const auto& [span, name] : {std::pair{problem.begin, "begin"}, std::pair{problem.end, "end"}}) {
        if (!span.empty() && span.size() != n_seqs) {
            return refuse(PayloadFault::bad_shape, name);
        }
    }
    return {};
}

Found find_wrong_bounds(const AttentionProblem& problem, const DeviceBounds& bounds) noexcept {
    const std::size_t n_seqs = problem.lengths.size();
    const bool is_decode = problem.query_indptr.empty();
    if (is_decode && (bounds.rows != n_seqs || bounds.most_rows != 1)) {
        return refuse(PayloadFault::bad_shape, "bounds");
    }
    if (bounds.longest < 0 || bounds.longest > longest_sequence || bounds.rows > largest_grid_x ||
        !fits_a_grid(problem, n_seqs, bounds.most_rows) || bounds.rows > n_seqs * bounds.most_rows) {
        return refuse(PayloadFault::bad_shape, "bounds");
    }
    return {};
}

Found find_wrong_rule(const AttentionProblem& problem) noexcept {
    const AttentionRule& rule = problem.rule;
    if (rule.window < 0) {
        return refuse(PayloadFault::bad_shape, "window");
    }
    if (rule.sinks < 0) {
        return refuse(PayloadFault::bad_shape, "sinks");
    }
    if (rule.soft_cap < 0) {
        return refuse(PayloadFault::bad_shape, "soft_cap");
    }
    if (!rule.sink_logits.empty() && rule.sink_logits.size() != problem.query_heads) {
        return refuse(PayloadFault::bad_shape, "sink_logits");
    }
    if (!std::isfinite(rule.scale)) {
        return refuse(PayloadFault::out_of_range, "scale");
    }
    if (!std::isfinite(rule.soft_cap)) {
        return refuse(PayloadFault::out_of_range, "soft_cap");
    }
    return {};
}

}  // namespace

payload_expected<void> find_wrong_on_device(const AttentionProblem& problem, const DeviceBounds& bounds,
                                            const AttentionResult& result) noexcept {
    return find_wrong_on_device(problem.cells)
        .and_then([&] { return find_misaligned_arrays(problem); })
        .and_then([&] { return find_wrong_sizes(problem); })
        .and_then([&] { return find_wrong_bounds(problem, bounds); })
        .and_then([&] { return find_wrong_rule(problem); })
        .and_then([&] { return find_wrong_rows(problem, result, bounds.rows); });
}

// Rows are counted in int32; a grid has a block for each 16 queries of each KV head of the longest sequence.
bool fits_a_grid(const AttentionProblem& problem, std::size_t n_seqs, std::size_t most_rows) noexcept {
    const std::size_t group = problem.query_heads / problem.cells.shape.kv_heads;
    return most_rows <= largest_grid_x && most_rows * group <= largest_grid_x / std::max<std::size_t>(1, n_seqs);
}

payload_expected<void> find_wrong_workspace(const AttentionProblem& problem, const DeviceBounds& bounds,
                                            const AttentionResult& result, const ArgumentMemory& workspace,
                                            std::size_t bytes_needed) noexcept {
    const auto outputs = outputs_of(problem, result, bounds.rows);
    return find_misaligned({workspace})
        .and_then([&] {
            return find_overlapping({outputs[0], outputs[1], workspace}, inputs_of(problem, bounds.rows));
        })
        .and_then([&]() -> Found {
            return workspace.range.end - workspace.range.begin < bytes_needed
                       ? refuse(PayloadFault::workspace_too_small, "workspace")
                       : Found{};
        });
}

DecodeSplit split_decode(const AttentionProblem& problem, const DeviceBounds& bounds) noexcept {
    // A large device has 132 multiprocessors, which hold 2 to 8 of these thread blocks each; more chunks than keep them
    // busy only make the merge dearer, and so do short ones.
    constexpr Length wanted_blocks = 1024;
    constexpr Length shortest_chunk = 256;
    constexpr Length step = 64;  // cells that a thread block reads at once, at most
    const Length window = problem.rule.window;
    const Length most_seen =
        window == 0
            ? bounds.longest
            : std::min(bounds.longest, std::min(problem.rule.sinks, bounds.longest) + std::min(window, bounds.longest));
    const Length blocks =
        std::max<Length>(1, static_cast<Length>(problem.lengths.size()) * problem.cells.shape.kv_heads);
    const Length useful = std::max<Length>(1, most_seen / shortest_chunk);
    const Length chunks = std::clamp<Length>(wanted_blocks / blocks, 1, useful);
    const Length chunk = std::max(step, (most_seen + chunks * step - 1) / (chunks * step) * step);
    return {chunk, static_cast<std::uint32_t>(std::max<Length>(1, (most_seen + chunk - 1) / chunk))};
}

std::size_t device_workspace_bytes(const AttentionProblem& problem, const DeviceBounds& bounds) noexcept {
    if (!problem.query_indptr.empty()) {
        return 0;
    }
    const std::size_t states = problem.lengths.size() * problem.query_heads;
    return split_decode(problem, bounds).chunks * states * (problem.cells.shape.head_dim + 1) * sizeof(float);
}

payload_expected<void> device_attention(const AttentionProblem& problem, const DeviceBounds& bounds,
                                        std::span<std::byte> workspace, const AttentionResult& result,
                                        void* stream) noexcept {
    return find_wrong_on_device(problem, bounds, result)
        .and_then([&] {
            return find_wrong_workspace(problem, bounds, result, {"workspace", range_of(workspace), alignof(float)},
                                        device_workspace_bytes(problem, bounds));
        })
        .and_then([&] { return on_device::attention(problem, bounds, workspace, result, stream); });
}

payload_expected<void> device_find_wrong_entry(const AttentionProblem& problem, std::uint64_t* scratch, WrongEntry* out,
                                               void* stream) noexcept {
    return find_wrong_on_device(problem.cells)
        .and_then([&] { return find_misaligned_arrays(problem); })
        .and_then([&] { return find_wrong_sizes(problem); })
        .and_then([&] { return find_wrong_rule(problem); })
        .and_then([&]() -> Found {
            if (problem.tables.size() > largest_grid_x) {  // more threads than that, and some for each sequence
                return refuse(PayloadFault::bad_shape, "tables");
            }
            if (scratch == nullptr) {
                return refuse(PayloadFault::bad_shape, "scratch");
            }
            if (out == nullptr) {
                return refuse(PayloadFault::bad_shape, "out");
            }
            const ArgumentMemory scratch_memory = memory_of("scratch", std::span(scratch, 1));
            const ArgumentMemory out_memory = memory_of("out", std::span(out, 1));
            return find_misaligned({scratch_memory, out_memory}).and_then([&] {
                return find_overlapping({scratch_memory, out_memory}, inputs_of(problem, 0));  // queries are not read
            });
        })
        .and_then([&] { return on_device::find_wrong_entry(problem, scratch, out, stream); });
}

payload_expected<void> device_merge_parts(const AttentionParts& parts, const AttentionResult& result,
                                          void* stream) noexcept {
    return find_wrong(parts, result).and_then([&]() -> Found {
        if (parts.parts > most_parts) {
            return refuse(PayloadFault::bad_shape, "parts");
        }
        return on_device::merge_parts(parts, result, stream);
    });
}

}  // namespace kvpane

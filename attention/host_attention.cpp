// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_attention.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include <kvpane/attention/host_item.h>
#include <kvpane/attention/host_kernels.h>
#include <kvpane/attention/host_workspace.h>
#include <kvpane/attention/merge.h>

namespace kvpane {

namespace {

void merge_sequence(const AttentionProblem& problem, const HostOptions& options, const HostWorkspace& workspace,
                    std::size_t sequence, const AttentionResult& result) noexcept {
    const SequenceItems items = items_of(problem, options, sequence);
    const SequenceRows rows = rows_of_sequence(problem, sequence);
    const std::size_t head_dim = problem.cells.shape.head_dim;
    const std::size_t first_part = workspace.first_state[sequence];
    const std::size_t first_state = rows.begin * problem.query_heads;
    const AttentionParts parts{.parts = items.parts,
                               .rows = rows.size(),
                               .query_heads = problem.query_heads,
                               .head_dim = problem.cells.shape.head_dim,
                               .out = workspace.part_out.subspan(first_part * head_dim, items.part_states * head_dim),
                               .lse = workspace.part_lse.subspan(first_part, items.part_states),
                               .sink_logits = problem.rule.sink_logits};
    AttentionResult part_of = result;
    part_of.out.data = static_cast<std::byte*>(result.out.data) + first_state * head_dim * bytes_of(result.out.dtype);
    if (!result.lse.empty()) {
        part_of.lse = result.lse.subspan(first_state, rows.size() * problem.query_heads);
    }
    if (!merge_parts(parts, part_of)) {
        std::terminate();  // the problem was found right, and these spans are ours
    }
}

// Each thread takes the next item until there is none. What an item computes does not depend on who takes it.
class Work {
public:
    Work(const AttentionProblem& problem, const HostOptions& options, const HostWorkspace& workspace,
         const AttentionResult& result) noexcept
        : problem_(problem), options_(options), workspace_(workspace), result_(result) {
        std::size_t item = 0;
        std::size_t state = 0;
        for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
            const SequenceItems items = items_of(problem, options, i);
            workspace.first_item[i] = item;
            workspace.first_state[i] = state;
            workspace.items_left[i] = items.items;
            item += items.items;
            state += items.part_states;
        }
        workspace.first_item.back() = item;
        workspace.first_state.back() = state;
    }

    void run() noexcept {
        const auto helpers =
            static_cast<unsigned>(std::min<std::size_t>(options_.threads, workspace_.first_item.back()));
        std::vector<std::jthread> threads;
        try {
            for (unsigned i = 1; i < helpers; ++i) {
                threads.emplace_back([this, i] { take_items(i); });
            }
        } catch (const std::exception&) {
            // Fewer threads do the same work.
        }
        take_items(0);
    }

private:
    void take_items(unsigned thread) noexcept {
        const auto scratch = workspace_.scratch.subspan(thread * workspace_.scratch_floats, workspace_.scratch_floats);
        const auto& first_item = workspace_.first_item;
        for (std::size_t item = next_++; item < first_item.back(); item = next_++) {
            const auto behind = std::ranges::upper_bound(first_item, item);
            const auto sequence = static_cast<std::size_t>(behind - first_item.begin()) - 1;
            HostItem(problem_, options_, workspace_, scratch, sequence, item - first_item[sequence]).run(result_);
            const bool is_split = workspace_.first_state[sequence + 1] > workspace_.first_state[sequence];
            if (std::atomic_ref(workspace_.items_left[sequence]).fetch_sub(1) == 1 && is_split) {
                merge_sequence(problem_, options_, workspace_, sequence, result_);
            }
        }
    }

    const AttentionProblem& problem_;
    const HostOptions& options_;
    const HostWorkspace& workspace_;
    const AttentionResult& result_;
    std::atomic<std::size_t> next_ = 0;
};

}  // namespace

HostPath best_host_path() noexcept {
#if defined(__x86_64__)
    // Every processor with AVX2 has F16C, and not every compiler can ask for it.
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has_avx2 && avx2_kernels(DType::f32).logits != nullptr ? HostPath::avx2 : HostPath::portable;
#else
    return HostPath::portable;
#endif
}

std::size_t host_workspace_bytes(const AttentionProblem& problem, const HostOptions& options) noexcept {
    const auto found = find_wrong_shape(problem).and_then([&] { return find_wrong_options(options); });
    return found ? divide_workspace(problem, options, nullptr).bytes : 0;
}

payload_expected<void> host_attention(const AttentionProblem& problem, const HostOptions& options,
                                      std::span<std::byte> workspace, const AttentionResult& result) noexcept {
    return find_wrong(problem, result)
        .and_then([&] { return find_wrong_options(options); })
        .and_then([&]() -> payload_expected<void> {
            if (workspace.size() < divide_workspace(problem, options, nullptr).bytes) {
                return tl::unexpected(PayloadError{PayloadFault::workspace_too_small, "workspace"});
            }
            return find_wrong_memory(workspace, problem, result);
        })
        .map([&] {
            const HostWorkspace divided = divide_workspace(problem, options, workspace.data());
            Work(problem, options, divided, result).run();
        });
}

}  // namespace kvpane

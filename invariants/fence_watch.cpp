// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/fence_watch.h>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

void FenceWatch::before(const BlockPool& pool) {
    was_held_.resize(pool.blocks() + std::size_t{1});
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        was_held_[i] = pool.refs(BlockId{i}) > 0;
    }
}

void FenceWatch::after(const BlockPool& pool, const std::set<std::uint64_t>& open_steps,
                       std::optional<std::uint64_t> ended, bool has_hit) {
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        const bool maybe_hit = has_hit && pool.content(block) != no_content;
        if (pool.refs(block) > 0) {
            waits_for_.erase(i);  // a hit took it back
        } else if (open_steps.empty()) {
            continue;
        } else if (was_held_[i] || (maybe_hit && !waits_for_.contains(i) && pool.state(block) == BlockState::fenced)) {
            waits_for_[i] = {open_steps, open_steps};
        } else if (maybe_hit && waits_for_.contains(i)) {
            waits_for_[i].at_most = open_steps;
        }
    }
    if (ended) {
        for (auto& [block, wait] : waits_for_) {
            wait.at_least.erase(*ended);
            wait.at_most.erase(*ended);
        }
        std::erase_if(waits_for_, [&](const auto& waiting) {
            const auto& [block, wait] = waiting;
            return wait.at_most.empty() || (wait.at_least.empty() && pool.state(BlockId{block}) != BlockState::fenced);
        });
    }
}

std::optional<std::string> FenceWatch::wrong_block(const BlockPool& pool) const {
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const bool is_fenced = pool.state(BlockId{i}) == BlockState::fenced;
        const auto waiting = waits_for_.find(i);
        if (waiting != waits_for_.end() && !waiting->second.at_least.empty() && !is_fenced) {
            return text("block ", i, " was given up while step ", *waiting->second.at_least.begin(),
                        " was open, which has not ended, and it is not fenced");
        }
        if (waiting == waits_for_.end() && is_fenced) {
            return text("block ", i, " is fenced, and every step that it waited for has ended");
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants

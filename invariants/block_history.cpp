// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/block_history.h>

#include <algorithm>
#include <utility>

namespace kvpane::invariants {

void BlockHistory::note(Kind kind, BlockId block, Name sequence, std::uint32_t group, std::uint32_t first,
                        std::uint32_t last) noexcept {
    const std::size_t at = to_index(block);
    if (block == null_block || at >= counts_.size()) {
        return;
    }
    Touch* const ring = touches_.get() + at * kept;
    std::uint64_t& count = counts_[at];
    if (kind == Kind::written && count > 0) {
        Touch& latest = ring[(count - 1) % kept];
        if (latest.kind == kind && latest.sequence == sequence && latest.last + 1 == first) {
            latest.operation = operation_;
            latest.verb = verb_;
            latest.last = last;
            return;
        }
    }
    ring[count++ % kept] = {operation_, operation_, sequence, first, last, static_cast<std::uint16_t>(group),
                            verb_,      kind};
}

std::vector<BlockHistory::Touch> BlockHistory::of(BlockId block) const {
    std::vector<Touch> touches;
    if (to_index(block) < counts_.size()) {
        const std::uint64_t count = counts_[to_index(block)];
        for (std::uint64_t i = count - std::min<std::uint64_t>(count, kept); i < count; ++i) {
            touches.push_back(touches_[to_index(block) * kept + i % kept]);
        }
    }
    std::ranges::stable_sort(touches, {}, [](const Touch& touch) { return std::pair(touch.since, touch.kind); });
    return touches;
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/fences.h>

#include <algorithm>

namespace kvpane {

expected<void> Fences::begin(StepId step) {
    const bool is_open = std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.step == step; });
    if (is_open) {
        return unexpected(Error::invalid_argument);
    }
    open_.push_back({step, ++epoch_});
    return {};
}

expected<void> Fences::end(StepId step) noexcept {
    const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.step == step; });
    if (found == open_.end()) {
        return unexpected(Error::invalid_argument);
    }
    open_.erase(found);
    return {};
}

void Fences::add_to(Digest& digest) const noexcept {
    digest.add(open_.size());
    for (const Open& o : open_) {
        digest.add(static_cast<std::uint64_t>(o.step));
        digest.add(epoch_ - o.epoch);
    }
}

}  // namespace kvpane

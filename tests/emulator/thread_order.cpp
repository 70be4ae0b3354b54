// SPDX-License-Identifier: Apache-2.0
#include "emulator/thread_order.h"

#include <utility>

#include <kvpane/attention/cuda/kernel_env.cuh>

namespace kvpane::emulator {

void ThreadOrder::start(unsigned threads) {
    constexpr std::uint64_t most_patience = 512;  // a warp of prefill_tile takes some 350 steps from barrier to barrier
    patience_ = random_() % 2 == 0 ? 1 : most_patience;
    warp_ = 0;
    ready_.resize((threads + cuda::warp_size - 1) / cuda::warp_size);
    for (std::vector<unsigned>& warp : ready_) {
        warp.clear();  // of a block that ended with a fault
    }
    for (unsigned i = 0; i < threads; ++i) {
        add(i);
    }
}

void ThreadOrder::add(unsigned thread) { ready_[thread / cuda::warp_size].push_back(thread); }

std::optional<unsigned> ThreadOrder::take() {
    if (ready_[warp_].empty() || random_() % patience_ == 0) {
        warp_ = random_() % ready_.size();
        for (std::size_t i = 0; i < ready_.size() && ready_[warp_].empty(); ++i) {
            warp_ = (warp_ + 1) % ready_.size();
        }
    }
    std::vector<unsigned>& warp = ready_[warp_];
    if (warp.empty()) {
        return std::nullopt;
    }
    std::swap(warp[random_() % warp.size()], warp.back());
    const unsigned thread = warp.back();
    warp.pop_back();
    return thread;
}

}  // namespace kvpane::emulator

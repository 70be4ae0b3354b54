// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace kvpane::emulator {

// Which thread of a block goes on next, of those that can. In half of the blocks, as the seed has it, that is one of
// any warp, so that warps advance side by side. In the others a warp goes on alone as long as it can, with few
// exceptions: what it overwrites, far ahead, others have not read yet. (Random priorities that rarely change: "A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.)
class ThreadOrder {
public:
    explicit ThreadOrder(std::mt19937_64& random) : random_(random) {}

    // A block begins: all of its threads can go on.
    void start(unsigned threads);

    // The thread can go on. REQUIRES that it is not known as one that can.
    void add(unsigned thread);

    // Takes the next one out; nothing if none can go on. COST its block's warps.
    std::optional<unsigned> take();

private:
    std::mt19937_64& random_;
    std::vector<std::vector<unsigned>> ready_;  // [warps] threads that can go on
    std::size_t warp_ = 0;                      // of the last one taken
    std::uint64_t patience_ = 1;                // steps of a warp until another one comes between, on average
};

}  // namespace kvpane::emulator

// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/floors.h"

#include <algorithm>
#include <numeric>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "benchmarks/bench.h"
#include "support/workloads.h"

namespace kvpane::bench {

std::vector<std::uint32_t> shuffled_ids(std::uint32_t n) {
    std::vector<std::uint32_t> ids(n);
    std::iota(ids.begin(), ids.end(), 1);
    testing::Lcg lcg(1);
    for (std::size_t left = n; left > 1; --left) {
        std::swap(ids[left - 1], ids[lcg.below(left)]);
    }
    return ids;
}

IdStack::IdStack(std::uint32_t blocks) : ids_(blocks), records_(blocks + std::size_t{1}), size_(blocks) {
    std::iota(ids_.rbegin(), ids_.rend(), 1);
}

SlotWriter::SlotWriter(std::size_t sequences, std::uint32_t blocks)
    : free_(blocks), tails_(sequences), slots_(sequences) {}

void SlotWriter::run(std::size_t steps) {
    constexpr std::uint32_t block_size = 16;
    for (std::size_t step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < tails_.size(); ++i) {
            Tail& tail = tails_[i];
            const std::uint32_t offset = tail.length++ % block_size;
            if (offset == 0) {
                if (tail.block != 0) {
                    free_.push(tail.block);  // keeps the pool from running dry, whatever the number of steps
                }
                tail.block = free_.pop();
            }
            slots_[i] = Slot{tail.block} * block_size + offset;
        }
        keep(slots_.data());
    }
}

HashAndRead::HashAndRead(std::uint32_t blocks) : lines_(blocks), order_(shuffled_ids(blocks)) {
    std::ranges::for_each(order_, [](std::uint32_t& id) { --id; });
}

void HashAndRead::run(std::span<const Token> tokens, std::uint32_t block_size) {
    constexpr std::size_t ahead = 16;  // reads in flight; a core has 10 to 16 line buffers
    const std::size_t mask = order_.size() - 1;
    for (; tokens.size() >= block_size; tokens = tokens.subspan(block_size)) {
        sum_ += XXH3_64bits(tokens.data(), block_size * sizeof(Token));
        __builtin_prefetch(&lines_[order_[(at_ + ahead) & mask]]);
        sum_ += lines_[order_[at_++ & mask]].word;
    }
    keep(&sum_);
}

ShareAtRandom::ShareAtRandom(std::uint32_t blocks, std::size_t shared)
    : counters_(blocks + std::size_t{1}, 1), ids_(shuffled_ids(blocks)), copy_(shared) {
    ids_.resize(shared);
}

void ShareAtRandom::share() {
    for (const std::uint32_t id : ids_) {
        ++counters_[id];
    }
    std::ranges::copy(ids_, copy_.begin());
    keep(copy_.data());
    keep(counters_.data());
}

void ShareAtRandom::give_back() {
    for (const std::uint32_t id : copy_) {
        --counters_[id];
    }
    keep(counters_.data());
}

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/allocator/ids.h>

// The least that any implementation must do, as bare as possible: no states, no checks, no errors.
namespace kvpane::bench {

// 1..n in an order that no prefetcher guesses.
std::vector<std::uint32_t> shuffled_ids(std::uint32_t n);

// Taking and giving back: a stack of ids, and a store to the record of each block that is taken.
class IdStack {
public:
    explicit IdStack(std::uint32_t blocks);

    std::uint32_t pop() noexcept {
        const std::uint32_t id = ids_[--size_];
        records_[id] = 1;
        return id;
    }
    void push(std::uint32_t id) noexcept { ids_[size_++] = id; }

private:
    std::vector<std::uint32_t> ids_;
    std::vector<std::uint32_t> records_;  // [blocks + 1]
    std::size_t size_;
};

// A decode step: bump a length, write one slot; every 16th time pop an id.
class SlotWriter {
public:
    SlotWriter(std::size_t sequences, std::uint32_t blocks);

    // `steps` tokens for each sequence. The slots stay in the cache, as an engine's do.
    void run(std::size_t steps);

private:
    struct Tail {
        std::uint32_t length = 0;
        std::uint32_t block = 0;
    };

    IdStack free_;
    std::vector<Tail> tails_;
    std::vector<Slot> slots_;
};

// A lookup: XXH3 of the tokens, and one independent read of a random cache line for each block, prefetched.
class HashAndRead {
public:
    // REQUIRES a power of two.
    explicit HashAndRead(std::uint32_t blocks);

    void run(std::span<const Token> tokens, std::uint32_t block_size);

private:
    struct alignas(64) Line {
        std::uint64_t word = 0;
    };

    std::vector<Line> lines_;           // [blocks]
    std::vector<std::uint32_t> order_;  // [blocks]
    std::size_t at_ = 0;                // in order_
    std::uint64_t sum_ = 0;
};

// Sharing: increment the counters of blocks that lie at random, and copy their ids.
class ShareAtRandom {
public:
    ShareAtRandom(std::uint32_t blocks, std::size_t shared);

    void share();
    void give_back();

private:
    std::vector<std::uint32_t> counters_;  // [blocks + 1]
    std::vector<std::uint32_t> ids_;       // [shared]
    std::vector<std::uint32_t> copy_;      // [shared]
};

}  // namespace kvpane::bench

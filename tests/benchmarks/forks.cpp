// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "benchmarks/decoding.h"
#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"
#include "support/workloads.h"

namespace kvpane::bench {

namespace {

using testing::granted;

constexpr std::size_t shared = 2048;
constexpr std::size_t repetitions = 64;
constexpr double units = static_cast<double>(repetitions * shared);

// The references to what the first sequence holds.
std::uint64_t references(const Manager& kv, SequenceHandle sequence) {
    std::uint64_t sum = 0;
    for (const BlockId block : granted(kv.table(sequence, GroupId{0})).run) {
        sum += kv.pool().refs(block);
    }
    return sum;
}

}  // namespace

// Workload W3: a fork of 2048 blocks that lie at random in a pool of 65 536, and its release.
void forks(Bench& bench) {
    constexpr std::uint32_t blocks = 65'536;
    Decoding decoding({.sequences = 1, .blocks_each = Length{shared}, .blocks = blocks, .cache = true});
    const SequenceHandle parent = decoding.sequences().front();
    ShareAtRandom sharing(blocks, shared);
    for (const bool released : {false, true}) {
        bench.measure(
            {.workload = "W3", .variant = released ? "release" : "fork", .unit = "block", .goal = released ? 0 : 1.5},
            [&] {
                Sample sample{0, units};
                std::uint64_t held = 0;
                for (std::size_t i = 0; i < repetitions; ++i) {
                    SequenceHandle child;
                    const double forking = time([&] { child = granted(decoding.kv.fork(parent)); });
                    held += references(decoding.kv, parent);
                    const double releasing = time([&] { granted(decoding.kv.release(child)); });
                    held += references(decoding.kv, parent);
                    sample.nanoseconds += released ? releasing : forking;
                }
                sample.checks = {{"references", held, 3 * repetitions * shared}};
                return sample;
            },
            [&] {
                Sample sample{0, units};
                for (std::size_t i = 0; i < repetitions; ++i) {
                    const double forking = time([&] { sharing.share(); });
                    const double releasing = time([&] { sharing.give_back(); });
                    sample.nanoseconds += released ? releasing : forking;
                }
                return sample;
            });
    }
}

}  // namespace kvpane::bench

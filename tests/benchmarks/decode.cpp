// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "benchmarks/decoding.h"
#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"
#include "support/recorded_workloads.h"

namespace kvpane::bench {

namespace {

using B = testing::DecodeWorkload;

constexpr double tokens = static_cast<double>(B::sequences) * static_cast<double>(B::steps);

Sample ours(bool cache) {
    B b(cache);
    Sample sample{time([&] { b.decode(); }), tokens};
    sample.checks = {{"tables", b.hash_of_tables(), B::tables}, {"used", b.kv.pool().live_blocks(), B::used}};
    b.release();
    sample.checks.push_back({"queue", testing::fnv(testing::queue_of(b.kv)), B::queue});
    return sample;
}

Sample least() {
    SlotWriter writer(B::sequences, B::used);
    return {time([&] { writer.run(std::size_t{B::steps}); }), tokens};
}

}  // namespace

// Workload B: 256 sequences, one reserve and one commit for each token.
void decode(Bench& bench) {
    for (const bool cache : {false, true}) {
        bench.measure(
            {.workload = "B", .variant = cache ? "cache on" : "cache off", .unit = "token", .goal = 4},
            [=] { return ours(cache); }, least);
    }
}

// As many sequences as fit with room for 1536 tokens each, as in B; cache off. The floor is the smallest pool.
void decode_at_scale(Bench& bench) {
    constexpr Length blocks_each = 98;
    const auto shape = [](Length blocks) {
        return Decoding::Shape{static_cast<std::size_t>(blocks / blocks_each), B::prompt_length / 16, blocks};
    };
    Decoding small(shape(10'000));
    for (const Length blocks : {Length{1'000'000}, Length{10'000'000}}) {
        if (blocks > 1'000'000 && !bench.large()) {
            continue;
        }
        Decoding large(shape(blocks));
        bench.measure(
            {.workload = "B-scale", .variant = std::to_string(blocks) + ", cache off", .unit = "token", .goal = 3},
            [&] { return large.run(Decoding::Calls::two_for_each); },
            [&] { return small.run(Decoding::Calls::two_for_each); });
    }
}

}  // namespace kvpane::bench

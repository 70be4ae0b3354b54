// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "benchmarks/decoding.h"
#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"

// Workload W4: one token for each sequence in one call, slot mapping included.
namespace kvpane::bench {

namespace {

constexpr Length spare_blocks = 4096;  // for what the steps add

Sample least(SlotWriter& writer, std::size_t sequences) {
    const std::size_t steps = 65'536 / sequences;
    return {time([&] { writer.run(steps); }), static_cast<double>(steps * sequences)};
}

}  // namespace

void steps(Bench& bench) {
    struct Size {
        std::size_t sequences;
        Length blocks_each;
    };
    for (const auto& [sequences, blocks_each] : {Size{256, 128}, Size{64, 2048}, Size{1, 2048}}) {
        const Length blocks = static_cast<Length>(sequences) * blocks_each + spare_blocks;
        SlotWriter writer(sequences, static_cast<std::uint32_t>(blocks));
        for (const bool cache : {false, true}) {
            Decoding decoding({sequences, blocks_each, blocks, cache});
            const std::string size = std::to_string(sequences) + " x " + std::to_string(blocks_each);
            bench.measure(
                {.workload = "W4",
                 .variant = size + (cache ? ", cache on" : ", cache off"),
                 .unit = "token",
                 .goal = 4},
                [&] { return decoding.run(Decoding::Calls::one_for_all); },
                [&, n = sequences] { return least(writer, n); });
        }
    }
}

// W4c: the same steps, with and without 60 000 cached blocks that nobody uses.
void steps_beside_cached_blocks(Bench& bench) {
    constexpr Length blocks = 65'536;
    Decoding crowded({.sequences = 32, .blocks_each = 128, .blocks = blocks, .cache = true, .idle_cached = 60'000});
    Decoding empty({.sequences = 32, .blocks_each = 128, .blocks = blocks, .cache = true});
    bench.measure(
        {.workload = "W4c", .variant = "32 x 128, 60000 idle", .unit = "token", .goal = 1.1},
        [&] {
            Sample sample = crowded.run(Decoding::Calls::one_for_all);
            const std::uint64_t cached = crowded.kv.pool().cached_blocks();
            sample.checks.push_back({"cached", cached, 60'000});
            return sample;
        },
        [&] { return empty.run(Decoding::Calls::one_for_all); });
}

}  // namespace kvpane::bench

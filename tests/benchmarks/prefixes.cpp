// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"
#include "support/recorded_workloads.h"

// Workloads C, D, W5 and W2: prompts and the prefix cache.
namespace kvpane::bench {

namespace {

using testing::granted;

constexpr std::uint32_t block_size = 16;
constexpr std::size_t blocks_of_a_prompt = 2048;  // in C, D and W2

// C, 25 times, the times of each part.
class Hits {
public:
    struct Round {
        double probe = 0;
        double admit = 0;
        double release = 0;
        Check check{"hit tokens", 0, std::uint64_t{repetitions} * std::uint64_t{testing::ReturningPrompt::hit_tokens}};
    };
    static constexpr std::size_t repetitions = 25;
    static constexpr double units = static_cast<double>(repetitions * blocks_of_a_prompt);

    Round run() {
        Round round;
        Admission admission;
        const Prompt prompt{.tokens = c_.prompt};
        for (std::size_t i = 0; i < repetitions; ++i) {
            round.probe += time([&] { granted(c_.kv.probe(prompt)); });
            round.admit += time([&] { admission = granted(c_.kv.admit(prompt)); });
            round.release += time([&] { granted(c_.kv.release(admission.sequence)); });
            round.check.value += static_cast<std::uint64_t>(admission.cached_tokens);
        }
        return round;
    }
    const testing::Tokens& prompt() const { return c_.prompt; }

private:
    testing::ReturningPrompt c_;
};

}  // namespace

// The match is what probe() does; an admission does the same and then holds what was found.
void returning_prompt(Bench& bench) {
    Hits hits;
    HashAndRead lookup(16'384);
    ShareAtRandom sharing(16'385, blocks_of_a_prompt);
    const auto repeated = [](auto work) {
        return time([&] {
            for (std::size_t i = 0; i < Hits::repetitions; ++i) {
                work();
            }
        });
    };
    const Row row{.workload = "C", .variant = "match", .unit = "block"};
    bench.measure(
        row,
        [&] {
            const Hits::Round round = hits.run();
            return Sample{round.probe, Hits::units, {round.check}};
        },
        [&] {
            return Sample{repeated([&] { lookup.run(hits.prompt(), block_size); }), Hits::units};
        });
    bench.measure(
        {.workload = "C", .variant = "after the match", .unit = "block", .goal = 2},
        [&] {
            const Hits::Round round = hits.run();
            return Sample{round.admit - round.probe, Hits::units, {round.check}};
        },
        [&] {
            return Sample{repeated([&] { sharing.share(); }), Hits::units};
        });
    bench.measure(
        {.workload = "C", .variant = "admit and release", .unit = "block"},
        [&] {
            const Hits::Round round = hits.run();
            return Sample{round.admit + round.release, Hits::units, {round.check}};
        },
        [&] {
            return Sample{repeated([&] {
                              lookup.run(hits.prompt(), block_size);
                              sharing.share();
                              sharing.give_back();
                          }),
                          Hits::units};
        });
}

// D: the first 8 prompts find clean blocks, the others evict. The floor is that of W2 and that of A.
void cold_prompts(Bench& bench) {
    using D = testing::ColdPrompts;
    constexpr std::uint64_t clean = 8;
    const D prompts;  // the floor reads their tokens
    HashAndRead lookup(16'384);
    IdStack stack(16'384);
    std::vector<std::uint32_t> ids(blocks_of_a_prompt);
    for (const bool evicting : {false, true}) {
        const std::uint64_t first = evicting ? clean : 0;
        const std::uint64_t last = evicting ? D::prompts : clean;
        const double units = static_cast<double>((last - first) * blocks_of_a_prompt);
        const auto ours = [=] {
            D d;
            Length hits = 0;
            Sample sample{0, units};
            for (std::uint64_t i = 0; i < D::prompts; ++i) {
                const double spent = time([&] { hits += d.run(i); });
                sample.nanoseconds += i >= first && i < last ? spent : 0;
            }
            sample.checks = {{"queue", testing::fnv(testing::queue_of(d.kv)), D::queue},
                             {"hit tokens", static_cast<std::uint64_t>(hits), 0}};
            return sample;
        };
        bench.measure({.workload = "D", .variant = evicting ? "evicting" : "clean blocks", .unit = "block"}, ours, [&] {
            return Sample{time([&] {
                              for (std::uint64_t i = first; i < last; ++i) {
                                  lookup.run(prompts.prompt(i), block_size);
                                  std::ranges::generate(ids, [&] { return stack.pop(); });
                                  std::ranges::for_each(ids, [&](std::uint32_t id) { stack.push(id); });
                              }
                          }),
                          units};
        });
    }
}

// W5: the floor is a lookup of every prompt, sharing its blocks, and the decode steps.
void shared_prefixes(Bench& bench) {
    using W5 = testing::SharedPrefixes;
    constexpr double units = static_cast<double>(W5::requests);
    constexpr std::size_t alive = 64;
    const W5 prompts;
    HashAndRead lookup(16'384);
    ShareAtRandom sharing(12'288, 160);
    SlotWriter writer(alive, 12'288);
    const auto ours = [] {
        W5 w5;
        Sample sample{time([&] { w5.run(); }), units};
        const Statistics& statistics = w5.kv.statistics();
        sample.checks = {{"tables", w5.hash_of_tables(), W5::tables},
                         {"queue", testing::fnv(testing::queue_of(w5.kv)), W5::queue},
                         {"hit tokens", statistics.hit_tokens, W5::hit_tokens},
                         {"queried tokens", statistics.queried_tokens, W5::queried_tokens},
                         {"refusals", statistics.refused_later + statistics.refused_never, 0},
                         {"decoded tokens", w5.decoded(), W5::decoded_tokens},
                         {"evicted", statistics.evicted_blocks, W5::evicted_blocks}};
        return sample;
    };
    bench.measure({.workload = "W5", .variant = "1000 requests", .unit = "request"}, ours, [&] {
        return Sample{time([&] {
                          for (const testing::Tokens& prompt : prompts.prompts()) {
                              lookup.run(prompt, block_size);
                              sharing.share();
                              sharing.give_back();
                          }
                          writer.run(W5::decoded_tokens / alive);
                      }),
                      units};
    });
}

// W2: 32 prompts of 2048 blocks round robin; what one of them touches has left the inner caches when it comes again.
void cold_lookup(Bench& bench) {
    using W2 = testing::IndexedPrompts;
    constexpr double units = static_cast<double>(W2::prompts * blocks_of_a_prompt);
    W2 w2;
    HashAndRead lookup(W2::entries);
    const auto for_each_prompt = [](auto work) {
        return time([&] {
            for (std::uint64_t i = 0; i < W2::prompts; ++i) {
                work(i);
            }
        });
    };
    bench.measure(
        {.workload = "W2", .variant = "2048 of 65536 blocks", .unit = "block", .goal = 2},
        [&] {
            Length hits = 0;
            const double spent = for_each_prompt([&](std::uint64_t i) { hits += w2.probe(i); });
            const std::uint64_t all = W2::prompts * std::uint64_t{W2::hit_tokens};
            return Sample{spent, units, {{"hit tokens", static_cast<std::uint64_t>(hits), all}}};
        },
        [&] {
            return Sample{for_each_prompt([&](std::uint64_t i) { lookup.run(w2.prompt(i), block_size); }), units};
        });
}

}  // namespace kvpane::bench

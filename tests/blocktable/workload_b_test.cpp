// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "support/workloads.h"

namespace kvpane::testing {

namespace {

constexpr Token sequences_in_all = 256;
constexpr Length prompt_length = 1024;
constexpr Length chunk = 512;
constexpr int steps = 512;

struct Outcome {
    std::uint32_t used = 0;
    std::uint64_t tables = 0;
    std::uint64_t queue = 0;
};

Outcome run_workload_b(bool cache) {
    Config config = workload(Length{sequences_in_all} * (1536 / 16 + 2) + 1);
    config.prefix_cache.enabled = cache;
    Manager kv(config);
    std::vector<SequenceHandle> sequences;
    for (Token s = 0; s < sequences_in_all; ++s) {
        const Tokens prompt = drawn_tokens(static_cast<std::uint64_t>(s), prompt_length);
        sequences.push_back(must(kv.admit({.tokens = prompt, .compute = chunk})).sequence);
        must(kv.append(sequences.back(), std::span(prompt).subspan(chunk)));
    }
    Token pending = 7;
    for (int t = 0; t < steps; ++t) {
        for (const SequenceHandle sequence : sequences) {
            must(reserve(kv, sequence, 1));
            must(kv.commit(sequence, std::span(&pending, 1)));
        }
        pending = t & 0xffff;
    }
    Outcome outcome;
    outcome.used = kv.pool().live_blocks();
    Fnv tables;
    for (const SequenceHandle sequence : sequences) {
        BOOST_TEST_REQUIRE(kv.length(sequence).value() == prompt_length + steps);
        tables.add(table_of(kv, sequence));
    }
    outcome.tables = tables.value();
    for (const SequenceHandle sequence : sequences) {
        must(kv.release(sequence));
    }
    outcome.queue = fnv(queue_of(kv));
    return outcome;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workload_b)

BOOST_AUTO_TEST_CASE(decoding_256_sequences_gives_the_recorded_tables_and_free_queue_with_the_cache_off_or_on) {
    for (const bool cache : {false, true}) {
        const Outcome outcome = run_workload_b(cache);
        BOOST_TEST(outcome.used == 24'576U);
        BOOST_TEST(outcome.tables == 0x87f10fcb64ae1125U);
        BOOST_TEST(outcome.queue == 0x4aa05075f5174f25U);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

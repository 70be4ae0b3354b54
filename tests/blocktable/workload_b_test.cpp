// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <vector>

#include <kvpane/allocator/digest.h>

namespace kvpane::testing {

namespace {

constexpr Token sequences_in_all = 256;
constexpr Length prompt_length = 1024;
constexpr Length chunk = 512;
constexpr int steps = 512;

// tokens(s, n) of the workloads: a linear congruential generator that starts at s.
KVPANE_WRAPS Tokens drawn_tokens(std::uint64_t s, Length count) {
    std::uint64_t x = s;
    Tokens out;
    for (Length i = 0; i < count; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        out.push_back(static_cast<Token>((x >> 33U) % 128'000U));
    }
    return out;
}

// FNV-1a over block ids.
class Fnv {
public:
    KVPANE_WRAPS void add(std::uint32_t id) { hash_ = (hash_ ^ id) * 0x100000001b3U; }
    void add(const Ids& ids) {
        for (const std::uint32_t id : ids) {
            add(id);
        }
    }
    std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325U;
};

struct Outcome {
    std::uint32_t used = 0;
    std::uint64_t tables = 0;
    std::uint64_t queue = 0;
};

Outcome run_workload_b(bool cache) {
    Config config = plain(16, Length{sequences_in_all} * (1536 / 16 + 2));
    config.prefix_cache.enabled = cache;
    config.window_release = WindowRelease::reserve;
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
    Fnv queue;
    queue.add(queue_of(kv));
    outcome.queue = queue.value();
    return outcome;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workload_b)

BOOST_AUTO_TEST_CASE(decoding_256_sequences_gives_the_recorded_tables_and_free_queue) {
    const Outcome outcome = run_workload_b(false);
    BOOST_TEST(outcome.used == 24'576U);
    BOOST_TEST(outcome.tables == 0x87f10fcb64ae1125U);
    BOOST_TEST(outcome.queue == 0x4aa05075f5174f25U);
}

BOOST_AUTO_TEST_CASE(the_prefix_cache_changes_neither_the_blocks_used_nor_the_tables) {
    const Outcome outcome = run_workload_b(true);
    BOOST_TEST(outcome.used == 24'576U);
    BOOST_TEST(outcome.tables == 0x87f10fcb64ae1125U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

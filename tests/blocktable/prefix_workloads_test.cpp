// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"
#include "support/recorded_workloads.h"

namespace kvpane::testing {

BOOST_AUTO_TEST_SUITE(prefix_workloads)

BOOST_AUTO_TEST_CASE(a_long_prompt_that_comes_back_25_times_is_found_whole_each_time) {
    ReturningPrompt c;
    for (int round = 0; round < 25; ++round) {
        const Admission again = must(c.kv.admit({.tokens = c.prompt}));
        BOOST_TEST(again.cached_tokens == ReturningPrompt::hit_tokens);
        BOOST_TEST(again.step.cells == 1);
        BOOST_TEST(again.step.blocks_taken == 1);
        must(c.kv.release(again.sequence));
    }
    BOOST_TEST(c.kv.statistics().evicted_blocks == 0U);
}

BOOST_AUTO_TEST_CASE(cold_prompts_that_evict_each_other_leave_the_recorded_free_queue) {
    ColdPrompts d;
    for (std::uint64_t i = 0; i < ColdPrompts::prompts; ++i) {
        BOOST_TEST(d.run(i) == 0);
        BOOST_TEST(d.kv.statistics().evicted_blocks == (i < 8 ? 0 : (i - 7) * 2048));
    }
    BOOST_TEST(fnv(queue_of(d.kv)) == ColdPrompts::queue);
}

BOOST_AUTO_TEST_CASE(a_thousand_requests_with_shared_prefixes_give_every_recorded_figure) {
    SharedPrefixes w5;
    w5.run();
    const Statistics& statistics = w5.kv.statistics();
    BOOST_TEST(statistics.queried_tokens == SharedPrefixes::queried_tokens);
    BOOST_TEST(statistics.hit_tokens == SharedPrefixes::hit_tokens);
    BOOST_TEST(statistics.refused_later == 0U);
    BOOST_TEST(statistics.evicted_blocks == SharedPrefixes::evicted_blocks);
    BOOST_TEST(w5.decoded() == SharedPrefixes::decoded_tokens);
    BOOST_TEST(w5.hash_of_tables() == SharedPrefixes::tables);
    BOOST_TEST(fnv(queue_of(w5.kv)) == SharedPrefixes::queue);
}

BOOST_AUTO_TEST_CASE(prompts_that_fill_the_index_are_all_found_again) {
    IndexedPrompts w2;
    BOOST_TEST(w2.kv.index_entries() == IndexedPrompts::entries);
    for (std::uint64_t i = 0; i < IndexedPrompts::prompts; ++i) {
        BOOST_TEST(w2.probe(i) == IndexedPrompts::hit_tokens);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

Config with_policy(EvictionPolicy policy, std::uint32_t block_size, std::int64_t blocks) {
    Config config = caching(block_size, blocks);
    config.prefix_cache.policy = policy;
    return config;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_eviction)

BOOST_AUTO_TEST_CASE(blocks_without_content_go_first_then_the_longest_idle_and_the_deepest_of_a_chain) {
    Manager kv(caching(4, 7));
    leave(kv, tokens(0, 8));    // 1, 2 and a tail
    leave(kv, tokens(10, 17));  // 3, 4
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 7, 2, 1, 4, 3}), per_element());
    BOOST_TEST(kv.pool().free_blocks() == 3U);
    const Admission big =
        admit_prompt(kv, tokens(50, 69));  // five blocks: three free ones, then the deepest of the older
    BOOST_TEST(kv.statistics().evicted_blocks == 2U);
    BOOST_TEST(found(kv, tokens(0, 8)) == 0);
    BOOST_TEST(found(kv, tokens(10, 18)) == 8);
    BOOST_TEST(kv.cache_totals().removed == 2U);
    must(kv.release(big.sequence));
}

BOOST_AUTO_TEST_CASE(a_chain_is_eaten_from_its_end) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 15));
    for (Length left = 12; left >= 0; left -= 4) {
        must(kv.release(admit_prompt(kv, {99}).sequence));
        if (left == 12) {
            BOOST_TEST(kv.statistics().evicted_blocks == 1U);
        }
        must(kv.evict(left == 12 ? 0 : 1));
        BOOST_TEST(found(kv, tokens(0, 16)) == left);
    }
}

BOOST_AUTO_TEST_CASE(evict_drops_in_policy_order_and_the_blocks_keep_their_places) {
    Manager kv(caching(4, 6));
    leave(kv, tokens(0, 7));
    leave(kv, tokens(10, 17));
    const Ids queue = queue_of(kv);
    BOOST_TEST(queue == Ids({5, 6, 2, 1, 4, 3}), per_element());
    BOOST_TEST(must(kv.evict(0)) == 0);
    BOOST_TEST(must(kv.evict(3)) == 3);
    BOOST_TEST(queue_of(kv) == queue, per_element());
    BOOST_TEST(partition_of(kv) == (Partition{5, 1, 0, 0}));
    BOOST_TEST(found(kv, tokens(0, 8)) == 0);
    BOOST_TEST(found(kv, tokens(10, 17)) == 4);
    BOOST_TEST(must(kv.evict(9)) == 1);
    BOOST_TEST(must(kv.evict(9)) == 0);
    BOOST_TEST(kv.statistics().evicted_blocks == 4U);
    BOOST_TEST(kv.cache_totals().removed == 4U);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.evict(-1); });
}

BOOST_AUTO_TEST_CASE(living_blocks_are_never_evicted) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;
    BOOST_TEST(must(kv.evict(4)) == 0);
    BOOST_TEST(kv.index_entries() == 2U);
    must(kv.release(a));
    BOOST_TEST(must(kv.evict(4)) == 2);
}

BOOST_AUTO_TEST_CASE(a_low_priority_goes_before_a_longer_idle_block_of_a_higher_one) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7), {}, 90);
    leave(kv, tokens(10, 17), {}, 35);
    BOOST_TEST(queue_of(kv) == Ids({4, 3, 2, 1}), per_element());
    const Admission c = admit_prompt(kv, tokens(20, 27), {}, 20);
    BOOST_TEST(table_of(kv, c.sequence) == Ids({4, 3}), per_element());
    must(kv.release(c.sequence));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2, 1}), per_element());
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    BOOST_TEST(found(kv, tokens(10, 18)) == 0);
}

BOOST_AUTO_TEST_CASE(negative_priorities_go_before_the_default) {
    Manager kv(caching(4, 2));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(10, 13), {}, -1);
    BOOST_TEST(queue_of(kv) == Ids({2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_hit_raises_a_priority_and_never_lowers_it) {
    Manager kv(caching(4, 6));
    leave(kv, tokens(0, 3), {}, 1);    // block 1
    leave(kv, tokens(10, 13), {}, 5);  // block 2
    must(kv.release(admit_prompt(kv, tokens(0, 4), {}, 7).sequence, false));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 5, 6, 2, 1}), per_element());
    must(kv.release(admit_prompt(kv, tokens(0, 4), {}, 2).sequence, false));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 5, 6, 2, 1}), per_element());
    must(kv.release(admit_prompt(kv, tokens(10, 14), {}, 0).sequence, false));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 5, 6, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(what_a_sequence_computes_later_has_its_priority_and_so_do_its_children) {
    Manager kv(caching(4, 6));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 3), {}, 3).sequence;
    const SequenceHandle b = must(kv.fork(a));
    feed(kv, a, tokens(4, 7));
    feed(kv, b, tokens(14, 17));
    must(kv.release(a));
    must(kv.release(b));
    leave(kv, tokens(20, 23));
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 4, 2, 3, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_priority_may_end_after_some_device_steps) {
    Manager kv(caching(4, 3));
    const Tokens important = tokens(0, 3);
    must(kv.release(must(kv.admit({.tokens = important, .priority = 9, .priority_steps = 2})).sequence));
    leave(kv, tokens(10, 13), {}, 1);
    leave(kv, tokens(20, 23));
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
    const auto pass_a_step = [&](std::uint64_t id) {
        must(kv.step_begin(StepId{id}));
        must(kv.step_end(StepId{id}));
    };
    pass_a_step(1);
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
    pass_a_step(2);
    BOOST_TEST(queue_of(kv) == Ids({3, 1, 2}), per_element());
    pass_a_step(3);
    BOOST_TEST(queue_of(kv) == Ids({3, 1, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(blocks_whose_priority_ends_together_keep_their_order) {
    Manager kv(caching(4, 8));
    const Tokens important = tokens(0, 23);
    must(kv.release(must(kv.admit({.tokens = important, .priority = 9, .priority_steps = 1})).sequence));
    leave(kv, tokens(50, 53));
    BOOST_TEST(queue_of(kv) == Ids({8, 7, 6, 5, 4, 3, 2, 1}), per_element());
    must(kv.step_begin(StepId{1}));
    must(kv.step_end(StepId{1}));
    BOOST_TEST(queue_of(kv) == Ids({8, 7, 6, 5, 4, 3, 2, 1}), per_element());  // the deepest goes first
}

BOOST_AUTO_TEST_CASE(a_hit_of_higher_priority_says_anew_how_long_it_lasts) {
    Manager kv(caching(4, 3));
    leave(kv, tokens(10, 13), {}, 1);
    const auto asks = [&](const Prompt& prompt) { must(kv.release(must(kv.admit(prompt)).sequence, false)); };
    const Tokens prompt = tokens(0, 4);
    must(kv.release(must(kv.admit({.tokens = prompt, .priority = 2, .priority_steps = 1})).sequence));
    asks({.tokens = prompt, .priority = 3, .priority_steps = 2});
    asks({.tokens = prompt, .priority = 2, .priority_steps = 9});  // not higher: changes nothing
    BOOST_TEST(queue_of(kv) == Ids({3, 1, 2}), per_element());
    for (const std::uint64_t step : {1U, 2U}) {
        BOOST_TEST(queue_of(kv) == Ids({3, 1, 2}), per_element());
        must(kv.step_begin(StepId{step}));
        must(kv.step_end(StepId{step}));
    }
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(lfu_drops_what_was_used_least_since_it_was_indexed_then_the_longest_idle) {
    Manager kv(with_policy(EvictionPolicy::lfu, 4, 4));
    leave(kv, tokens(0, 3));    // block 1
    leave(kv, tokens(10, 13));  // block 2
    leave(kv, tokens(20, 23));  // block 3
    const auto use = [&](Token first) { must(kv.release(admit_prompt(kv, tokens(first, first + 4)).sequence, false)); };
    use(0);
    use(0);
    use(10);
    BOOST_TEST(queue_of(kv) == Ids({4, 3, 2, 1}), per_element());
    use(20);
    BOOST_TEST(queue_of(kv) == Ids({4, 2, 3, 1}), per_element());
    must(kv.release(admit_prompt(kv, tokens(70, 85)).sequence, false));  // takes all four
    leave(kv, tokens(0, 3));                                             // counts from the beginning again
    leave(kv, tokens(10, 13));
    use(10);
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    must(kv.evict(1));
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    BOOST_TEST(found(kv, tokens(10, 14)) == 4);
}

BOOST_AUTO_TEST_CASE(lfu_asks_for_the_priority_first) {
    Manager kv(with_policy(EvictionPolicy::lfu, 4, 3));
    leave(kv, tokens(0, 3), {}, 1);
    leave(kv, tokens(10, 13));
    must(kv.release(admit_prompt(kv, tokens(10, 14)).sequence, false));
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_ranking_of_ones_own_decides) {
    // The first to enter is the last to go, whoever uses it.
    struct Settled final : Ranking {
        Rank inserted(std::int64_t priority) const noexcept override { return {-priority, 0}; }
        Rank hit(Rank before, std::int64_t) const noexcept override { return before; }
    };
    const Settled settled;
    Config config = caching(4, 3);
    config.prefix_cache.ranking = &settled;
    Manager kv(config);
    leave(kv, tokens(0, 3), {}, 1);
    leave(kv, tokens(10, 13), {}, 2);
    leave(kv, tokens(20, 23), {}, 3);
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(reset_forgets_every_idle_entry_and_the_blocks_keep_their_places) {
    Manager kv(caching(4, 6));
    leave(kv, tokens(0, 7));
    leave(kv, tokens(10, 17));
    const Ids queue = queue_of(kv);
    kv.reset_cache();
    BOOST_TEST(queue_of(kv) == queue, per_element());
    BOOST_TEST(partition_of(kv) == (Partition{6, 0, 0, 0}));
    BOOST_TEST(kv.index_entries() == 0U);
    BOOST_TEST(kv.cache_totals().cleared == 4U);
    BOOST_TEST(kv.cache_totals().removed == 0U);
    BOOST_TEST(kv.statistics().evicted_blocks == 0U);
    kv.reset_cache();
    BOOST_TEST(kv.cache_totals().cleared == 4U);
}

BOOST_AUTO_TEST_CASE(a_reset_that_leaves_something_removes_instead_of_clearing) {
    Manager kv(caching(4, 6));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 3)).sequence;
    leave(kv, tokens(0, 7));
    kv.reset_cache();
    BOOST_TEST(kv.index_entries() == 1U);
    BOOST_TEST(kv.cache_totals().cleared == 0U);
    BOOST_TEST(kv.cache_totals().removed == 1U);
    BOOST_TEST(found(kv, tokens(0, 8)) == 4);
    must(kv.release(a));
}

BOOST_AUTO_TEST_CASE(a_failed_load_is_taken_out_of_the_index_in_all_groups) {
    Config config = caching(4, 12);
    config.groups = {{"full", 0, 0}, {"swa", 6, 0}};
    Manager kv(config);
    const SequenceHandle a = admit_prompt(kv, tokens(0, 11)).sequence;
    BOOST_TEST(kv.index_entries() == 6U);
    const std::vector<Length> both{0, 1};
    must(kv.uncache(a, both));  // the window group does not hold its first block any more: it stays cached
    BOOST_TEST(kv.index_entries() == 3U);
    must(kv.uncache(a, both));
    BOOST_TEST(kv.index_entries() == 3U);
    BOOST_TEST(kv.cache_totals().removed == 3U);
    BOOST_TEST(found(kv, tokens(0, 12)) == 0);
    for (const std::vector<Length>& wrong : {std::vector<Length>{3}, {-1}, {0, 3}}) {
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.uncache(a, wrong); });
    }
    must(kv.release(a));
    expect_refusal(kv, Error::unknown_sequence, [&] { return kv.uncache(a, both); });
    BOOST_TEST(kv.pool().cached_blocks() == 3U);
}

BOOST_AUTO_TEST_CASE(a_release_without_caching_forgets_what_the_sequence_filled_and_keeps_its_hits) {
    for (const Granularity granularity : {Granularity::block, Granularity::token}) {
        Config config = caching(4, 8);
        config.prefix_cache.granularity = granularity;
        Manager kv(config);
        leave(kv, tokens(0, 3));
        const SequenceHandle b = admit_prompt(kv, tokens(0, 10)).sequence;
        must(kv.release(b, false));
        BOOST_TEST(kv.index_entries() == 1U);
        BOOST_TEST(found(kv, tokens(0, 11)) == 4);
        BOOST_TEST(queue_of(kv) == Ids({3, 2, 4, 5, 6, 7, 8, 1}), per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_child_that_is_released_without_caching_keeps_what_it_inherited) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;
    const SequenceHandle b = must(kv.fork(a));
    feed(kv, b, tokens(60, 63));
    must(kv.release(a));
    must(kv.release(b, false));
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

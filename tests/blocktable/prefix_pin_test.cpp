// SPDX-License-Identifier: Apache-2.0
#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

Length pin(Manager& kv, const Tokens& prompt) { return must(kv.pin({.tokens = prompt})); }
Length unpin(Manager& kv, const Tokens& prompt) { return must(kv.unpin({.tokens = prompt})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_pins)

BOOST_AUTO_TEST_CASE(pinned_blocks_leave_the_queue_and_stay_cached) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7));
    BOOST_TEST(pin(kv, tokens(0, 7)) == 2);  // the full length, not one token less
    BOOST_TEST(queue_of(kv) == Ids({3, 4}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{2, 2, 0, 0}));
    BOOST_TEST(kv.pool().pinned_blocks() == 2U);
    expect_refusal(kv, Error::later, [&] { return kv.admit({.tokens = tokens(50, 60)}); });
    BOOST_TEST(must(kv.evict(4)) == 0);
    kv.reset_cache();
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    BOOST_TEST(unpin(kv, tokens(0, 7)) == 2);
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2, 1}), per_element());
    BOOST_TEST(kv.pool().pinned_blocks() == 0U);
    admit_prompt(kv, tokens(50, 60));
}

BOOST_AUTO_TEST_CASE(pins_nest) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7));
    pin(kv, tokens(0, 7));
    pin(kv, tokens(0, 3));
    BOOST_TEST(kv.pool().pins(BlockId{1}) == 2U);
    unpin(kv, tokens(0, 7));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2}), per_element());
    BOOST_TEST(kv.pool().pinned_blocks() == 1U);
    unpin(kv, tokens(0, 3));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_surplus_unpin_and_one_without_a_match_are_refused_and_a_pin_without_a_match_does_nothing) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7));
    const auto unpins = [&](const Tokens& prompt) {
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.unpin({.tokens = prompt}); });
    };
    unpins(tokens(0, 7));
    unpins(tokens(50, 57));
    pin(kv, tokens(0, 3));
    unpins(tokens(0, 7));  // its second block has no pin: the first one keeps its own
    BOOST_TEST(kv.pool().pinned_blocks() == 1U);
    const std::uint64_t digest = kv.digest();
    BOOST_TEST(pin(kv, tokens(50, 57)) == 0);
    BOOST_TEST(kv.digest() == digest);
    unpin(kv, tokens(0, 3));
    unpins(tokens(0, 3));
}

BOOST_AUTO_TEST_CASE(a_cap_on_pinned_blocks_refuses_what_would_pass_it) {
    Config config = caching(4, 6);
    config.prefix_cache.most_pinned = 2;
    Manager kv(config);
    leave(kv, tokens(0, 11));
    expect_refusal(kv, Error::later, [&] { return kv.pin({.tokens = tokens(0, 11)}); });
    BOOST_TEST(pin(kv, tokens(0, 7)) == 2);
    BOOST_TEST(pin(kv, tokens(0, 7)) == 2);  // pinned blocks count once
    expect_refusal(kv, Error::later, [&] { return kv.pin({.tokens = tokens(0, 11)}); });
    unpin(kv, tokens(0, 7));
    unpin(kv, tokens(0, 7));
    leave(kv, tokens(20, 23));
    BOOST_TEST(pin(kv, tokens(20, 23)) == 1);
}

BOOST_AUTO_TEST_CASE(a_pin_outlives_the_sequence_and_a_living_block_may_lose_it) {
    Manager kv(caching(1, 2));
    const SequenceHandle a = admit_prompt(kv, {1}).sequence;
    pin(kv, {1});
    BOOST_TEST(partition_of(kv) == (Partition{1, 0, 1, 0}));
    must(kv.release(a));
    BOOST_TEST(partition_of(kv) == (Partition{1, 1, 0, 0}));
    BOOST_TEST(queue_of(kv) == Ids({2}), per_element());
    unpin(kv, {1});
    BOOST_TEST(queue_of(kv) == Ids({2, 1}), per_element());
    const SequenceHandle b = admit_prompt(kv, {5, 6}).sequence;
    pin(kv, {5});
    unpin(kv, {5});
    BOOST_TEST(refs_of(kv, b) == Ids({1, 1}), per_element());
    must(kv.release(b));
    BOOST_TEST(queue_of(kv) == Ids({1, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(a_pinned_block_is_hit_like_any_other) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 3));
    pin(kv, tokens(0, 3));
    const Admission b = admit_prompt(kv, tokens(0, 4));
    BOOST_TEST(b.cached_tokens == 4);
    must(kv.release(b.sequence));
    BOOST_TEST(queue_of(kv) == Ids({2, 3, 4}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{3, 1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(who_writes_into_a_pinned_block_gets_a_copy) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 3)).sequence;
    pin(kv, tokens(0, 3));
    must(kv.truncate(a, 2));
    const Step step = feed(kv, a, {9, 9});
    const std::vector<BlockCopy> copies{{first_group, BlockId{1}, BlockId{2}, 2}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    BOOST_TEST(found(kv, {0, 1, 9, 9, 4}) == 4);
    BOOST_TEST(partition_of(kv) == (Partition{2, 1, 1, 0}));
}

BOOST_AUTO_TEST_CASE(a_release_without_caching_spares_pinned_blocks) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;
    pin(kv, tokens(0, 3));
    must(kv.release(a, false));
    BOOST_TEST(kv.index_entries() == 1U);
    BOOST_TEST(found(kv, tokens(0, 8)) == 4);
    BOOST_TEST(queue_of(kv) == Ids({2, 3, 4}), per_element());
}

BOOST_AUTO_TEST_CASE(uncache_takes_the_pin_with_the_entry) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 3)).sequence;
    pin(kv, tokens(0, 3));
    const std::vector<Length> first{0};
    must(kv.uncache(a, first));
    BOOST_TEST(kv.pool().pinned_blocks() == 0U);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.unpin({.tokens = tokens(0, 3)}); });
    must(kv.release(a));
    BOOST_TEST(partition_of(kv) == (Partition{4, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_pin_holds_the_blocks_that_the_query_behind_it_sees_in_every_group) {
    Config config = caching(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 5, 0}};
    Manager kv(config);
    leave(kv, tokens(0, 15));  // 1..4 and 5..8
    BOOST_TEST(pin(kv, tokens(0, 15)) == 5);
    must(kv.evict(8));
    BOOST_TEST(kv.index_entries() == 5U);
    BOOST_TEST(found(kv, tokens(0, 16)) == 16);
    BOOST_TEST(unpin(kv, tokens(0, 15)) == 5);
    BOOST_TEST(queue_of(kv) == Ids({9, 10, 11, 12, 13, 14, 15, 16, 6, 5, 7, 4, 3, 2, 1, 8}), per_element());
}

BOOST_AUTO_TEST_CASE(a_tail_can_be_pinned_where_parts_of_blocks_are_found) {
    Manager kv(caching_by_token(4, 6));
    leave(kv, tokens(0, 5));
    BOOST_TEST(pin(kv, tokens(0, 5)) == 2);
    must(kv.evict(6));
    BOOST_TEST(found(kv, tokens(0, 6)) == 6);
    BOOST_TEST(unpin(kv, tokens(0, 5)) == 2);
}

BOOST_AUTO_TEST_CASE(a_pinned_block_that_waits_for_a_step_does_not_queue_afterwards) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;
    must(kv.step_begin(StepId{1}));
    must(kv.release(a));
    BOOST_TEST(pin(kv, tokens(0, 3)) == 1);
    must(kv.step_end(StepId{1}));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{2, 2, 0, 0}));
    unpin(kv, tokens(0, 3));
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 2, 1}), per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

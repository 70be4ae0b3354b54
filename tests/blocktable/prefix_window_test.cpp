// SPDX-License-Identifier: Apache-2.0
#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

Config caching_groups(std::uint32_t block_size, std::int64_t blocks, std::vector<GroupConfig> groups) {
    Config config = caching(block_size, blocks);
    config.groups = std::move(groups);
    return config;
}

Config caching_window(std::uint32_t block_size, std::int64_t blocks, Length window, Length sinks = 0) {
    return caching_groups(block_size, blocks, {{"swa", window, sinks}});
}

void uncache(Manager& kv, SequenceHandle sequence, const std::vector<Length>& entries) {
    must(kv.uncache(sequence, entries));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_windows)

BOOST_AUTO_TEST_CASE(a_hit_references_only_what_the_next_query_sees_and_leaves_holes_before_it) {
    Manager kv(caching_window(4, 12, 5));
    leave(kv, tokens(0, 15));
    BOOST_TEST(kv.index_entries() == 4U);
    const Admission b = admit_prompt(kv, tokens(0, 15) + tokens(50, 50));
    BOOST_TEST(b.cached_tokens == 16);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({0, 0, 0, 4, 5}), per_element());
    BOOST_TEST(first_resident(kv, b.sequence) == 12);
    BOOST_TEST(partition_of(kv) == (Partition{7, 3, 2, 0}));
}

BOOST_AUTO_TEST_CASE(early_blocks_may_be_gone_when_the_next_query_does_not_see_them) {
    Manager kv(caching_window(1, 9, 4));
    leave(kv, tokens(1, 8));
    BOOST_TEST(queue_of(kv) == Ids({9, 4, 3, 2, 1, 8, 7, 6, 5}), per_element());
    BOOST_TEST(found(kv, tokens(1, 4) + tokens(20, 24)) == 4);
    BOOST_TEST(found(kv, tokens(1, 12)) == 8);
    BOOST_TEST(must(kv.evict(4)) == 4);
    // Position 4 sees the positions 2..4: they are gone. Position 8 sees 6..8: they are there.
    BOOST_TEST(found(kv, tokens(1, 4) + tokens(20, 24)) == 0);
    BOOST_TEST(found(kv, tokens(1, 12)) == 8);
    BOOST_TEST(found(kv, tokens(1, 7) + tokens(20, 24)) == 7);
    BOOST_TEST(found(kv, tokens(1, 6) + tokens(20, 24)) == 0);
}

BOOST_AUTO_TEST_CASE(computing_lost_cells_again_makes_them_hits_again) {
    Manager kv(caching_window(1, 24, 4));
    leave(kv, tokens(1, 8));
    must(kv.evict(4));
    BOOST_TEST(admit_prompt(kv, tokens(1, 4) + tokens(50, 51)).cached_tokens == 0);
    BOOST_TEST(found(kv, tokens(1, 4) + tokens(60, 61)) == 4);
    BOOST_TEST(found(kv, tokens(1, 6) + tokens(60, 61)) == 6);
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_the_last_block_must_be_there_though_nobody_sees_it) {
    Manager kv(caching_window(4, 8, 1));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 8)).sequence;
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 3}), per_element());
    BOOST_TEST(found(kv, tokens(0, 9)) == 8);
    const Admission b = must(kv.admit({.tokens = tokens(0, 9), .compute = 0}));
    BOOST_TEST(b.cached_tokens == 8);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({0, 2}), per_element());
    // The first cells that it computes let go of the block.
    feed(kv, b.sequence, {8});
    BOOST_TEST(table_of(kv, b.sequence) == Ids({0, 0, 4}), per_element());
    must(kv.release(b.sequence));
    must(kv.evict(1));  // block 1: longest idle
    BOOST_TEST(found(kv, tokens(0, 9)) == 8);
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    must(kv.evict(1));
    BOOST_TEST(found(kv, tokens(0, 9)) == 0);
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_a_hit_that_no_query_sees_is_released_by_the_admission_itself) {
    Manager kv(caching_window(1, 4, 1));
    leave(kv, {1, 2});
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 1, 2}), per_element());
    const Admission again = admit_prompt(kv, {1, 7});
    BOOST_TEST(again.cached_tokens == 1);
    BOOST_TEST(table_of(kv, again.sequence) == Ids({0, 3}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({4, 2, 1}), per_element());  // used just now
}

BOOST_AUTO_TEST_CASE(a_block_whose_first_cells_are_missing_never_enters_the_index) {
    // The block of positions 4..7 slides out of the window; back at 6 only positions from 6 on are there again.
    Config config = caching_window(4, 8, 1);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;
    must(reserve(kv, a, 1));  // lets go of everything below position 8
    must(kv.cancel(a));
    must(kv.truncate(a, 6));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0}), per_element());
    feed(kv, a, {6, 7});
    BOOST_TEST(table_of(kv, a)[1] != 0U);
    BOOST_TEST(first_resident(kv, a) == 6);
    BOOST_TEST(kv.index_entries() == 2U);
    must(kv.evict(2));
    BOOST_TEST(kv.index_entries() == 0U);
    BOOST_TEST(found(kv, tokens(0, 8)) == 0);
}

BOOST_AUTO_TEST_CASE(the_sinks_must_be_there_too) {
    Manager kv(caching_window(4, 12, 4, 2));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 15)).sequence;
    BOOST_TEST(table_of(kv, a) == Ids({1, 0, 0, 4}), per_element());
    const Admission b = admit_prompt(kv, tokens(0, 16));
    BOOST_TEST(b.cached_tokens == 16);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 0, 0, 4, 5}), per_element());
    must(kv.release(b.sequence));
    uncache(kv, a, {0});
    BOOST_TEST(found(kv, tokens(0, 16)) == 0);
    leave(kv, tokens(0, 3));
    BOOST_TEST(found(kv, tokens(0, 16)) == 16);
}

BOOST_AUTO_TEST_CASE(one_missing_block_costs_only_the_cuts_that_need_it) {
    Manager kv(caching_window(4, 20, 8));
    leave(kv, tokens(0, 31));
    const Tokens prompt = tokens(0, 32);
    BOOST_TEST(found(kv, prompt) == 32);
    // A cut needs the blocks of the 7 positions before it: two of them, three where they start inside one.
    for (const Length gap : {2, 5, 7}) {
        Config config = caching_window(4, 20, 8);
        config.rewind_slack = 64;  // holds everything, so that any entry can be taken out
        Manager holed(config);
        const SequenceHandle a = admit_prompt(holed, tokens(0, 31)).sequence;
        uncache(holed, a, {gap});
        for (Length cut = 4; cut <= 32; cut += 4) {
            const Tokens part = tokens(0, static_cast<Token>(cut - 1)) + Tokens{99};
            const bool needs_gap = cut > gap * 4 && cut - 7 < (gap + 1) * 4;
            BOOST_TEST((found(holed, part) == cut) == !needs_gap, "gap " << gap << ", cut " << cut);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_longest_cut_is_one_that_all_groups_have_at_once) {
    // Full attention has lost block 5, the short window blocks 2 and 3, the long one block 0: each alone would go
    // further than all together.
    const std::vector<GroupConfig> groups{{"full", 0, 0}, {"short", 4, 0}, {"long", 8, 0}};
    Config config = caching_groups(4, 60, groups);
    config.rewind_slack = 64;
    Manager kv(config);
    const SequenceHandle a = admit_prompt(kv, tokens(0, 31)).sequence;
    const Tokens prompt = tokens(0, 32);
    BOOST_TEST(found(kv, prompt) == 32);
    uncache(kv, a, {5});  // in all groups
    BOOST_TEST(found(kv, prompt) == 20);
    leave(kv, tokens(0, 19) + tokens(60, 63));  // another sixth block; the first five are hits
    BOOST_TEST(found(kv, prompt) == 20);
    uncache(kv, a, {4});
    BOOST_TEST(found(kv, prompt) == 16);
    uncache(kv, a, {2, 3});
    BOOST_TEST(found(kv, prompt) == 8);
    uncache(kv, a, {0});
    BOOST_TEST(found(kv, prompt) == 0);
}

BOOST_AUTO_TEST_CASE(groups_of_different_length_agree_without_stepping_back_more_than_once) {
    Config config = caching_groups(2, 24, {{"full", 0, 0}, {"swa", 4, 0}, {"mid", 6, 0}});
    Manager kv(config);
    admit_prompt(kv, tokens(0, 11));
    BOOST_TEST(partition_of(kv) == (Partition{6, 7, 11, 0}));
    BOOST_TEST(kv.cache_totals().stored == 18U);
    BOOST_TEST(found(kv, tokens(0, 11)) == 10);
    BOOST_TEST(found(kv, tokens(0, 12)) == 12);
    BOOST_TEST(found(kv, tokens(0, 9)) == 8);
    const Admission b = admit_prompt(kv, tokens(0, 11));
    BOOST_TEST(b.cached_tokens == 10);
    BOOST_TEST(partition_of(kv) == (Partition{3, 7, 14, 0}));
}

BOOST_AUTO_TEST_CASE(hits_are_taken_and_given_back_group_by_group) {
    Manager kv(caching_groups(4, 12, {{"full", 0, 0}, {"swa", 5, 0}}));
    leave(kv, tokens(0, 11));
    BOOST_TEST(queue_of(kv) == Ids({7, 8, 9, 10, 11, 12, 4, 3, 2, 1, 6, 5}), per_element());
    const Admission b = admit_prompt(kv, tokens(0, 12));
    BOOST_TEST(table_of(kv, b.sequence, first_group) == Ids({1, 2, 3, 7}), per_element());
    BOOST_TEST(table_of(kv, b.sequence, second_group) == Ids({0, 0, 6, 8}), per_element());
    must(kv.release(b.sequence));
    BOOST_TEST(queue_of(kv) == Ids({8, 7, 9, 10, 11, 12, 4, 5, 3, 2, 1, 6}), per_element());
}

BOOST_AUTO_TEST_CASE(a_hit_of_a_window_group_can_be_rewound_only_as_far_as_it_holds) {
    Manager kv(caching_window(4, 12, 5));
    leave(kv, tokens(0, 15));
    const SequenceHandle b = admit_prompt(kv, tokens(0, 16)).sequence;
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(b, 15); });
    must(kv.truncate(b, 16));
    expect_refusal(kv, Error::window_evicted, [&] { return kv.fork(b, 12); });
    must(kv.truncate(b, 0));
    BOOST_TEST(table_of(kv, b).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

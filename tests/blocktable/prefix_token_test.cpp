// SPDX-License-Identifier: Apache-2.0
#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

BlockId tail_block(const Manager& kv, SequenceHandle sequence, GroupId group) {
    return BlockId{table_of(kv, sequence, group).back()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_tokens)

BOOST_AUTO_TEST_CASE(the_first_cells_of_a_block_are_copied_and_their_source_stays_what_it_was) {
    Manager kv(caching_by_token(4, 8));
    leave(kv, tokens(0, 7));
    const Admission b = admit_prompt(kv, tokens(0, 5) + Tokens{60});
    BOOST_TEST(b.cached_tokens == 6);
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{3}, 2}};
    BOOST_TEST(copies_of(b.step) == copies, per_element());
    BOOST_TEST(slots_of(b.step) == Slots({14}), per_element());
    BOOST_TEST(b.step.blocks_taken == 1);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 3}), per_element());
    BOOST_TEST(kv.statistics().copies == 1U);
    BOOST_TEST(kv.statistics().copied_cells == 2U);
    BOOST_TEST(partition_of(kv) == (Partition{5, 1, 2, 0}));
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    feed(kv, b.sequence, {61});
    BOOST_TEST(found(kv, tokens(0, 5) + tokens(60, 62)) == 8);
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
}

BOOST_AUTO_TEST_CASE(a_copy_is_made_even_where_nothing_is_computed_yet) {
    Manager kv(caching_by_token(4, 8));
    leave(kv, tokens(0, 7));
    const Tokens prompt = tokens(0, 5) + tokens(60, 70);
    const Admission b = must(kv.admit({.tokens = prompt, .compute = 0}));
    BOOST_TEST(b.cached_tokens == 6);
    BOOST_TEST(b.step.copies.size() == 1U);
    BOOST_TEST(b.step.cells == 0);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(being_copied_from_is_a_use_and_the_source_joins_the_queue_last) {
    Manager kv(caching_by_token(4, 3));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(10, 13));
    BOOST_TEST(queue_of(kv) == Ids({3, 1, 2}), per_element());
    const Admission b = admit_prompt(kv, {0, 1, 77});
    BOOST_TEST(b.cached_tokens == 2);
    BOOST_TEST(queue_of(kv) == Ids({2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(the_source_of_the_copy_is_no_room_for_the_same_admission) {
    Manager kv(caching_by_token(4, 3));
    leave(kv, tokens(0, 3));
    const Tokens prompt = {0, 1, 70, 71, 72, 73, 74, 75, 76};  // three blocks, and the source is the third
    expect_refusal(kv, Error::later, [&] { return kv.admit({.tokens = prompt}); });
    BOOST_TEST(found(kv, prompt) == 2);
    BOOST_TEST(admit_prompt(kv, {0, 1, 70, 71, 72, 73, 74}).cached_tokens == 2);
}

BOOST_AUTO_TEST_CASE(tails_enter_the_index_when_their_sequence_is_released) {
    Manager kv(caching_by_token(4, 16));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 10)).sequence;
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(found(kv, tokens(0, 11)) == 8);
    must(kv.release(a));
    BOOST_TEST(kv.index_entries() == 3U);
    BOOST_TEST(kv.cache_totals().stored == 3U);
    BOOST_TEST(queue_of(kv) == Ids({4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 3, 2, 1}), per_element());
    BOOST_TEST(found(kv, tokens(0, 11)) == 11);
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    BOOST_TEST(found(kv, tokens(0, 8) + Tokens{99}) == 9);
}

BOOST_AUTO_TEST_CASE(with_whole_blocks_only_no_tail_is_indexed) {
    Manager kv(caching(4, 16));
    leave(kv, tokens(0, 10));
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(found(kv, tokens(0, 11)) == 8);
}

BOOST_AUTO_TEST_CASE(only_committed_cells_of_a_tail_are_indexed) {
    Manager kv(caching_by_token(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 1)).sequence;
    must(reserve(kv, a, 5));
    must(kv.release(a));
    BOOST_TEST(kv.index_entries() == 1U);
    BOOST_TEST(found(kv, tokens(0, 4)) == 2);
    BOOST_TEST(partition_of(kv) == (Partition{7, 1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(the_longest_common_beginning_among_siblings_wins) {
    Manager kv(caching_by_token(4, 16));
    leave(kv, tokens(0, 7));
    leave(kv, {0, 1, 2, 3, 4, 90, 91, 92});
    leave(kv, {0, 1, 2, 3, 4, 5, 80});
    BOOST_TEST(found(kv, {0, 1, 2, 3, 4, 5, 6, 55}) == 7);
    BOOST_TEST(found(kv, {0, 1, 2, 3, 4, 5, 80, 55}) == 7);
    BOOST_TEST(found(kv, {0, 1, 2, 3, 4, 90, 55, 55}) == 6);
    BOOST_TEST(found(kv, {0, 1, 2, 3, 4, 55, 55, 55}) == 5);
    BOOST_TEST(found(kv, {0, 1, 2, 3, 55, 55, 55, 55}) == 4);
    BOOST_TEST(found(kv, {0, 1, 55}) == 2);
    BOOST_TEST(found(kv, {55, 1}) == 0);
}

BOOST_AUTO_TEST_CASE(among_equally_long_matches_the_oldest_entry_serves) {
    Manager kv(caching_by_token(4, 16));
    leave(kv, {1, 2, 30, 30});  // block 1
    leave(kv, {1, 2, 40, 40});  // block 2
    leave(kv, {1, 2, 50, 50});  // block 3
    const Tokens prompt{1, 2, 60};
    const auto source = [&] {
        const Admission b = admit_prompt(kv, prompt);
        BOOST_TEST(b.cached_tokens == 2);
        const std::uint32_t block = to_index(b.step.copies.front().source);
        must(kv.release(b.sequence, false));
        return block;
    };
    BOOST_TEST(source() == 1U);
    BOOST_TEST(source() == 1U);  // uses do not make it younger
    BOOST_TEST(queue_of(kv).back() == 1U);
    must(kv.evict(1));  // block 2
    BOOST_TEST(source() == 1U);
    must(kv.evict(1));  // block 3
    must(kv.evict(1));
    BOOST_TEST(found(kv, prompt) == 0);
}

BOOST_AUTO_TEST_CASE(an_older_entry_that_is_gone_leaves_its_beginnings_to_the_next) {
    Manager kv(caching_by_token(4, 16));
    leave(kv, {1, 2, 30, 30});
    leave(kv, {1, 2, 40, 40});
    must(kv.evict(1));
    const Admission b = admit_prompt(kv, {1, 2, 60});
    BOOST_TEST(b.step.copies.front().source == BlockId{2});
}

BOOST_AUTO_TEST_CASE(a_full_block_replaces_its_own_shorter_tail) {
    // The child ends first: its tail is found in the block that the parent goes on filling.
    Manager kv(caching_by_token(4, 8));
    const SequenceHandle parent = admit_prompt(kv, tokens(0, 4)).sequence;
    must(kv.release(must(kv.fork(parent))));
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(found(kv, tokens(0, 5)) == 5);
    const Step step = feed(kv, parent, {5, 6});
    BOOST_TEST(step.copies.empty());
    BOOST_TEST(kv.cache_totals().removed == 1U);  // it is written again
    BOOST_TEST(found(kv, tokens(0, 5)) == 4);
    feed(kv, parent, {7});
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(kv.cache_totals().stored == 3U);
    BOOST_TEST(found(kv, tokens(0, 5)) == 5);
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
}

BOOST_AUTO_TEST_CASE(a_longer_tail_replaces_the_shorter_one_in_the_same_block) {
    Manager kv(caching_by_token(4, 8));
    const SequenceHandle parent = admit_prompt(kv, tokens(0, 6)).sequence;
    must(kv.release(must(kv.fork(parent, 5))));
    BOOST_TEST(found(kv, tokens(0, 7)) == 5);
    must(kv.release(parent));
    BOOST_TEST(found(kv, tokens(0, 7)) == 7);
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(kv.cache_totals().stored == 3U);
    BOOST_TEST(kv.cache_totals().removed == 1U);
}

BOOST_AUTO_TEST_CASE(a_shorter_tail_does_not_replace_a_longer_one_in_the_same_block) {
    Manager kv(caching_by_token(4, 8));
    const SequenceHandle parent = admit_prompt(kv, tokens(0, 6)).sequence;
    const SequenceHandle child = must(kv.fork(parent, 5));
    must(kv.release(parent));
    must(kv.release(child));
    BOOST_TEST(found(kv, tokens(0, 7)) == 7);
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(kv.cache_totals().stored == 2U);
}

BOOST_AUTO_TEST_CASE(tails_in_different_blocks_live_side_by_side) {
    Manager kv(caching_by_token(4, 16));
    leave(kv, tokens(0, 8));
    leave(kv, tokens(0, 9));
    leave(kv, tokens(0, 11));  // full, and no block of its own replaces the others
    BOOST_TEST(kv.index_entries() == 5U);
    BOOST_TEST(kv.cache_totals().removed == 0U);
}

BOOST_AUTO_TEST_CASE(a_cut_must_be_common_to_all_groups_to_the_token) {
    Config config = caching_by_token(4, 32);
    config.groups = {{"full", 0, 0}, {"swa", 6, 0}};
    Manager kv(config);
    const SequenceHandle a = admit_prompt(kv, tokens(0, 7)).sequence;  // 1, 2 and 3, 4
    const SequenceHandle b = must(kv.admit({.tokens = tokens(0, 6), .compute = 0})).sequence;
    BOOST_TEST(kv.length(b).value() == 6);
    feed(kv, b, {66});
    must(kv.release(b));
    const Admission c = admit_prompt(kv, {0, 1, 2, 3, 4, 5, 77, 78});
    BOOST_TEST(c.cached_tokens == 6);
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, tail_block(kv, c.sequence, first_group), 2},
                                        {second_group, BlockId{4}, tail_block(kv, c.sequence, second_group), 2}};
    BOOST_TEST(copies_of(c.step) == copies, per_element());
    must(kv.release(a));
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_a_partly_matching_block_serves_without_those_before_it) {
    Config config = caching_by_token(4, 8);
    config.groups = {{"one", 1, 0}};
    Manager kv(config);
    leave(kv, tokens(0, 7));
    must(kv.evict(1));  // the first block
    BOOST_TEST(found(kv, tokens(0, 3) + Tokens{99}) == 0);
    BOOST_TEST(found(kv, tokens(0, 5) + Tokens{99}) == 6);
    const Admission b = admit_prompt(kv, tokens(0, 5) + Tokens{99});
    BOOST_TEST(table_of(kv, b.sequence) == Ids({0, 3}), per_element());
    BOOST_TEST(copies_of(b.step).front() == (BlockCopy{first_group, BlockId{2}, BlockId{3}, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>
#include <vector>

namespace kvpane::testing {

using boost::test_tools::per_element;

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(forking_shares_every_block_and_the_first_write_copies_one) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 9);
    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST(table_of(kv, b) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(refs_of(kv, a) == Ids({2, 2, 2}), per_element());
    BOOST_TEST(kv.length(b).value() == 9);
    BOOST_TEST(partition_of(kv) == (Partition{5, 0, 3, 0}));

    const Step step = append(kv, b, 1);
    const std::vector<BlockCopy> copies{{first_group, BlockId{3}, BlockId{4}, 1}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(step.blocks_taken == 1);
    BOOST_TEST(slots_of(step) == Slots({17}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({1, 2, 4}), per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(refs_of(kv, a) == Ids({2, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(the_last_holder_of_a_shared_tail_writes_in_place) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);
    const SequenceHandle b = must(kv.fork(a));
    append(kv, b, 1);
    const Step step = append(kv, a, 1);
    BOOST_TEST(step.copies.empty());
    BOOST_TEST(step.blocks_taken == 0);
    BOOST_TEST(slots_of(step) == Slots({10}), per_element());
    const SequenceHandle c = must(kv.fork(a));
    must(kv.release(a));
    BOOST_TEST(append(kv, c, 1).copies.empty());
}

BOOST_AUTO_TEST_CASE(the_parent_gets_the_copy_when_it_writes_first) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 7);
    const SequenceHandle b = must(kv.fork(a));
    const Step step = append(kv, a, 3);
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{3}, 3}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1, 3, 4}), per_element());
    BOOST_TEST(slots_of(step) == Slots({15, 16, 17}), per_element());
    BOOST_TEST(refs_of(kv, b) == Ids({2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(at_a_block_edge_nothing_is_copied) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 8);
    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST(append(kv, a, 1).copies.empty());
    BOOST_TEST(append(kv, b, 1).copies.empty());
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({1, 2, 4}), per_element());
}

BOOST_AUTO_TEST_CASE(a_reservation_copies_the_shared_tail_once_and_cancelling_keeps_the_copy) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);
    must(kv.fork(a));
    BOOST_TEST(must(reserve(kv, a, 1)).copies.size() == 1U);
    BOOST_TEST(must(reserve(kv, a, 1)).copies.empty());
    must(kv.cancel(a));
    BOOST_TEST(table_of(kv, a) == Ids({1, 3}), per_element());
    BOOST_TEST(append(kv, a, 1).copies.empty());
}

BOOST_AUTO_TEST_CASE(each_group_copies_its_own_tail) {
    Config config = plain(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 8, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 5);  // 1, 2 | 3, 4
    const SequenceHandle b = must(kv.fork(a));
    const Step step = append(kv, b, 1);
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{5}, 1},
                                        {second_group, BlockId{4}, BlockId{6}, 1}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(table_of(kv, b, second_group) == Ids({3, 6}), per_element());
}

BOOST_AUTO_TEST_CASE(a_child_of_an_earlier_position_shares_only_the_blocks_before_it) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 10);
    const SequenceHandle b = must(kv.fork(a, 6));
    BOOST_TEST(kv.length(b).value() == 6);
    BOOST_TEST(table_of(kv, b) == Ids({1, 2}), per_element());
    BOOST_TEST(refs_of(kv, a) == Ids({2, 2, 1}), per_element());
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{4}, 2}};
    BOOST_TEST(copies_of(append(kv, b, 1)) == copies, per_element());

    const SequenceHandle edge = must(kv.fork(a, 4));
    BOOST_TEST(table_of(kv, edge) == Ids({1}), per_element());
    BOOST_TEST(append(kv, edge, 1).copies.empty());
    const SequenceHandle start = must(kv.fork(a, 0));
    BOOST_TEST(table_of(kv, start).empty());
    BOOST_TEST(kv.length(start).value() == 0);
    const SequenceHandle all = must(kv.fork(a, 10));
    BOOST_TEST(table_of(kv, all) == table_of(kv, a), per_element());
}

BOOST_AUTO_TEST_CASE(positions_outside_the_history_are_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 10);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.fork(a, 11); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.fork(a, -1); });
    BOOST_TEST(kv.sequences() == 1U);
}

BOOST_AUTO_TEST_CASE(a_sequence_with_reserved_cells_is_busy) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 1));
    expect_refusal(kv, Error::busy, [&] { return kv.fork(a); });
    expect_refusal(kv, Error::busy, [&] { return kv.fork(a, 2); });
    must(kv.cancel(a));
    must(kv.fork(a));
}

BOOST_AUTO_TEST_CASE(a_windowed_parent_may_be_forked_where_the_child_sees_all_that_it_needs) {
    Manager kv(windowed(2, 16, 4));
    const SequenceHandle a = admit(kv, 11);  // holds 6..10
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4, 5, 6}), per_element());
    const SequenceHandle b = must(kv.fork(a, 9));  // needs 6..8
    BOOST_TEST(table_of(kv, b) == Ids({0, 0, 0, 4, 5}), per_element());
    BOOST_TEST(first_resident(kv, b) == 6);
    expect_refusal(kv, Error::window_evicted, [&] { return kv.fork(a, 8); });  // needs 5
    expect_refusal(kv, Error::window_evicted, [&] { return kv.fork(a, 1); });
    must(kv.fork(a, 0));
}

BOOST_AUTO_TEST_CASE(every_group_has_to_hold_what_the_child_needs) {
    Config config = plain(2, 32);
    config.groups = {{"full", 0, 0}, {"swa", 4, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 11);
    expect_refusal(kv, Error::window_evicted, [&] { return kv.fork(a, 8); });
    BOOST_TEST(table_of(kv, must(kv.fork(a, 9)), first_group) == Ids({1, 2, 3, 4, 5}), per_element());
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_any_position_may_be_forked_and_the_child_writes_into_a_hole) {
    Manager kv(windowed(4, 16, 1));
    const SequenceHandle a = admit(kv, 11);  // holds 8..10 in block 3
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 3}), per_element());
    const SequenceHandle b = must(kv.fork(a, 6));
    BOOST_TEST(table_of(kv, b) == Ids({0, 0}), per_element());
    BOOST_TEST(first_resident(kv, b) == 6);
    const Step step = append(kv, b, 1);
    BOOST_TEST(step.copies.empty());
    BOOST_TEST(table_of(kv, b) == Ids({0, 4}), per_element());
    BOOST_TEST(slots_of(step) == Slots({18}), per_element());
    BOOST_TEST(first_resident(kv, b) == 6);
}

BOOST_AUTO_TEST_CASE(the_source_of_a_copy_joins_the_queue_after_everything_else_that_the_call_gives_back) {
    // b leaves block 2 for a copy; a, later in the batch, lets it slide out of its window together with block 1.
    Config config = windowed(2, 12, 2);
    config.window_release = WindowRelease::reserve;
    for (const bool cache : {false, true}) {
        config.prefix_cache.enabled = cache;
        Manager kv(config);
        const SequenceHandle a = admit(kv, 7);  // 1, 2, 3, 4
        const SequenceHandle b = must(kv.fork(a, 3));
        const std::array<Reservation, 2> asked{Reservation{b, 1}, Reservation{a, 1}};
        const Step step = must(kv.reserve(asked));
        const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{5}, 1}};
        BOOST_TEST(copies_of(step) == copies, per_element());
        BOOST_TEST(table_of(kv, b) == Ids({0, 5}), per_element());
        BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4}), per_element());
        BOOST_TEST(queue_of(kv) == Ids({6, 7, 8, 9, 10, 11, 12, 3, 1, 2}), per_element());
        BOOST_TEST(kv.pool().cached_blocks() == (cache ? 3U : 0U));
    }
}

BOOST_AUTO_TEST_CASE(the_source_of_a_copy_is_no_room_for_the_same_call) {
    // As above, with one block in the queue: the copy takes it, and a needs a new one while block 3, 1 come back.
    Config config = windowed(2, 5, 2);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 7);
    const SequenceHandle b = must(kv.fork(a, 3));
    const std::array<Reservation, 2> too_much{Reservation{b, 1}, Reservation{a, 7}};  // 3 more blocks
    expect_refusal(kv, Error::never, [&] { return kv.reserve(too_much); });
    const std::array<Reservation, 2> enough{Reservation{b, 1}, Reservation{a, 5}};  // 2 more blocks: 3 and 1
    must(kv.reserve(enough));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4, 3, 1}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({2}), per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

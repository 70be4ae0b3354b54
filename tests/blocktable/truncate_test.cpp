// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

#include <kvpane/blocktable/exports.h>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

bool has_slot(const Manager& kv, SequenceHandle sequence, Length position) {
    std::array<Slot, 1> slot{};
    return export_slots(kv, sequence, first_group, position, std::span<Slot>(slot)).has_value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(truncation)

BOOST_AUTO_TEST_CASE(truncating_gives_back_the_blocks_behind_the_new_end_deepest_first) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 15);
    must(kv.truncate(a, 5));
    BOOST_TEST(kv.length(a).value() == 5);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 7, 8, 4, 3}), per_element());
    must(kv.truncate(a, 4));
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    must(kv.truncate(a, 4));
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    must(kv.truncate(a, 0));
    BOOST_TEST(table_of(kv, a).empty());
    BOOST_TEST(kv.is_alive(a));
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(writing_goes_on_at_the_new_end) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 10);
    must(kv.truncate(a, 6));
    BOOST_TEST(slots_of(append(kv, a, 3)) == Slots({10, 11, 16}), per_element());
    BOOST_TEST(kv.length(a).value() == 9);
}

BOOST_AUTO_TEST_CASE(lengths_outside_the_history_are_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 10);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.truncate(a, 11); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.truncate(a, -1); });
    must(reserve(kv, a, 3));
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.truncate(a, 11); });  // reserved cells are not history
}

BOOST_AUTO_TEST_CASE(truncating_cancels_what_is_reserved_also_at_the_same_length) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);
    must(reserve(kv, a, 5));
    must(kv.truncate(a, 6));
    BOOST_TEST(kv.reserved(a).value() == 0);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());
    must(reserve(kv, a, 5));
    must(kv.truncate(a, 3));
    BOOST_TEST(kv.reserved(a).value() == 0);
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_truncation_cancels_nothing) {
    Manager kv(windowed(2, 8, 4));
    const SequenceHandle a = admit(kv, 9);
    must(reserve(kv, a, 2));
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, 5); });
    BOOST_TEST(kv.reserved(a).value() == 2);
}

BOOST_AUTO_TEST_CASE(truncation_goes_back_as_far_as_the_next_query_still_sees_all_it_needs) {
    for (const Length slack : {0, 1, 2, 3, 5}) {
        for (Length n = 1; n <= 14; ++n) {
            for (Length back = 0; back <= n; ++back) {
                Config config = windowed(2, 16, 4);
                config.rewind_slack = slack;
                Manager kv(config);
                const SequenceHandle a = admit(kv, n);
                const Length length = n - back;
                const Length held_from = std::max<Length>(0, (n - 4 - slack) / 2 * 2);  // whole blocks of 2
                const bool works = length == 0 || std::max<Length>(0, length - 3) >= held_from;
                if (works) {
                    must(kv.truncate(a, length));
                    BOOST_TEST(kv.length(a).value() == length);
                } else {
                    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, length); });
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(rewind_slack_keeps_cells_through_reservations_too) {
    Config config = windowed(2, 16, 4);
    config.rewind_slack = 4;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 12);
    BOOST_TEST(first_resident(kv, a) == 4);
    must(reserve(kv, a, 1));  // need(12) - 4 = 5
    BOOST_TEST(first_resident(kv, a) == 4);
    must(kv.truncate(a, 7));
    BOOST_TEST(kv.length(a).value() == 7);
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, 6); });
}

BOOST_AUTO_TEST_CASE(sinks_are_held_and_count_as_history_that_the_result_needs) {
    Manager kv(windowed(4, 16, 4, 2));
    const SequenceHandle a = admit(kv, 20);
    BOOST_TEST(table_of(kv, a) == Ids({1, 0, 0, 0, 5}), per_element());
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, 18); });  // needs 15
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, 7); });
    expect_refusal(kv, Error::window_evicted, [&] { return kv.truncate(a, 5); });  // needs 4
    must(kv.truncate(a, 4));  // needs 1..3, which stand in the block of the sinks
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    BOOST_TEST(first_resident(kv, a) == 0);
    BOOST_TEST(slots_of(append(kv, a, 1)).size() == 1U);
    BOOST_TEST(first_resident(kv, a) == 0);
}

BOOST_AUTO_TEST_CASE(the_start_can_always_be_reached) {
    Manager kv(windowed(4, 8, 1, 2));
    const SequenceHandle a = admit(kv, 20);
    must(kv.truncate(a, 0));
    BOOST_TEST(table_of(kv, a).empty());
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));
    BOOST_TEST(append(kv, a, 5).blocks_taken == 2);
    BOOST_TEST(first_resident(kv, a) == 0);
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_the_tail_block_may_become_a_hole_that_the_next_write_fills) {
    Manager kv(windowed(4, 8, 1));
    const SequenceHandle a = admit(kv, 9);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 3}), per_element());
    must(kv.truncate(a, 6));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0}), per_element());
    BOOST_TEST(first_resident(kv, a) == 6);
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));

    const Step step = append(kv, a, 1);
    BOOST_TEST(step.copies.empty());
    BOOST_TEST(step.blocks_taken == 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 4}), per_element());
    BOOST_TEST(slots_of(step) == Slots({18}), per_element());
    BOOST_TEST(first_resident(kv, a) == 6);
    append(kv, a, 1);
    BOOST_TEST(first_resident(kv, a) == 6);
    append(kv, a, 2);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 5}), per_element());
    BOOST_TEST(first_resident(kv, a) == 8);
}

BOOST_AUTO_TEST_CASE(cells_that_were_never_written_into_a_filled_hole_have_no_slot) {
    Manager kv(windowed(4, 8, 1));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 6));
    append(kv, a, 1);
    BOOST_TEST(!has_slot(kv, a, 4));
    BOOST_TEST(!has_slot(kv, a, 5));
    BOOST_TEST(has_slot(kv, a, 6));
    BOOST_TEST(!has_slot(kv, a, 7));
}

BOOST_AUTO_TEST_CASE(cancelling_a_filled_hole_makes_it_a_hole_again) {
    Manager kv(windowed(4, 8, 1));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 6));
    must(reserve(kv, a, 1));
    BOOST_TEST(table_of(kv, a) == Ids({0, 4}), per_element());
    must(kv.cancel(a));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_block_goes_when_truncation_leaves_none_of_its_cells) {
    Manager kv(windowed(4, 8, 1));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 6));
    append(kv, a, 2);  // 6 and 7 in block 4
    must(kv.truncate(a, 7));
    BOOST_TEST(table_of(kv, a) == Ids({0, 4}), per_element());
    must(kv.truncate(a, 6));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0}), per_element());
    append(kv, a, 1);
    must(kv.truncate(a, 5));
    BOOST_TEST(table_of(kv, a) == Ids({0, 0}), per_element());
    must(kv.truncate(a, 4));
    BOOST_TEST(table_of(kv, a) == Ids({0}), per_element());
}

BOOST_AUTO_TEST_CASE(a_shared_block_with_missing_cells_is_copied_and_they_stay_missing) {
    Manager kv(windowed(4, 8, 1));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 5));
    append(kv, a, 1);  // 5 in block 4
    const SequenceHandle b = must(kv.fork(a));
    const Step step = append(kv, b, 1);
    BOOST_TEST_REQUIRE(step.copies.size() == 1U);
    BOOST_TEST(step.copies[0].source == BlockId{4});
    BOOST_TEST(step.copies[0].cells == 2U);  // up to and with the last committed one
    BOOST_TEST(first_resident(kv, b) == 5);
    BOOST_TEST(first_resident(kv, a) == 5);
}

BOOST_AUTO_TEST_CASE(truncating_a_child_leaves_the_parent_alone) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 10);
    const SequenceHandle b = must(kv.fork(a));
    must(kv.truncate(b, 5));
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(refs_of(kv, a) == Ids({2, 2, 1}), per_element());
    BOOST_TEST(append(kv, b, 1).copies.size() == 1U);
    BOOST_TEST(kv.length(a).value() == 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

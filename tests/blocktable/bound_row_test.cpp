// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>
#include <vector>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

using Int32s = std::vector<std::int32_t>;

RowChange change_of(Manager& kv, SequenceHandle sequence) { return must(kv.take_row_change(sequence, first_group)); }

bool nothing(const RowChange& change) { return change.begin == change.end; }

}  // namespace

BOOST_AUTO_TEST_SUITE(bound_rows)

BOOST_AUTO_TEST_CASE(a_bound_row_mirrors_the_table_and_counts_as_changed_as_a_whole) {
    Manager kv(windowed(4, 16, 4));
    const SequenceHandle a = admit(kv, 14);
    Int32s row(6, -9);
    must(kv.bind_row(a, first_group, row));
    BOOST_TEST(row == Int32s({0, 0, 3, 4, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{0, 6}));
    BOOST_TEST(nothing(change_of(kv, a)));
}

BOOST_AUTO_TEST_CASE(a_decode_step_changes_an_entry_only_where_a_block_is_crossed) {
    Manager kv(plain(4, 16));
    const SequenceHandle a = admit(kv, 6);
    Int32s row(4, -9);
    must(kv.bind_row(a, first_group, row));
    change_of(kv, a);
    append(kv, a, 1);
    BOOST_TEST(nothing(change_of(kv, a)));
    append(kv, a, 1);
    BOOST_TEST(nothing(change_of(kv, a)));
    append(kv, a, 1);
    BOOST_TEST(row == Int32s({1, 2, 3, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{2, 3}));
}

BOOST_AUTO_TEST_CASE(every_operation_keeps_the_row_current_and_reports_what_it_wrote) {
    Manager kv(windowed(4, 32, 8));
    const SequenceHandle a = admit(kv, 8);
    Int32s row(8, -9);
    must(kv.bind_row(a, first_group, row));
    change_of(kv, a);

    must(reserve(kv, a, 5));  // need(8) = 1: nothing leaves
    BOOST_TEST(row == Int32s({1, 2, 3, 4, 0, 0, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{2, 4}));
    commit(kv, a, 4);  // n = 12
    BOOST_TEST(row == Int32s({0, 2, 3, 4, 0, 0, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{0, 1}));
    must(kv.cancel(a));
    BOOST_TEST(row == Int32s({0, 2, 3, 0, 0, 0, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{3, 4}));
    must(kv.truncate(a, 11));
    BOOST_TEST(nothing(change_of(kv, a)));
    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST(nothing(change_of(kv, a)));
    append(kv, a, 1);  // copy on write of the tail
    BOOST_TEST(row == Int32s({0, 2, 5, 0, 0, 0, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{2, 3}));
    append(kv, b, 1);  // another sequence
    BOOST_TEST(nothing(change_of(kv, a)));
    must(kv.truncate(a, 0));
    BOOST_TEST(row == Int32s(8, 0), per_element());
    const RowChange all = change_of(kv, a);
    BOOST_TEST(all.begin <= 1U);
    BOOST_TEST(all.end >= 3U);
}

BOOST_AUTO_TEST_CASE(changes_add_up_until_they_are_taken) {
    Manager kv(plain(2, 16));
    const SequenceHandle a = admit(kv, 2);
    Int32s row(8, -9);
    must(kv.bind_row(a, first_group, row));
    change_of(kv, a);
    append(kv, a, 1);
    append(kv, a, 4);
    BOOST_TEST(change_of(kv, a) == (RowChange{1, 4}));
}

BOOST_AUTO_TEST_CASE(a_block_that_comes_and_goes_within_one_call_leaves_the_row_right) {
    Manager kv(windowed(2, 16, 2));
    const SequenceHandle a = admit_empty(kv);
    Int32s row(8, -9);
    must(kv.bind_row(a, first_group, row));
    append(kv, a, 9);
    BOOST_TEST(row == Int32s({0, 0, 0, 4, 5, 0, 0, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(a_hole_that_is_filled_again_shows_in_the_row) {
    Manager kv(windowed(4, 16, 1));
    const SequenceHandle a = admit(kv, 9);
    Int32s row(4, -9);
    must(kv.bind_row(a, first_group, row));
    must(kv.truncate(a, 6));
    BOOST_TEST(row == Int32s({0, 0, 0, 0}), per_element());
    change_of(kv, a);
    append(kv, a, 1);
    BOOST_TEST(row == Int32s({0, 4, 0, 0}), per_element());
    BOOST_TEST(change_of(kv, a) == (RowChange{1, 2}));
}

BOOST_AUTO_TEST_CASE(a_row_that_is_shorter_than_the_table_is_refused_and_not_touched) {
    Manager kv(plain(4, 16));
    const SequenceHandle a = admit(kv, 9);
    Int32s row(2, -9);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.bind_row(a, first_group, row); });
    BOOST_TEST(row == Int32s({-9, -9}), per_element());
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.take_row_change(a, first_group); });
}

BOOST_AUTO_TEST_CASE(an_operation_that_would_outgrow_the_row_is_never) {
    Manager kv(plain(4, 16));
    const SequenceHandle a = admit(kv, 6);
    const SequenceHandle b = admit(kv, 8);
    Int32s row(2, -9);
    must(kv.bind_row(a, first_group, row));
    append(kv, a, 2);
    expect_refusal(kv, Error::never, [&] { return kv.append(a, some_tokens(1)); });
    expect_refusal(kv, Error::never, [&] { return reserve(kv, a, 1); });
    const std::array<SequenceHandle, 2> both{b, a};
    expect_refusal(kv, Error::never, [&] { return kv.append_batch(both, some_tokens(2)); });
    BOOST_TEST(must(kv.plan(std::array{Reservation{a, 1}})).verdict == Verdict::never);
    must(kv.unbind_row(a, first_group));
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(an_unbound_row_is_left_alone) {
    Manager kv(plain(4, 16));
    const SequenceHandle a = admit(kv, 3);
    Int32s row(4, -9);
    must(kv.bind_row(a, first_group, row));
    must(kv.unbind_row(a, first_group));
    append(kv, a, 6);
    BOOST_TEST(row == Int32s({1, 0, 0, 0}), per_element());
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.take_row_change(a, first_group); });
}

BOOST_AUTO_TEST_CASE(neither_a_child_nor_the_next_sequence_in_its_place_inherits_the_row) {
    Manager kv(plain(4, 16));
    const SequenceHandle a = admit(kv, 3);
    Int32s row(4, -9);
    must(kv.bind_row(a, first_group, row));
    const SequenceHandle child = must(kv.fork(a));
    append(kv, child, 6);
    BOOST_TEST(row == Int32s({1, 0, 0, 0}), per_element());
    must(kv.release(child));
    must(kv.release(a));
    row.assign(4, -9);
    admit(kv, 12);
    BOOST_TEST(row == Int32s({-9, -9, -9, -9}), per_element());
}

BOOST_AUTO_TEST_CASE(each_group_has_its_own_row) {
    Config config = plain(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 4, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 5);  // 1 2 | 3 4
    Int32s full(4, -9);
    Int32s swa(4, -9);
    must(kv.bind_row(a, first_group, full));
    must(kv.bind_row(a, second_group, swa));
    append(kv, a, 4);
    BOOST_TEST(full == Int32s({1, 2, 5, 0}), per_element());
    BOOST_TEST(swa == Int32s({0, 4, 6, 0}), per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

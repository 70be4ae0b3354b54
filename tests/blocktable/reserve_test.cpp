// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

namespace kvpane::testing {

using boost::test_tools::per_element;

BOOST_AUTO_TEST_SUITE(reserve_commit_cancel)

BOOST_AUTO_TEST_CASE(reserved_cells_are_not_history_until_they_are_committed) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const Step step = must(reserve(kv, a, 3));
    BOOST_TEST(slots_of(step) == Slots({7, 8, 9}), per_element());
    BOOST_TEST(step.blocks_taken == 1);
    BOOST_TEST(kv.length(a).value() == 3);
    BOOST_TEST(kv.reserved(a).value() == 3);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());
    commit(kv, a, 3);
    BOOST_TEST(kv.length(a).value() == 6);
    BOOST_TEST(kv.reserved(a).value() == 0);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(reserving_again_goes_on_behind_what_is_reserved) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 2));
    BOOST_TEST(slots_of(must(reserve(kv, a, 4))) == Slots({9, 10, 11, 12}), per_element());
    BOOST_TEST(kv.reserved(a).value() == 6);
    BOOST_TEST(kv.length(a).value() == 3);
}

BOOST_AUTO_TEST_CASE(a_commit_of_fewer_tokens_leaves_the_rest_reserved) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 6));
    commit(kv, a, 2);
    BOOST_TEST(kv.length(a).value() == 5);
    BOOST_TEST(kv.reserved(a).value() == 4);
    commit(kv, a, 4);
    BOOST_TEST(kv.length(a).value() == 9);
}

BOOST_AUTO_TEST_CASE(an_overlapped_engine_reserves_the_next_step_before_it_commits_this_one) {
    Manager kv(windowed(2, 4, 3));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 1));
    for (int step = 0; step < 20; ++step) {
        must(reserve(kv, a, 1));
        commit(kv, a, 1);
        BOOST_TEST(kv.reserved(a).value() == 1);
    }
    BOOST_TEST(kv.length(a).value() == 23);
    BOOST_TEST(first_resident(kv, a) == 20);
}

BOOST_AUTO_TEST_CASE(committing_more_than_is_reserved_is_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    expect_refusal(kv, Error::not_reserved, [&] { return kv.commit(a, tokens(1, 1)); });
    must(reserve(kv, a, 2));
    expect_refusal(kv, Error::not_reserved, [&] { return kv.commit(a, tokens(1, 3)); });
    commit(kv, a, 2);
}

BOOST_AUTO_TEST_CASE(committing_a_negative_token_is_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 2));
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.commit(a, Tokens{1, -2}); });
}

BOOST_AUTO_TEST_CASE(an_empty_commit_does_nothing) {
    Manager kv(windowed(4, 8, 4));
    const SequenceHandle a = admit(kv, 7);
    const std::uint64_t before = kv.digest();
    must(kv.commit(a, {}));
    BOOST_TEST(kv.digest() == before);
    must(reserve(kv, a, 2));
    const std::uint64_t with_reserved = kv.digest();
    must(kv.commit(a, {}));
    BOOST_TEST(kv.digest() == with_reserved);
}

BOOST_AUTO_TEST_CASE(cancelling_gives_back_the_blocks_that_hold_nothing_else_deepest_first) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 10));
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3, 4}), per_element());
    must(kv.cancel(a));
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 7, 8, 4, 3, 2}), per_element());
    BOOST_TEST(kv.reserved(a).value() == 0);
    BOOST_TEST(kv.length(a).value() == 3);
}

BOOST_AUTO_TEST_CASE(cancelling_after_a_partial_commit_keeps_what_was_accepted) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 10));
    commit(kv, a, 3);
    must(kv.cancel(a));
    BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());
    BOOST_TEST(kv.length(a).value() == 6);
}

BOOST_AUTO_TEST_CASE(cancelling_with_nothing_reserved_does_nothing) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const std::uint64_t before = kv.digest();
    must(kv.cancel(a));
    BOOST_TEST(kv.digest() == before);
}

BOOST_AUTO_TEST_CASE(one_call_reserves_for_several_sequences_in_order) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const SequenceHandle b = admit(kv, 4);
    const std::array<Reservation, 2> asked{Reservation{b, 5}, Reservation{a, 2}};
    const Step step = must(kv.reserve(asked));
    BOOST_TEST(step.cells == 7);
    BOOST_TEST(step.blocks_taken == 3);
    BOOST_TEST(table_of(kv, b) == Ids({2, 3, 4}), per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1, 5}), per_element());
    BOOST_TEST(slots_of(step) == Slots({12, 13, 14, 15, 16, 7, 20}), per_element());
}

BOOST_AUTO_TEST_CASE(in_several_groups_the_slots_of_a_batch_stand_group_by_group) {
    Config config = plain(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 8, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 3);  // 1 | 2
    const SequenceHandle b = admit(kv, 4);  // 3 | 4
    const std::array<Reservation, 2> asked{Reservation{a, 2}, Reservation{b, 1}};
    const Step step = must(kv.reserve(asked));
    BOOST_TEST(slots_of(step, first_group) == Slots({7, 20, 28}), per_element());
    BOOST_TEST(slots_of(step, second_group) == Slots({11, 24, 32}), per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_that_does_not_fit_as_a_whole_changes_nothing) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = admit(kv, 4);
    const std::array<Reservation, 2> asked{Reservation{a, 1}, Reservation{b, 1}};
    expect_refusal(kv, Error::never, [&] { return kv.reserve(asked); });  // both of them fill the pool alone
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    must(reserve(kv, a, 1));
    expect_refusal(kv, Error::later, [&] { return reserve(kv, b, 1); });
}

BOOST_AUTO_TEST_CASE(reserving_nothing_or_one_sequence_twice_is_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const SequenceHandle b = admit(kv, 3);
    expect_refusal(kv, Error::invalid_argument, [&] { return reserve(kv, a, 0); });
    expect_refusal(kv, Error::invalid_argument, [&] { return reserve(kv, a, -1); });
    const std::array<Reservation, 3> twice{Reservation{a, 1}, Reservation{b, 1}, Reservation{a, 1}};
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.reserve(twice); });
    const std::array<Reservation, 2> with_nothing{Reservation{a, 1}, Reservation{b, 0}};
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.reserve(with_nothing); });
    must(reserve(kv, a, 1));  // a refused batch does not mark its sequences
    must(reserve(kv, b, 1));
}

BOOST_AUTO_TEST_CASE(a_huge_reservation_is_never_and_not_an_overflow) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    for (const Length cells : {Length{longest_sequence}, Length{1} << 40U, std::numeric_limits<Length>::max()}) {
        expect_refusal(kv, Error::never, [&] { return reserve(kv, a, cells); });
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

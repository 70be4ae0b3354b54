// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

namespace kvpane::testing {

namespace {

void refuses_append(Manager& kv, Error error, SequenceHandle sequence, Length count) {
    expect_refusal(kv, error, [&] { return kv.append(sequence, some_tokens(count)); });
}

void refuses_admit(Manager& kv, Error error, Length count) {
    expect_refusal(kv, error, [&] { return kv.admit({.tokens = some_tokens(count)}); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(verdicts)

BOOST_AUTO_TEST_CASE(a_request_larger_than_the_pool_gets_a_final_no) {
    Manager kv(plain(4, 4));
    refuses_admit(kv, Error::never, 17);
    const SequenceHandle a = admit(kv, 16);
    refuses_append(kv, Error::never, a, 1);
    refuses_admit(kv, Error::later, 1);
    must(kv.release(a));
    admit(kv, 1);
}

BOOST_AUTO_TEST_CASE(later_means_that_it_works_once_the_others_are_gone) {
    Manager kv(plain(4, 4));
    const SequenceHandle a = admit(kv, 8);
    const SequenceHandle b = admit(kv, 8);
    refuses_append(kv, Error::later, a, 8);
    refuses_append(kv, Error::never, a, 9);
    must(kv.release(b));
    append(kv, a, 8);
}

BOOST_AUTO_TEST_CASE(a_copy_counts_as_a_block_only_while_somebody_shares_the_tail) {
    Manager kv(plain(4, 2));
    const SequenceHandle a = admit(kv, 5);
    const SequenceHandle b = must(kv.fork(a));
    refuses_append(kv, Error::later, a, 1);  // alone it would write in place
    must(kv.release(b));
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(a_batch_is_judged_against_an_empty_pool_with_all_of_its_sequences) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = admit(kv, 4);
    const SequenceHandle c = admit(kv, 4);
    const std::array<Reservation, 2> two{Reservation{a, 1}, Reservation{b, 1}};
    expect_refusal(kv, Error::never, [&] { return kv.reserve(two); });
    const std::array<Reservation, 1> one{Reservation{a, 1}};
    expect_refusal(kv, Error::later, [&] { return kv.reserve(one); });
    must(kv.release(c));
    expect_refusal(kv, Error::never, [&] { return kv.reserve(two); });
    must(kv.reserve(one));
}

BOOST_AUTO_TEST_CASE(what_a_batch_shares_within_itself_stays_shared_when_the_others_are_gone) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 5);
    const SequenceHandle b = must(kv.fork(a));
    const SequenceHandle c = must(kv.fork(a));
    const std::array<SequenceHandle, 3> all{a, b, c};
    const std::array<SequenceHandle, 2> two{a, b};
    // All three: two copies. Two of them: c holds on to the tail, two copies now, one when c is gone.
    expect_refusal(kv, Error::never, [&] { return kv.append_batch(all, some_tokens(3)); });
    expect_refusal(kv, Error::later, [&] { return kv.append_batch(two, some_tokens(2)); });
    must(kv.release(c));
    must(kv.append_batch(two, some_tokens(2)));
}

BOOST_AUTO_TEST_CASE(blocks_that_leave_the_window_are_room_for_the_same_call) {
    Config config = windowed(2, 4, 2);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 8);
    append(kv, a, 3);
    append(kv, a, 1);
    append(kv, a, 6);
    refuses_append(kv, Error::never, a, 8);
    BOOST_TEST(kv.length(a).value() == 18);
    append(kv, a, 6);
    BOOST_TEST(first_resident(kv, a) == 16);
}

BOOST_AUTO_TEST_CASE(fenced_blocks_are_later_and_never_assumes_that_open_steps_have_ended) {
    Manager kv(windowed(2, 3, 4));
    const SequenceHandle a = admit(kv, 5);
    must(kv.step_begin(StepId{1}));
    append(kv, a, 1);
    refuses_append(kv, Error::later, a, 1);
    refuses_append(kv, Error::never, a, 4);
    must(kv.step_end(StepId{1}));
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(passing_max_length_is_never_for_admissions_reservations_and_batches) {
    Config config = plain(4, 16);
    config.max_length = 10;
    Manager kv(config);
    refuses_admit(kv, Error::never, 11);
    const SequenceHandle a = admit(kv, 10);
    refuses_append(kv, Error::never, a, 1);
    const SequenceHandle b = admit(kv, 8);
    expect_refusal(kv, Error::never, [&] { return reserve(kv, b, 3); });
    must(reserve(kv, b, 1));
    expect_refusal(kv, Error::never, [&] { return reserve(kv, b, 2); });  // reserved cells count
    must(reserve(kv, b, 1));
    must(kv.truncate(a, 9));
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(the_watermark_counts_for_admissions_while_another_sequence_is_alive) {
    Config config = plain(4, 10);
    config.watermark = 3;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 36);  // alone it may use all but one
    refuses_admit(kv, Error::later, 1);
    append(kv, a, 4);  // the watermark is for admission only
    BOOST_TEST(queue_of(kv).empty());
    must(kv.truncate(a, 20));
    refuses_admit(kv, Error::later, 9);  // 5 idle, 3 of them left free
    const SequenceHandle b = admit(kv, 8);
    append(kv, b, 12);
}

BOOST_AUTO_TEST_CASE(the_watermark_never_makes_a_request_impossible) {
    Config config = plain(4, 4);
    config.watermark = 3;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 1);
    refuses_admit(kv, Error::later, 13);  // all four blocks: possible when a is gone
    refuses_admit(kv, Error::never, 17);
    must(kv.release(a));
    admit(kv, 13);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

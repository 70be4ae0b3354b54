// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

void begin(Manager& kv, std::uint64_t step) { must(kv.step_begin(StepId{step})); }
void end(Manager& kv, std::uint64_t step) { must(kv.step_end(StepId{step})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(device_steps)

BOOST_AUTO_TEST_CASE(a_block_given_up_while_a_step_is_in_flight_is_neither_free_nor_lost) {
    Manager kv(windowed(2, 3, 4));
    const SequenceHandle a = admit(kv, 5);
    begin(kv, 1);
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2, 3}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{0, 0, 2, 1}));
    expect_refusal(kv, Error::later, [&] { return kv.append(a, some_tokens(1)); });
    end(kv, 1);
    BOOST_TEST(queue_of(kv) == Ids({1}), per_element());
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2, 3, 1}), per_element());

    begin(kv, 2);  // two open steps
    begin(kv, 3);
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 3, 1}), per_element());
    end(kv, 2);
    BOOST_TEST(partition_of(kv) == (Partition{0, 0, 2, 1}));
    end(kv, 3);
    BOOST_TEST(queue_of(kv) == Ids({2}), per_element());

    begin(kv, 4);  // a step that begins later does not matter
    must(kv.release(a));
    BOOST_TEST(partition_of(kv) == (Partition{1, 0, 0, 2}));
    begin(kv, 5);
    expect_refusal(kv, Error::later, [&] { return kv.admit({.tokens = some_tokens(4)}); });
    end(kv, 4);
    BOOST_TEST(queue_of(kv) == Ids({2, 1, 3}), per_element());
    const SequenceHandle b = admit(kv, 4);
    BOOST_TEST(table_of(kv, b) == Ids({2, 1}), per_element());
    end(kv, 5);
    BOOST_TEST(partition_of(kv) == (Partition{1, 0, 2, 0}));
}

BOOST_AUTO_TEST_CASE(everything_that_gives_blocks_up_is_fenced) {
    Manager kv(plain(2, 10));
    const SequenceHandle a = admit(kv, 4);  // 1, 2
    const SequenceHandle b = admit(kv, 4);  // 3, 4
    must(reserve(kv, b, 3));                // 5, 6
    begin(kv, 1);
    must(kv.cancel(b));
    BOOST_TEST(kv.pool().fenced_blocks() == 2U);
    must(kv.truncate(b, 2));
    BOOST_TEST(kv.pool().fenced_blocks() == 3U);
    must(kv.release(a));
    BOOST_TEST(kv.pool().fenced_blocks() == 5U);
    end(kv, 1);
    BOOST_TEST(queue_of(kv) == Ids({7, 8, 9, 10, 6, 5, 4, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(the_source_of_a_copy_is_fenced_after_everything_else_that_the_call_gives_up) {
    Config config = windowed(2, 12, 2);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 7);
    const SequenceHandle b = must(kv.fork(a, 3));
    begin(kv, 1);
    must(kv.reserve(std::array{Reservation{b, 1}, Reservation{a, 1}}));
    BOOST_TEST(kv.pool().fenced_blocks() == 3U);
    end(kv, 1);
    BOOST_TEST(queue_of(kv) == Ids({6, 7, 8, 9, 10, 11, 12, 3, 1, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(window_blocks_dropped_during_a_step_are_no_room_for_the_same_call) {
    Config config = windowed(2, 4, 2);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 8);
    begin(kv, 1);
    expect_refusal(kv, Error::later, [&] { return kv.append(a, some_tokens(1)); });
    BOOST_TEST(must(kv.plan(std::array{Reservation{a, 1}})).verdict == Verdict::later);
    end(kv, 1);
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(with_the_cache_on_what_becomes_ready_joins_the_front_as_one_batch) {
    Config config = plain(2, 8);
    config.prefix_cache.enabled = true;
    Manager kv(config);
    const SequenceHandle a = admit(kv, 1);
    const SequenceHandle b = admit(kv, 1);
    must(reserve(kv, a, 4));  // 1, 3, 4
    begin(kv, 1);
    must(kv.release(b));  // 2
    must(kv.release(a));
    end(kv, 1);
    BOOST_TEST(queue_of(kv) == Ids({2, 4, 3, 1, 5, 6, 7, 8}), per_element());
}

BOOST_AUTO_TEST_CASE(beginning_an_open_step_and_ending_a_closed_one_are_refused) {
    Manager kv(plain(2, 4));
    begin(kv, 1);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.step_begin(StepId{1}); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.step_end(StepId{2}); });
    end(kv, 1);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.step_end(StepId{1}); });
    begin(kv, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

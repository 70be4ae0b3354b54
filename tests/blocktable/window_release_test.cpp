// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

Config at_reserve(Config config) {
    config.window_release = WindowRelease::reserve;
    return config;
}

Config with_cache(Config config) {
    config.prefix_cache.enabled = true;
    return config;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(window_release)

BOOST_AUTO_TEST_CASE(after_a_commit_the_blocks_wholly_before_the_window_are_gone) {
    Manager kv(windowed(4, 16, 8));
    const SequenceHandle a = admit(kv, 10);
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());  // 11 - 8 = 3: block 0 holds it
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2, 3}), per_element());
    BOOST_TEST(first_resident(kv, a) == 4);
    append(kv, a, 7);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 3, 4, 5}), per_element());
}

BOOST_AUTO_TEST_CASE(before_a_reservation_the_blocks_that_no_query_sees_go_in_both_modes) {
    for (const bool late : {false, true}) {
        Manager kv(late ? at_reserve(windowed(4, 16, 5)) : windowed(4, 16, 5));
        const SequenceHandle a = admit(kv, 8);
        BOOST_TEST(table_of(kv, a) == Ids({1, 2}), per_element());  // 8 - 5 = 3
        must(reserve(kv, a, 1));                                    // need(8) = 4
        BOOST_TEST(table_of(kv, a) == Ids({0, 2, 3}), per_element());
        must(kv.cancel(a));
        BOOST_TEST(table_of(kv, a) == Ids({0, 2}), per_element());
    }
}

BOOST_AUTO_TEST_CASE(in_mode_reserve_a_commit_releases_nothing) {
    Manager kv(at_reserve(windowed(4, 16, 4)));
    const SequenceHandle a = admit(kv, 16);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3, 4}), per_element());
    BOOST_TEST(first_resident(kv, a) == 0);
    append(kv, a, 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4, 5}), per_element());
    append(kv, a, 6);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4, 5, 6}), per_element());
}

BOOST_AUTO_TEST_CASE(windows_slide_by_what_is_committed_not_by_what_is_reserved) {
    Manager kv(windowed(2, 16, 4));
    const SequenceHandle a = admit(kv, 6);
    must(reserve(kv, a, 6));
    must(reserve(kv, a, 2));
    BOOST_TEST(first_resident(kv, a) == 2);
    commit(kv, a, 1);  // n = 7: 3 and later stay
    BOOST_TEST(first_resident(kv, a) == 2);
    commit(kv, a, 1);  // n = 8
    BOOST_TEST(first_resident(kv, a) == 4);
    BOOST_TEST(kv.reserved(a).value() == 6);
}

BOOST_AUTO_TEST_CASE(the_steady_table_of_a_window_stays_within_its_bound) {
    for (const Length window : {1, 2, 3, 4, 5, 8, 9}) {
        for (const Length cells : {1, 2, 3, 7}) {
            Manager kv(windowed(4, 64, window));
            const SequenceHandle a = admit(kv, 1);
            for (int step = 0; step < 40; ++step) {
                must(reserve(kv, a, cells));
                const auto held = static_cast<Length>(kv.table(a, first_group).value().held());
                BOOST_TEST(held <= (window - 1 + cells + 3) / 4 + 1);
                commit(kv, a, cells);
                BOOST_TEST(first_resident(kv, a) <= std::max<Length>(0, kv.length(a).value() - window));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(sinks_stay_as_whole_blocks) {
    Manager kv(windowed(4, 16, 8, 5));  // 5 sinks: two blocks
    const SequenceHandle a = admit(kv, 20);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 0, 4, 5}), per_element());
    BOOST_TEST(first_resident(kv, a) == 12);
    const TableView view = kv.table(a, first_group).value();
    BOOST_TEST(view.sinks.size() == 2U);
    BOOST_TEST(view.run.size() == 2U);
    BOOST_TEST(view.run_begin == 3U);
    BOOST_TEST(view.held() == 4U);
    BOOST_TEST(view[2] == null_block);
    BOOST_TEST(view[99] == null_block);
}

BOOST_AUTO_TEST_CASE(sinks_that_touch_the_window_make_one_unbroken_run) {
    Manager kv(windowed(4, 16, 8, 4));
    const SequenceHandle a = admit(kv, 12);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(first_resident(kv, a) == 0);
    append(kv, a, 4);
    BOOST_TEST(table_of(kv, a) == Ids({1, 0, 3, 4}), per_element());
    BOOST_TEST(first_resident(kv, a) == 8);
}

BOOST_AUTO_TEST_CASE(a_window_gives_its_blocks_back_deepest_first) {
    Manager off(windowed(4, 5, 4));
    admit(off, 16);
    BOOST_TEST(queue_of(off) == Ids({5, 3, 2, 1}), per_element());
    Manager on(with_cache(windowed(4, 5, 3)));
    const SequenceHandle a = admit(on, 1);
    must(reserve(on, a, 11));
    must(on.cancel(a));
    BOOST_TEST(queue_of(on) == Ids({3, 2, 4, 5}), per_element());
}

BOOST_AUTO_TEST_CASE(releasing_gives_back_the_run_and_then_the_sinks) {
    Manager kv(windowed(4, 8, 4, 5));
    const SequenceHandle a = admit(kv, 20);  // 1, 2, 0, 0, 5
    BOOST_TEST(queue_of(kv) == Ids({6, 7, 8, 4, 3}), per_element());
    must(kv.release(a));
    BOOST_TEST(queue_of(kv) == Ids({6, 7, 8, 4, 3, 5, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(releasing_goes_group_by_group_each_deepest_first) {
    Config config = plain(4, 10);
    config.groups = {{"full", 0, 0}, {"swa", 4, 0}, {"mid", 8, 0}};
    Manager off(config);
    const SequenceHandle a = admit(off, 9);  // 1 2 3 | 0 5 6 | 7 8 9
    BOOST_TEST(table_of(off, a, second_group) == Ids({0, 5, 6}), per_element());
    BOOST_TEST(queue_of(off) == Ids({10, 4}), per_element());
    must(off.release(a));
    BOOST_TEST(queue_of(off) == Ids({10, 4, 3, 2, 1, 6, 5, 9, 8, 7}), per_element());
}

BOOST_AUTO_TEST_CASE(with_the_cache_on_each_group_is_a_batch_of_its_own_at_the_front) {
    Config config = plain(4, 9);
    config.prefix_cache.enabled = true;
    config.groups = {{"full", 0, 0}, {"swa", 8, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 1);  // no block of this sequence is ever full
    must(reserve(kv, a, 11));               // 1 3 4 | 2 5 6
    BOOST_TEST(table_of(kv, a, first_group) == Ids({1, 3, 4}), per_element());
    must(kv.release(a));
    BOOST_TEST(queue_of(kv) == Ids({6, 5, 2, 4, 3, 1, 7, 8, 9}), per_element());
}

BOOST_AUTO_TEST_CASE(all_groups_release_before_any_of_them_takes) {
    // The second group drops block 0 of its window; the first takes it, for the pool has nothing else.
    Config config = plain(4, 4);
    config.groups = {{"full", 0, 0}, {"swa", 5, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 8);  // 1 2 | 3 4
    const Plan plan = must(kv.plan(std::array{Reservation{a, 1}}));
    BOOST_TEST(plan.blocks_needed == 2);
    BOOST_TEST(plan.verdict == Verdict::never);  // two are needed, one is dropped

    config.blocks = 5;
    Manager roomier(config);
    const SequenceHandle b = admit(roomier, 8);
    append(roomier, b, 1);
    BOOST_TEST(table_of(roomier, b, first_group) == Ids({1, 2, 5}), per_element());
    BOOST_TEST(table_of(roomier, b, second_group) == Ids({0, 4, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(what_slid_out_of_a_window_is_not_given_back_again) {
    Manager kv(windowed(4, 8, 4));
    const SequenceHandle a = admit(kv, 16);
    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST(refs_of(kv, b) == Ids({2}), per_element());
    must(kv.release(a));
    must(kv.release(b));
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 7, 8, 3, 2, 1, 4}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_shared_block_stays_when_it_leaves_only_one_of_its_windows) {
    Manager kv(windowed(4, 8, 4));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = must(kv.fork(a));
    append(kv, a, 4);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({1}), per_element());
    BOOST_TEST(refs_of(kv, b) == Ids({1}), per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

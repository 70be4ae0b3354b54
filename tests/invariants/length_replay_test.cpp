// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <vector>

#include <kvpane/invariants/length_replay.h>

#include "invariants/expect_sound.h"
#include "support/kv.h"

namespace kvpane::invariants {

namespace {

using Trace = std::vector<Request>;

ReplayConfig replay(Config manager, std::uint32_t samples = 1, std::uint32_t alive = 1) {
    ReplayConfig config;
    config.manager = std::move(manager);
    config.check = CheckMode::every;
    config.samples = samples;
    config.alive = alive;
    return config;
}

// Runs it, with what must hold for every trace.
ReplayReport replayed(const ReplayConfig& config, const Trace& trace) {
    const ReplayReport report = replay_lengths(config, trace);
    expect_sound(report.violation);
    BOOST_TEST(report.requests == static_cast<std::int64_t>(trace.size()));
    BOOST_TEST(report.requests == report.completed + report.refused_never + report.preempted);
    return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(length_replay)

BOOST_AUTO_TEST_CASE(three_requests_use_and_allocate_what_a_hand_computes) {
    // Lengths 3, 4, 5 in 1, 1, 2 blocks of 4; then 0, 1, 2, 3 in 0, 1, 1, 1; then 5 in 2.
    const Trace trace = {{3, 2}, {0, 3}, {5, 0}};
    for (const std::uint32_t alive : {1U, 2U, 3U}) {
        const ReplayReport report = replayed(replay(testing::plain(4, 20), 1, alive), trace);
        BOOST_TEST(report.completed == 3);
        BOOST_TEST(report.used_cells == 12 + 6 + 5);
        BOOST_TEST(report.allocated_cells == 16 + 12 + 8);
        BOOST_TEST(report.operations == 3 + 5 + 3);
        BOOST_TEST(report.refused_later == 0);
        BOOST_TEST(report.unshared_blocks == 0);
    }
}

BOOST_AUTO_TEST_CASE(samples_share_the_whole_blocks_of_their_prompt) {
    // Two samples in blocks of 4: lengths 6 and 7 in 2 blocks each (1 shared), 9 in 3 (2 shared), 5 in 2 (1 shared).
    const Trace trace = {{5, 2}, {8, 1}, {4, 1}};
    for (const std::uint32_t alive : {1U, 2U, 3U}) {
        const ReplayReport report = replayed(replay(testing::plain(4, 40), 2, alive), trace);
        BOOST_TEST(report.unshared_blocks == 4 + 4 + 6 + 4);
        BOOST_TEST(report.saved_blocks == 1 + 1 + 2 + 1);
        BOOST_TEST(report.used_cells == 0);
        BOOST_TEST(report.statistics.forks == 3U);
    }
}

BOOST_AUTO_TEST_CASE(many_samples_save_all_but_one_copy_of_the_prompt) {
    const Length context = 11, generated = 9, block_size = 4;
    const Trace trace = {{context, generated}};
    for (const std::uint32_t samples : {2U, 4U, 6U}) {
        const ReplayReport report = replayed(replay(testing::plain(4, 60), samples), trace);
        BOOST_TEST(report.saved_blocks == generated * (samples - 1) * (context / block_size));
    }
}

BOOST_AUTO_TEST_CASE(a_window_counts_the_cells_that_it_holds) {
    // W = 4 in blocks of 2: lengths 3, 4, 5, 6 hold 2, 2, 3, 2 blocks; at 6 the first two cells are gone.
    const ReplayReport report = replayed(replay(testing::windowed(2, 10, 4)), {{3, 3}});
    BOOST_TEST(report.used_cells == 3 + 4 + 5 + 4);
    BOOST_TEST(report.allocated_cells == 4 + 4 + 6 + 4);
    BOOST_TEST(report.phases.not_full == 1);
    BOOST_TEST(report.phases.exactly_full == 1);
    BOOST_TEST(report.phases.first_eviction == 1);
    BOOST_TEST(report.phases.steady == 1);
}

BOOST_AUTO_TEST_CASE(several_groups_are_summed_and_sinks_count) {
    // Beside full attention a window of 2 with a sink, in blocks of 2: at length 6 it holds the sink block and 1 more.
    Config config = testing::plain(2, 20);
    config.groups = {{"full", 0, 0}, {"sinks", 2, 1}};
    const ReplayReport report = replayed(replay(config), {{6, 0}});
    BOOST_TEST(report.used_cells == 6 + 4);
    BOOST_TEST(report.allocated_cells == 6 + 4);
}

BOOST_AUTO_TEST_CASE(requests_longer_than_the_pool_are_counted_and_the_rest_goes_on) {
    // 16 cells: one prompt is too long, one answer outgrows them, the third fits exactly.
    const ReplayReport report = replayed(replay(testing::plain(4, 4)), {{17, 1}, {10, 10}, {4, 12}});
    BOOST_TEST(report.refused_never == 2);
    BOOST_TEST(report.completed == 1);
    BOOST_TEST(report.preempted == 0);
    BOOST_TEST(report.refused_later == 0);
}

BOOST_AUTO_TEST_CASE(a_request_waits_until_there_is_room) {
    const ReplayReport report = replayed(replay(testing::plain(4, 4), 1, 2), {{8, 1}, {12, 1}});
    BOOST_TEST(report.completed == 2);
    BOOST_TEST(report.refused_later == 1);
}

BOOST_AUTO_TEST_CASE(when_nobody_can_go_on_the_youngest_is_given_up) {
    // Two blocks each of four; both want a third.
    const ReplayReport report = replayed(replay(testing::plain(4, 4), 1, 2), {{8, 8}, {8, 8}});
    BOOST_TEST(report.preempted == 1);
    BOOST_TEST(report.completed == 1);
    BOOST_TEST(report.refused_later == 2);
}

BOOST_AUTO_TEST_CASE(samples_that_cannot_all_grow_are_given_up_as_one) {
    // Three samples of one block each fit; with their second blocks they are beyond the pool.
    const ReplayReport report = replayed(replay(testing::plain(4, 4), 3), {{1, 8}, {2, 1}});
    BOOST_TEST(report.refused_never == 1);
    BOOST_TEST(report.completed == 1);
}

BOOST_AUTO_TEST_CASE(a_crowded_pool_ends_and_loses_no_request) {
    Trace trace;
    for (Length i = 0; i < 60; ++i) {
        trace.push_back({i * 7 % 23, i * 5 % 17});
    }
    for (const std::uint32_t samples : {1U, 3U}) {
        for (const std::uint32_t alive : {1U, 4U, 16U}) {
            Config config = testing::plain(2, 30);
            config.watermark = 2;
            const ReplayReport report = replayed(replay(config, samples, alive), trace);
            BOOST_TEST(report.completed > 20);
        }
    }
}

BOOST_AUTO_TEST_CASE(requests_of_nothing_and_traces_of_nothing_end) {
    for (const std::uint32_t samples : {1U, 2U}) {
        const ReplayReport zeros = replayed(replay(testing::plain(4, 4), samples), {{0, 0}, {0, 0}});
        BOOST_TEST(zeros.completed == 2);
        BOOST_TEST(zeros.used_cells + zeros.allocated_cells + zeros.unshared_blocks == 0);
        BOOST_TEST(replayed(replay(testing::plain(4, 4), samples), {}).operations == 0);
    }
}

BOOST_AUTO_TEST_CASE(equal_replays_are_equal_and_progress_ends_with_everything_done) {
    const Trace trace = {{30, 9}, {12, 20}, {7, 7}, {40, 3}};
    ReplayConfig config = replay(testing::plain(4, 20), 1, 3);
    StressProgress last;
    const ReplayReport every = replay_lengths(config, trace, [&](const StressProgress& progress) { last = progress; });
    BOOST_TEST(last.done == 4);
    BOOST_TEST(last.of == 4);
    config.check = CheckMode::off;
    const ReplayReport off = replayed(config, trace);
    BOOST_TEST(off.operations == every.operations);
    BOOST_TEST(off.used_cells == every.used_cells);
    BOOST_TEST(off.allocated_cells == every.allocated_cells);
    BOOST_TEST(off.refused_later == every.refused_later);
    BOOST_TEST(off.checks == 0);
    BOOST_TEST(every.checks > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

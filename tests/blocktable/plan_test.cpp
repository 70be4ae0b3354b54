// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>
#include <chrono>
#include <vector>

namespace kvpane::testing {

namespace {

Plan plan_prompt(const Manager& kv, Length count, Length chunk = 0) { return must(kv.plan_prompt(count, chunk)); }

Plan plan_one(Manager& kv, SequenceHandle sequence, Length cells) {
    return must(kv.plan(std::array{Reservation{sequence, cells}}));
}

// The most blocks that a prompt fed in chunks holds at once, by doing it.
std::int64_t peak_of(Config config, Length count, Length chunk) {
    config.blocks = count * static_cast<std::int64_t>(config.groups.size());
    config.max_length = 0;
    Manager kv(config);
    const SequenceHandle a = admit_empty(kv);
    std::uint32_t peak = 0;
    for (Length done = 0; done < count; done += chunk) {
        const Length cells = std::min(chunk, count - done);
        must(reserve(kv, a, cells));
        peak = std::max(peak, kv.pool().live_blocks());
        commit(kv, a, cells);
    }
    return peak;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plans)

BOOST_AUTO_TEST_CASE(a_long_prompt_in_chunks_needs_at_most_the_window_and_one_chunk) {
    Config config = windowed(16, 191, 1000);
    config.window_release = WindowRelease::reserve;
    const Manager kv(config);
    BOOST_TEST(plan_prompt(kv, 20'000, 512).blocks_needed == 95);
    BOOST_TEST(plan_prompt(kv, 20'000, 512).verdict == Verdict::ok);
    BOOST_TEST(plan_prompt(kv, 20'000, 2048).blocks_needed == 191);
    BOOST_TEST(plan_prompt(kv, 20'000, 2048).verdict == Verdict::ok);
    BOOST_TEST(plan_prompt(kv, 600, 512).blocks_needed == 38);
    BOOST_TEST(plan_prompt(kv, 20'000).verdict == Verdict::never);
    BOOST_TEST(plan_prompt(kv, 20'000).blocks_needed == 1250);  // not capped by the pool
    BOOST_TEST(plan_prompt(kv, 3056).verdict == Verdict::ok);
    BOOST_TEST(plan_prompt(kv, 3056).blocks_needed == 191);
    BOOST_TEST(plan_prompt(kv, 3057).verdict == Verdict::never);
}

BOOST_AUTO_TEST_CASE(a_planned_peak_is_the_peak_that_is_reached) {
    for (const WindowRelease release : {WindowRelease::commit, WindowRelease::reserve}) {
        for (const std::uint32_t block_size : {1U, 3U, 4U}) {
            for (const Length window : {0, 1, 2, 3, 5, 8, 13}) {
                Config config = windowed(block_size, 4, window, window == 5 ? 6 : 0);
                config.window_release = release;
                config.rewind_slack = window == 8 ? 3 : 0;
                config.groups.push_back({"second", 6, 0});
                const Manager kv(config);
                for (const Length chunk : {1, 2, 3, 4, 7, 12, 60}) {
                    for (const Length count : {1, 2, 7, 12, 13, 40, 60}) {
                        BOOST_TEST_CONTEXT("block_size " << block_size << " window " << window << " chunk " << chunk
                                                         << " count " << count) {
                            const Plan plan = plan_prompt(kv, count, chunk);
                            BOOST_TEST(plan.blocks_needed == peak_of(config, count, chunk));
                            BOOST_TEST((plan.verdict == Verdict::ok) == (plan.blocks_needed <= 4));
                            BOOST_TEST(plan.copies == 0);
                        }
                    }
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_plan_takes_no_longer_for_the_longest_prompt_in_the_smallest_chunks) {
    Config config = windowed(1024, 100'000, 4096, 7);
    config.groups.push_back({"full", 0, 0});
    config.groups.push_back({"one", 1, 0});
    config.blocks = 2'200'000;
    const Manager kv(config);
    const auto start = std::chrono::steady_clock::now();
    const Plan plan = plan_prompt(kv, longest_sequence, 1);
    const auto took = std::chrono::steady_clock::now() - start;
    // full: all 2^31 - 1 cells; window 4096: five blocks and the one of the sinks; window 1: one
    BOOST_TEST(plan.blocks_needed == 2'097'152 + 6 + 1);
    BOOST_TEST(plan.verdict == Verdict::ok);
    BOOST_TEST(std::chrono::duration<double>(took).count() < 0.5);  // feeding it token by token takes many seconds
}

BOOST_AUTO_TEST_CASE(the_watermark_counts_for_the_first_chunk_only_and_only_beside_another_sequence) {
    Config config = plain(4, 10);
    config.watermark = 4;
    Manager kv(config);
    BOOST_TEST(plan_prompt(kv, 40).verdict == Verdict::ok);
    const SequenceHandle a = admit(kv, 4);
    BOOST_TEST(plan_prompt(kv, 20).verdict == Verdict::ok);     // 5 + 4 of 9
    BOOST_TEST(plan_prompt(kv, 21).verdict == Verdict::later);  // 6 + 4
    BOOST_TEST(plan_prompt(kv, 36, 20).verdict == Verdict::ok);
    BOOST_TEST(plan_prompt(kv, 37, 20).verdict == Verdict::later);
    BOOST_TEST(plan_prompt(kv, 40, 4).verdict == Verdict::later);
    BOOST_TEST(plan_prompt(kv, 41, 4).verdict == Verdict::never);
    must(kv.release(a));
    BOOST_TEST(plan_prompt(kv, 40, 4).verdict == Verdict::ok);
}

BOOST_AUTO_TEST_CASE(a_prompt_longer_than_max_length_is_never) {
    Config config = windowed(4, 10, 4);
    config.max_length = 30;
    const Manager kv(config);
    BOOST_TEST(plan_prompt(kv, 30, 4).verdict == Verdict::ok);
    BOOST_TEST(plan_prompt(kv, 31, 4).verdict == Verdict::never);
    BOOST_TEST(plan_prompt(kv, longest_sequence + 1, 4).verdict == Verdict::never);
}

BOOST_AUTO_TEST_CASE(senseless_plans_are_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const auto refuses = [&](auto call) { expect_refusal(kv, Error::invalid_argument, call); };
    refuses([&] { return kv.plan_prompt(0); });
    refuses([&] { return kv.plan_prompt(-1); });
    refuses([&] { return kv.plan_prompt(5, -1); });
    refuses([&] { return kv.plan(std::array{Reservation{a, 0}}); });
    refuses([&] { return kv.plan(std::array{Reservation{a, 1}, Reservation{a, 1}}); });
}

BOOST_AUTO_TEST_CASE(a_batch_plan_says_what_the_reservation_then_takes) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);
    const SequenceHandle b = must(kv.fork(a));
    const std::array<Reservation, 2> asked{Reservation{a, 4}, Reservation{b, 1}};
    const Plan plan = must(kv.plan(asked));
    BOOST_TEST(plan.verdict == Verdict::ok);
    BOOST_TEST(plan.blocks_needed == 2);
    BOOST_TEST(plan.copies == 1);
    const Step step = must(kv.reserve(asked));
    BOOST_TEST(step.blocks_taken == plan.blocks_needed);
    BOOST_TEST(step.copies.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_batch_plan_says_later_and_never_as_the_reservation_would_fail) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = admit(kv, 4);
    BOOST_TEST(plan_one(kv, a, 4).verdict == Verdict::ok);
    BOOST_TEST(plan_one(kv, a, 5).verdict == Verdict::later);
    BOOST_TEST(plan_one(kv, a, 5).blocks_needed == 2);
    BOOST_TEST(plan_one(kv, a, 9).verdict == Verdict::never);
    BOOST_TEST(plan_one(kv, a, 9).blocks_needed == 3);
    const std::array<Reservation, 2> both{Reservation{a, 1}, Reservation{b, 1}};
    BOOST_TEST(must(kv.plan(both)).verdict == Verdict::never);
    BOOST_TEST(must(kv.plan(both)).blocks_needed == 2);
}

BOOST_AUTO_TEST_CASE(plans_change_nothing_not_even_the_statistics) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 4);
    admit(kv, 4);
    const std::uint64_t before = kv.digest();
    const Statistics statistics = kv.statistics();
    for (const Length cells : {1, 5, 9}) {
        plan_one(kv, a, cells);
        plan_prompt(kv, cells * 2);
    }
    BOOST_TEST(kv.digest() == before);
    BOOST_TEST(kv.statistics().refused_later == statistics.refused_later);
    BOOST_TEST(kv.statistics().refused_never == statistics.refused_never);
    BOOST_TEST(kv.statistics().queried_tokens == statistics.queried_tokens);
    must(reserve(kv, a, 1));
}

BOOST_AUTO_TEST_CASE(verdicts_are_spelled_as_scenarios_spell_them) {
    BOOST_TEST(to_string(Verdict::ok) == "ok");
    BOOST_TEST(to_string(Verdict::later) == "later");
    BOOST_TEST(to_string(Verdict::never) == "never");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

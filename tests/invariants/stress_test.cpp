// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <numeric>

#include <kvpane/invariants/stress.h>
#include <kvpane/invariants/stress_generator.h>

#include "invariants/expect_sound.h"
#include "invariants/loads.h"
#include "support/kv.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

using boost::test_tools::per_element;

StressConfig mixed() { return every_kind(testing::seed(), 2000); }

std::int64_t sum(const std::array<std::int64_t, Mix::kinds>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stress_runs)

BOOST_AUTO_TEST_CASE(equal_configs_give_equal_runs_in_every_check_mode) {
    StressConfig config = mixed();
    const StressReport off = stress(config);
    expect_sound(off.violation);
    BOOST_TEST(off.checks == 0);
    for (const CheckMode mode : {CheckMode::off, CheckMode::sampled, CheckMode::every}) {
        config.check = mode;
        const StressReport report = stress(config);
        expect_sound(report.violation);
        BOOST_TEST(report.digest == off.digest);
        BOOST_TEST(report.operations == off.operations);
        BOOST_TEST(report.tried == off.tried, per_element());
        BOOST_TEST(report.succeeded == off.succeeded, per_element());
        BOOST_TEST(report.utilisation == off.utilisation);
        BOOST_TEST(report.events.stored == off.events.stored);
        BOOST_TEST(report.index_entries == off.index_entries);
        BOOST_TEST((report.checks > 0) == (mode != CheckMode::off));
    }
}

BOOST_AUTO_TEST_CASE(another_seed_gives_another_run) {
    StressConfig config = mixed();
    const StressReport first = stress(config);
    ++config.seed;
    BOOST_TEST(stress(config).digest != first.digest);
}

BOOST_AUTO_TEST_CASE(every_kind_is_tried_and_each_step_counts_once) {
    const StressConfig config = mixed();
    const StressReport report = stress(config);
    BOOST_TEST(sum(report.tried) == config.steps);
    BOOST_TEST(report.operations > config.steps);  // releases that made room, and the end
    for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
        BOOST_TEST_CONTEXT(mix_names[kind]) {
            BOOST_TEST(report.succeeded[kind] > 0);
            BOOST_TEST(report.succeeded[kind] <= report.tried[kind]);
        }
    }
    BOOST_TEST(report.refused_later > 0);
    BOOST_TEST(report.refused_evicted > 0);
    BOOST_TEST(report.utilisation > 0.5);
    BOOST_TEST(report.utilisation < 1.0);
    BOOST_TEST(report.statistics.copies > 0U);
}

BOOST_AUTO_TEST_CASE(a_kind_at_zero_percent_is_never_tried) {
    for (std::size_t kind = Mix::append; kind < Mix::kinds; ++kind) {
        StressConfig config = mixed();
        config.mix.percent[Mix::admit] += config.mix.percent[kind];
        config.mix.percent[kind] = 0;
        const StressReport report = stress(config);
        expect_sound(report.violation);
        BOOST_TEST_CONTEXT(mix_names[kind]) { BOOST_TEST(report.tried[kind] == 0); }
    }
}

BOOST_AUTO_TEST_CASE(every_phase_of_a_window_is_reached) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    config.manager = testing::windowed(4, 40, 7);
    config.prompt = {LengthDistribution::Kind::edges, 1, 20, 1, 0, {}};
    config.steps = 1000;
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.phases.not_full > 0);
    BOOST_TEST(report.phases.exactly_full > 0);
    BOOST_TEST(report.phases.first_eviction > 0);
    BOOST_TEST(report.phases.steady > 0);
}

BOOST_AUTO_TEST_CASE(without_a_window_there_are_no_phases) {
    StressConfig config = mixed();
    config.manager = testing::plain(4, 60);
    const WindowPhases phases = stress(config).phases;
    BOOST_TEST(phases.not_full + phases.exactly_full + phases.first_eviction + phases.steady == 0);
}

BOOST_AUTO_TEST_CASE(the_phase_is_what_the_commit_led_to) {
    WindowPhases phases;
    phases.count(0, 3, 4);
    phases.count(3, 4, 4);
    phases.count(0, 5, 4);
    phases.count(4, 5, 4);
    phases.count(5, 6, 4);
    BOOST_TEST(phases.not_full == 1);
    BOOST_TEST(phases.exactly_full == 1);
    BOOST_TEST(phases.first_eviction == 2);
    BOOST_TEST(phases.steady == 1);
}

BOOST_AUTO_TEST_CASE(a_pool_that_is_nearly_always_full_does_not_stop_the_run) {
    for (const std::int64_t blocks : {1, 2, 3, 7}) {
        StressConfig config = mixed();
        config.check = CheckMode::every;
        config.manager = testing::plain(2, blocks);
        config.prompt = lengths(1, 6);
        config.steps = 1000;
        // Nothing in the mix gives a block back: only the run itself can make room.
        config.mix.percent = {30, 30, 20, 0, 0, 0, 10, 0, 0, 10};
        const StressReport report = stress(config);
        expect_sound(report.violation);
        BOOST_TEST(sum(report.tried) == config.steps);
        BOOST_TEST(report.refused_later + report.refused_never > 0);
        BOOST_TEST(report.succeeded[Mix::admit] > 10);
        BOOST_TEST(report.statistics.released > 10U);
    }
}

BOOST_AUTO_TEST_CASE(prompts_that_can_never_fit_are_refused_until_the_steps_are_done) {
    StressConfig config = mixed();
    config.manager = testing::plain(2, 3);
    config.prompt = lengths(7, 9);
    config.chunked_percent = 0;
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.succeeded[Mix::admit] == 0);
    BOOST_TEST(report.refused_never == report.tried[Mix::admit]);
}

BOOST_AUTO_TEST_CASE(one_sequence_at_a_time_is_enough) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    config.most_sequences = 1;
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.tried[Mix::fork] == 0);  // there is no place for a child
    BOOST_TEST(report.succeeded[Mix::admit] > 0);
}

BOOST_AUTO_TEST_CASE(a_sequence_beyond_the_longest_is_released) {
    StressConfig config = mixed();
    config.mix.percent = {10, 90};
    config.manager = testing::plain(4, 1000);
    config.longest = 40;
    const StressReport report = stress(config);
    BOOST_TEST(report.refused_later == 0);
    BOOST_TEST(report.tried[Mix::release] == 0);
    BOOST_TEST(report.statistics.released > 20U);
    config.longest = 0;
    BOOST_TEST(stress(config).statistics.released < report.statistics.released);
}

BOOST_AUTO_TEST_CASE(every_provoked_error_is_the_one_that_was_wanted) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    config.mix.percent = {10, 8, 4, 10, 2, 0, 2, 0, 0, 4, 0, 60};
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.tried[Mix::invalid] > 1000);
    BOOST_TEST(report.refused_other == report.tried[Mix::invalid]);
    BOOST_TEST(report.succeeded[Mix::invalid] == report.tried[Mix::invalid]);
}

// --- prefixes -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(shared_prefixes_are_hit_and_evicted_and_the_index_is_the_sum_of_its_events) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.statistics.hit_tokens > report.statistics.queried_tokens / 100);
    BOOST_TEST(report.statistics.evicted_blocks > 100U);
    BOOST_TEST(report.refused_pins > 0);
    BOOST_TEST(report.events.stored > 0U);
    // Entries are physical copies, events are contents: several copies may share one.
    BOOST_TEST(report.index_entries >= report.events.stored - report.events.removed - report.events.cleared);
}

BOOST_AUTO_TEST_CASE(what_has_nothing_in_common_or_no_cache_hits_nothing) {
    StressConfig alone = mixed();
    alone.sharing = {};
    BOOST_TEST(stress(alone).statistics.hit_tokens == 0U);
    StressConfig off = mixed();
    off.manager.prefix_cache.enabled = false;
    const StressReport report = stress(off);
    expect_sound(report.violation);
    BOOST_TEST(report.statistics.hit_tokens == 0U);
    BOOST_TEST(report.index_entries == 0U);
}

BOOST_AUTO_TEST_CASE(a_constant_hash_changes_nothing) {
    for (const Granularity granularity : {Granularity::block, Granularity::token}) {
        StressConfig config = mixed();
        config.manager.prefix_cache.granularity = granularity;
        const StressReport report = stress(config);
        config.manager.prefix_cache.constant_hash = true;
        const StressReport constant = stress(config);
        BOOST_TEST(constant.digest == report.digest);
        BOOST_TEST(constant.statistics.hit_tokens == report.statistics.hit_tokens);
        BOOST_TEST(constant.statistics.evicted_blocks == report.statistics.evicted_blocks);
        BOOST_TEST(constant.events.removed == report.events.removed);
    }
}

BOOST_AUTO_TEST_CASE(every_policy_and_granularity_holds_under_every_check) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    config.steps = 800;
    for (const EvictionPolicy policy : {EvictionPolicy::lru, EvictionPolicy::lfu}) {
        for (const Granularity granularity : {Granularity::block, Granularity::token}) {
            config.manager.prefix_cache.policy = policy;
            config.manager.prefix_cache.granularity = granularity;
            expect_sound(stress(config).violation);
        }
    }
}

BOOST_AUTO_TEST_CASE(progress_ends_with_everything_done) {
    StressConfig config = mixed();
    StressProgress last;
    stress(config, [&](const StressProgress& progress) { last = progress; });
    BOOST_TEST(last.done == config.steps);
    BOOST_TEST(last.of == config.steps);
    BOOST_TEST(last.violations == 0);
}

BOOST_AUTO_TEST_CASE(no_steps_are_a_run_too) {
    StressConfig config = mixed();
    config.steps = 0;
    const StressReport report = stress(config);
    expect_sound(report.violation);
    BOOST_TEST(report.operations == 0);
    BOOST_TEST(report.utilisation == 0.0);
}

// --- what the run itself watches ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(an_operation_that_makes_sense_and_fails_is_a_fault) {
    for (const Error error :
         {Error::unknown_sequence, Error::invalid_argument, Error::not_reserved, Error::busy, Error::window_evicted}) {
        StressConfig config = mixed();
        config.mix.percent = {100};
        StressGenerator generator(config);
        StressReport report;
        BOOST_TEST((generator.next().verb == Verb::admit));
        Outcome refusal;
        refusal.error = error;
        const auto fault = generator.settle(refusal, report);
        BOOST_TEST_REQUIRE(fault.has_value());
        BOOST_TEST(*fault == "an operation that makes sense failed with '" + std::string(to_string(error)) + "'");
    }
}

BOOST_AUTO_TEST_CASE(an_operation_that_must_fail_and_succeeds_is_a_fault) {
    StressConfig config = mixed();
    config.mix.percent = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100};
    StressGenerator generator(config);
    StressReport report;
    generator.next();
    const auto fault = generator.settle({}, report);
    BOOST_TEST_REQUIRE(fault.has_value());
    BOOST_TEST(fault->find("succeeded") != std::string::npos);
    generator.next();
    Outcome refusal;
    refusal.error = Error::later;
    BOOST_TEST(generator.settle(refusal, report).has_value());
}

BOOST_AUTO_TEST_CASE(a_block_that_does_not_come_back_is_found_at_the_end) {
    CheckedManager kv(testing::plain(4, 8), CheckMode::off);
    BOOST_TEST(!left_behind(kv).has_value());
    Operation operation;
    operation.verb = Verb::admit;
    operation.tokens = {1, 2, 3, 4, 5};
    kv.apply(operation);
    const auto live = left_behind(kv);
    BOOST_TEST_REQUIRE(live.has_value());
    BOOST_TEST((live->invariant == Invariant::P1));
    BOOST_TEST(live->what == "with everything released 2 blocks are live and 0 fenced");
    operation.verb = Verb::step_begin;
    kv.apply(operation);
    operation.verb = Verb::release;
    kv.apply(operation);
    BOOST_TEST_REQUIRE(left_behind(kv).has_value());
    BOOST_TEST(left_behind(kv)->what == "with everything released 0 blocks are live and 2 fenced");
}

// --- swarm ----------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(swarm_percentages_sum_to_100_and_admit_is_never_off) {
    Mix mix = mixed().mix;
    mix.percent[Mix::admit] += mix.percent[Mix::fork];
    mix.percent[Mix::fork] = 0;
    std::array<std::int64_t, Mix::kinds> off{};
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Random random(seed);
        const Mix swarm = swarm_mix(mix, random);
        BOOST_TEST(sum(swarm.percent) == 100);
        for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
            BOOST_TEST(swarm.percent[kind] >= 0);
            off[kind] += swarm.percent[kind] == 0 ? 1 : 0;
        }
    }
    for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
        BOOST_TEST_CONTEXT(mix_names[kind]) {
            if (kind == Mix::admit) {
                BOOST_TEST(off[kind] == 0);
            } else if (kind == Mix::fork) {
                BOOST_TEST(off[kind] == 500);  // at zero in the config
            } else {
                BOOST_TEST(off[kind] > 60);
                BOOST_TEST(off[kind] < 300);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(swarm_runs_hold_under_every_check) {
    StressConfig config = mixed();
    config.check = CheckMode::every;
    config.swarm = true;
    config.steps = 300;
    for (int run = 0; run < 10; ++run, ++config.seed) {
        BOOST_TEST_CONTEXT("seed " << config.seed) { expect_sound(stress(config).violation); }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

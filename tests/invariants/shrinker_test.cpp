// SPDX-License-Identifier: Apache-2.0
// A failing run becomes a few operations on a small Manager, and they still fail in the same way.
#include <kvpane/invariants/shrinker.h>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <set>

#include <kvpane/invariants/shrink_steps.h>

#include "invariants/expect_sound.h"
#include "invariants/journals.h"
#include "invariants/operations.h"
#include "support/runs.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants {

namespace {

// What a broken Manager does wrong behind an operation.
using Fault = std::function<void(CheckedManager&, const Operation&, const Outcome&)>;

// A run on such a Manager breaks this invariant; `make` starts each run with a fault that remembers nothing.
StillFails breaking(Invariant wanted, const std::function<Fault()>& make) {
    return [=](const Case& one) {
        CheckedManager kv(one.config, CheckMode::every);
        const Fault fault = make();
        for (const Operation& operation : one.operations) {
            Tamper::apply(
                kv, operation, [] {}, [&](Outcome& outcome) { fault(kv, operation, outcome); });
            if (kv.violation()) {
                return kv.violation()->invariant == wanted;
            }
        }
        return false;
    };
}

// Counts one reference too many when a fork shares blocks.
Fault fork_counts_twice() {
    return [](CheckedManager& kv, const Operation& operation, const Outcome& outcome) {
        if (operation.verb != Verb::fork || outcome.error) {
            return;
        }
        Manager& manager = Tamper::manager(kv);
        const TableView table = manager.table(kv.handle(operation.child).value(), GroupId{0}).value();
        if (table.held() > 0) {
            ++Tamper::refs(manager, table.run.empty() ? table.sinks[0] : table.run[0]);
        }
    };
}

// The first append behind a truncation to the middle of a block exchanges the first two blocks of the last group.
Fault append_behind_a_rewind_exchanges_blocks() {
    std::set<Name> rewound;
    return [rewound](CheckedManager& kv, const Operation& operation, const Outcome& outcome) mutable {
        Manager& manager = Tamper::manager(kv);
        if (outcome.error) {
            return;
        }
        if (operation.verb == Verb::truncate && operation.length % manager.config().block_size != 0) {
            rewound.insert(operation.sequence);
        } else if (operation.verb == Verb::append && rewound.contains(operation.sequence)) {
            const GroupId group{manager.groups() - 1};
            BlockTable& table = Tamper::table(manager, kv.handle(operation.sequence).value(), group);
            if (manager.table(kv.handle(operation.sequence).value(), group)->run.size() >= 2) {
                std::swap(Tamper::entry(table, 0), Tamper::entry(table, 1));
            }
        } else if (operation.verb == Verb::release || operation.verb == Verb::admit) {
            rewound.erase(operation.sequence);
        }
    };
}

// The operations of a sound run.
Case run_of(std::uint64_t seed, std::int64_t steps) {
    const StressConfig config = every_kind(seed, steps);
    return in_order({config.manager, read_all(journal_of(config)).operations});
}

// Leaving out any single operation makes the failure go away.
void expect_minimal(const Case& smallest, const StillFails& still_fails) {
    BOOST_TEST(still_fails(smallest));
    for (std::size_t i = 0; i < smallest.operations.size(); ++i) {
        Case without = smallest;
        without.operations.erase(without.operations.begin() + static_cast<std::ptrdiff_t>(i));
        BOOST_TEST(!still_fails(in_order(without)), "operation " << i << " is not needed");
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_shrinker)

BOOST_AUTO_TEST_CASE(leaves_an_admission_and_a_fork_of_a_fork_that_counts_twice) {
    const StillFails still_fails = breaking(Invariant::P2, fork_counts_twice);
    const Case failing = run_of(testing::seed(), 600);
    BOOST_TEST_REQUIRE(still_fails(failing));
    const Shrunk shrunk = shrink(failing, still_fails);
    BOOST_TEST(shrunk.is_finished);
    expect_minimal(shrunk.smallest, still_fails);
    BOOST_TEST_REQUIRE(shrunk.smallest.operations.size() == 2U);
    BOOST_TEST((shrunk.smallest.operations[0] == admit(0, {0})));
    BOOST_TEST((shrunk.smallest.operations[1] == fork(0, 1)));
    BOOST_TEST(shrunk.smallest.config.block_size == 1U);
    BOOST_TEST(shrunk.smallest.config.groups.size() == 1U);
    BOOST_TEST(shrunk.smallest.config.blocks == 1);
    BOOST_TEST(!shrunk.smallest.config.prefix_cache.enabled);
}

BOOST_AUTO_TEST_CASE(leaves_at_most_12_operations_of_runs_whose_failure_needs_several,
                     *boost::unit_test::precondition(testing::has_time)) {
    const StillFails still_fails = breaking(Invariant::T4, append_behind_a_rewind_exchanges_blocks);
    int failing_runs = 0;
    for (std::uint64_t seed = testing::seed(); seed < testing::seed() + 4; ++seed) {
        const Case failing = run_of(seed, 600);
        if (!still_fails(failing)) {
            continue;
        }
        ++failing_runs;
        BOOST_TEST_CONTEXT("seed " << seed) {
            const Shrunk shrunk = shrink(failing, still_fails);
            BOOST_TEST_MESSAGE("seed " << seed << ": " << failing.operations.size() << " operations became "
                                       << shrunk.smallest.operations.size() << " with "
                                       << tokens_of(shrunk.smallest.operations) << " tokens, " << shrunk.candidates
                                       << " candidates");
            expect_minimal(shrunk.smallest, still_fails);
            BOOST_TEST(shrunk.smallest.operations.size() <= 12U);
            BOOST_TEST(tokens_of(shrunk.smallest.operations) <= 30U);
            BOOST_TEST(shrunk.smallest.config.blocks <= 16);
            BOOST_TEST(shrunk.smallest.config.groups.size() == 1U);
            // On a Manager that is not broken it breaks nothing.
            expect_sound(judge(shrunk.smallest));
        }
    }
    BOOST_TEST(failing_runs > 0);
}

BOOST_AUTO_TEST_CASE(gives_the_same_case_for_the_same_failure) {
    const StillFails still_fails = breaking(Invariant::P2, fork_counts_twice);
    const Case failing = run_of(testing::seed() + 7, 200);
    BOOST_TEST_REQUIRE(still_fails(failing));
    const Shrunk first = shrink(failing, still_fails);
    const Shrunk second = shrink(failing, still_fails);
    BOOST_TEST(first.candidates == second.candidates);
    BOOST_TEST_REQUIRE(first.smallest.operations.size() == second.smallest.operations.size());
    for (std::size_t i = 0; i < first.smallest.operations.size(); ++i) {
        BOOST_TEST((first.smallest.operations[i] == second.smallest.operations[i]));
    }
}

BOOST_AUTO_TEST_CASE(stops_at_its_limit_with_a_case_that_fails) {
    const StillFails still_fails = breaking(Invariant::P2, fork_counts_twice);
    ShrinkLimits limits;
    limits.candidates = 20;
    const Shrunk shrunk = shrink(run_of(testing::seed(), 300), still_fails, limits);
    BOOST_TEST(!shrunk.is_finished);
    BOOST_TEST(shrunk.candidates == 20);
    BOOST_TEST(still_fails(shrunk.smallest));
}

BOOST_AUTO_TEST_CASE(keeps_what_the_failure_needs) {
    // Nothing is run: a case "fails" when a batch begins with two sequences, with the cache on and a window of 3 at least.
    const StillFails still_fails = [](const Case& one) {
        bool has_batch = false;
        for (const Operation& operation : one.operations) {
            has_batch |= operation.verb == Verb::append_batch && operation.sequences.size() >= 2 &&
                         operation.sequences[0] != operation.sequences[1];
        }
        return has_batch && one.config.prefix_cache.enabled &&
               std::ranges::any_of(one.config.groups, [](const GroupConfig& group) { return group.window >= 3; });
    };
    const Shrunk shrunk = shrink(run_of(testing::seed(), 300), still_fails);
    const Case& smallest = shrunk.smallest;
    BOOST_TEST_REQUIRE(smallest.operations.size() == 3U);  // two that introduce the sequences, and the batch
    BOOST_TEST((smallest.operations[2].sequences == std::vector<Name>{0, 1} ||
                smallest.operations[2].sequences == std::vector<Name>{1, 0}));
    BOOST_TEST(smallest.config.groups.size() == 1U);
    BOOST_TEST(smallest.config.groups[0].window == 3);
    BOOST_TEST(smallest.config.groups[0].sinks == 0);
    BOOST_TEST(smallest.config.rewind_slack == 0);
    BOOST_TEST(smallest.config.blocks == 1);
}

BOOST_AUTO_TEST_CASE(keeps_of_a_reserve_for_many_the_sequences_that_it_needs) {
    // A case "fails" when a batch reserves more than 4 cells for a sequence behind another one.
    const StillFails still_fails = [](const Case& one) {
        return std::ranges::any_of(one.operations, [](const Operation& operation) {
            return operation.is_batch && operation.counts.size() >= 2 && operation.counts[1] > 4 &&
                   operation.sequences[0] != operation.sequences[1];
        });
    };
    StressConfig config = every_kind(testing::seed(), 400);
    config.batched_percent = 100;
    const Shrunk shrunk = shrink({config.manager, read_all(journal_of(config)).operations}, still_fails);
    BOOST_TEST_REQUIRE(shrunk.smallest.operations.size() == 3U);  // two that introduce the sequences, and the batch
    const Operation& batch = shrunk.smallest.operations[2];
    BOOST_TEST((batch == reserve_batch(batch.sequences, {0, 5})));
    BOOST_TEST(batch.sequences.size() == 2U);
}

BOOST_AUTO_TEST_CASE(makes_a_reserve_for_one_of_a_batch_of_one) {
    const std::vector<Operation> simpler = simpler_operations(reserve_batch({3}, {2}));
    BOOST_TEST(std::ranges::count(simpler, reserve(3, 2)) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(a_case_in_order)

BOOST_AUTO_TEST_CASE(numbers_sequences_steps_and_words_as_they_appear) {
    const Case ordered = in_order({testing::plain(4, 8),
                                   {step_begin(77), in(scope_of("acme", "x"), admit(9, {1})), fork(9, 4), step_begin(5),
                                    append_batch({4, 9}, {1, 2}), step_end(77), in(scope_of("x"), probe({1}))}});
    BOOST_TEST_REQUIRE(ordered.operations.size() == 7U);
    BOOST_TEST((ordered.operations[0] == step_begin(1)));
    BOOST_TEST((ordered.operations[1] == in(scope_of("w1", "w2"), admit(0, {1}))));
    BOOST_TEST((ordered.operations[2] == fork(0, 1)));
    BOOST_TEST((ordered.operations[3] == step_begin(2)));
    BOOST_TEST((ordered.operations[4] == append_batch({1, 0}, {1, 2})));
    BOOST_TEST((ordered.operations[5] == step_end(1)));
    BOOST_TEST((ordered.operations[6] == in(scope_of("w2"), probe({1}))));
}

BOOST_AUTO_TEST_CASE(leaves_out_what_no_scenario_can_say) {
    Operation stray = check();
    stray.sequences = {0, 3};
    const Case ordered = in_order({testing::plain(4, 8),
                                   {append(0, {1}), fork(0, 1), append(1, {1}), append_batch({0}, {1}), evict(-1),
                                    admit(0, {-1}), admit(5, {1}), stray, reserve(5, INT64_MIN)}});
    BOOST_TEST_REQUIRE(ordered.operations.size() == 2U);
    BOOST_TEST((ordered.operations[0] == admit(0, {1})));
    BOOST_TEST((ordered.operations[1] == reserve(0, -1)));
}

BOOST_AUTO_TEST_CASE(forgets_fields_that_the_verb_does_not_look_at) {
    Operation cluttered = append(0, {1});
    cluttered.sequences = {7};
    cluttered.count = 5;
    cluttered.scope = scope_of("t");
    const Case ordered = in_order({testing::plain(4, 8), {admit(0, {1}), cluttered}});
    BOOST_TEST_REQUIRE(ordered.operations.size() == 2U);
    BOOST_TEST((ordered.operations[1] == append(0, {1})));
}

BOOST_AUTO_TEST_CASE(behaves_as_the_run_did) {
    const StressConfig config = every_kind(testing::seed(), 400);
    const Case ordered = run_of(testing::seed(), 400);
    std::int64_t refused = 0;
    expect_sound(judge(ordered, [&](const Outcome& outcome) { refused += outcome.error ? 1 : 0; }));
    BOOST_TEST(refused > 0);
    BOOST_TEST(ordered.operations.size() > 300U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(steps_of_the_shrinker)

BOOST_AUTO_TEST_CASE(leave_a_sequence_out_of_everything) {
    const std::vector<Operation> left =
        without_sequence({admit(0, {1}), admit(1, {2}), fork(0, 2), fork(1, 0), append_batch({0, 1, 2}, {7, 8, 9}),
                          append_batch({0}, {1}), probe({1}), release(0), reset_cache()},
                         0);
    BOOST_TEST_REQUIRE(left.size() == 4U);
    BOOST_TEST((left[0] == admit(1, {2})));
    BOOST_TEST((left[1] == append_batch({1, 2}, {8, 9})));
    BOOST_TEST((left[2] == probe({1})));
    BOOST_TEST((left[3] == reset_cache()));
}

BOOST_AUTO_TEST_CASE(make_lists_shorter_with_the_blocks) {
    const std::vector<Operation> scaled =
        scaled_lists({admit(0, {1, 2, 3, 4, 5}, 4), reserve(0, 3), truncate(0, 0), evict(7)}, 4, 2);
    BOOST_TEST((scaled[0] == admit(0, {1, 2, 3}, 2)));
    BOOST_TEST((scaled[1] == reserve(0, 2)));
    BOOST_TEST((scaled[2] == truncate(0, 0)));
    BOOST_TEST((scaled[3] == evict(7)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

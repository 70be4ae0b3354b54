// SPDX-License-Identifier: Apache-2.0
// The runner: what passes, and what a failure says. Files and their format are the business of cli/.
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

#include <kvpane/invariants/scenario.h>

#include "invariants/operations.h"
#include "support/kv.h"

namespace kvpane::invariants {

namespace {

Scenario scenario(Config config = testing::plain(4, 6)) {
    Scenario out;
    out.config = std::move(config);
    out.names = {"a", "b"};
    return out;
}

Expectation& add(Scenario& scenario, Operation operation, std::int64_t repeat = 1) {
    ScenarioStep step;
    step.operation = std::move(operation);
    step.repeat = repeat;
    step.line = 10 * static_cast<int>(scenario.steps.size() + 1);
    scenario.steps.push_back(std::move(step));
    return scenario.steps.back().expect;
}

// What is expected of the first group of a sequence.
GroupExpectation& of(Expectation& expect, Name name) {
    SequenceExpectation sequence;
    sequence.sequence = name;
    sequence.groups.resize(1);
    expect.sequences.push_back(sequence);
    return expect.sequences.back().groups.front();
}

void expect_failure(const Scenario& scenario, std::int64_t step, const std::string& what) {
    const std::optional<ScenarioFailure> failure = run(scenario);
    BOOST_TEST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->what == what);
    BOOST_TEST(failure->step == step);
    BOOST_TEST(failure->line == 10 * step);
}

void expect_pass(const Scenario& scenario) {
    const std::optional<ScenarioFailure> failure = run(scenario);
    BOOST_TEST((failure ? failure->what : "") == "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scenarios)

BOOST_AUTO_TEST_CASE(a_fork_and_its_first_write_pass_with_every_value_expected) {
    Scenario fork_and_write = scenario();
    add(fork_and_write, admit(0, {1, 2, 3, 4, 5})).slots = {Ints{4, 5, 6, 7, 8}};
    Expectation& forked = add(fork_and_write, fork(0, 1));
    forked.pool_live = 2;
    of(forked, 1).shares = {{Name{0}, 2}};
    of(forked, 0).refs = Ints{2, 2};
    Expectation& written = add(fork_and_write, append(1, {9}));
    written.copies = 1;
    written.copied_cells = 1;
    written.slots = {Ints{13}};
    written.free_queue = Ints{4, 5, 6};
    written.csr.resize(1);
    written.csr[0].indptr = Ints{0, 2, 4};
    written.csr[0].indices = Ints{1, 2, 1, 3};
    written.csr[0].last_page_len = Ints{1, 2};
    written.csr[0].first_position = Ints{0, 0};
    GroupExpectation& child = of(written, 1);
    child.window = Ints{1, 2, 3, 4, 5, 9};
    child.positions = Ints{0, 1, 2, 3, 4, 5};
    child.table = Ints{1, 3};
    child.blocks = 2;
    child.first_resident = 0;
    child.shares = {{Name{0}, 1}};
    expect_pass(fork_and_write);
}

BOOST_AUTO_TEST_CASE(a_difference_names_the_key_the_expected_and_the_found_value) {
    Scenario wrong = scenario();
    add(wrong, admit(0, {1, 2, 3, 4, 5}));
    add(wrong, check()).pool_free = 5;
    expect_failure(wrong, 2, "expected pool.free = 5, got 4");
}

BOOST_AUTO_TEST_CASE(lists_are_printed_in_full_and_cut_when_they_are_long) {
    Scenario wrong = scenario();
    of(add(wrong, admit(0, {1, 2, 3})), 0).window = Ints{1, 2};
    expect_failure(wrong, 1, "expected seq.a.window = [1, 2], got [1, 2, 3]");

    Scenario lengthy = scenario(testing::plain(4, 200));
    add(lengthy, check()).free_queue = Ints{};
    const std::string what = run(lengthy)->what;
    BOOST_TEST(what.ends_with("99, 100, ... 200 in all]"), what);
}

BOOST_AUTO_TEST_CASE(with_several_groups_the_key_names_the_group) {
    Config config = testing::plain(4, 6);
    config.groups = {GroupConfig{"full"}, GroupConfig{"swa", 2}};
    Scenario wrong = scenario(config);
    Expectation& expect = add(wrong, admit(0, {1, 2, 3}));
    of(expect, 0);
    expect.sequences.front().groups.resize(2);
    expect.sequences.front().groups[1].window = Ints{1, 2, 3};
    expect_failure(wrong, 1, "expected seq.a.group.swa.window = [1, 2, 3], got [2, 3]");
}

BOOST_AUTO_TEST_CASE(a_step_that_expects_no_error_must_succeed) {
    Scenario refused = scenario();
    add(refused, append(1, {1}));
    expect_failure(refused, 1, "expected success, got error unknown_sequence");
}

BOOST_AUTO_TEST_CASE(a_step_that_expects_an_error_must_fail_with_it) {
    Scenario good = scenario();
    add(good, append(1, {1})).error = Error::unknown_sequence;
    expect_pass(good);
    Scenario wrong = scenario();
    add(wrong, append(1, {1})).error = Error::busy;
    expect_failure(wrong, 1, "expected error busy, got error unknown_sequence");
    Scenario succeeds = scenario();
    add(succeeds, check()).error = Error::later;
    expect_failure(succeeds, 1, "expected error later, got success");
}

BOOST_AUTO_TEST_CASE(repetitions_add_up_their_slots_and_copies) {
    Scenario repeated = scenario();
    add(repeated, admit(0, {1, 2}));
    Expectation& expect = add(repeated, append(0, {7}), 3);
    expect.slots = {Ints{6, 7, 8}};
    expect.copies = 0;
    of(expect, 0).window = Ints{1, 2, 7, 7, 7};
    expect_pass(repeated);
}

BOOST_AUTO_TEST_CASE(a_refusal_may_be_repeated_and_one_that_differs_fails) {
    Scenario refused = scenario(testing::plain(4, 2));
    add(refused, admit(0, {1, 2, 3, 4, 5}));
    add(refused, admit(1, {1}), 3).error = Error::later;
    expect_pass(refused);
    Scenario wrong = scenario(testing::plain(4, 2));
    add(wrong, append(0, {1}), 3);
    expect_failure(wrong, 1, "expected success, got error unknown_sequence");
}

BOOST_AUTO_TEST_CASE(a_plan_shows_its_verdict_and_blocks) {
    Scenario planned = scenario();
    Expectation& expect = add(planned, plan(9));
    expect.verdict = Verdict::ok;
    expect.blocks_needed = 3;
    expect_pass(planned);
    expect.verdict = Verdict::never;
    expect_failure(planned, 1, "expected verdict = never, got ok");
    Scenario without = scenario();
    add(without, check()).blocks_needed = 1;
    expect_failure(without, 1, "expected a verdict, the step makes no plan");
}

BOOST_AUTO_TEST_CASE(expecting_something_of_a_sequence_that_is_gone_fails) {
    Scenario gone = scenario();
    add(gone, admit(0, {1}));
    Expectation& expect = add(gone, release(0));
    of(expect, 0);
    expect_failure(gone, 2, "expected something of seq.a, got no such sequence");
    Scenario shares = scenario();
    of(add(shares, admit(0, {1})), 0).shares = {{Name{1}, 0}};
    expect_failure(shares, 1, "expected seq.a.shares.b = 0, got no such sequence");
}

BOOST_AUTO_TEST_CASE(the_csr_is_that_of_the_sequences_that_the_step_names) {
    Scenario named = scenario();
    add(named, admit(0, {1, 2, 3, 4, 5}));
    add(named, admit(1, {1}));
    Operation only = check();
    only.sequences = {1};
    Expectation& expect = add(named, only);
    expect.csr.resize(1);
    expect.csr[0].indices = Ints{3};
    expect_pass(named);
    expect.csr[0].indices = Ints{1, 2, 3};
    expect_failure(named, 3, "expected csr.indices = [1, 2, 3], got [3]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

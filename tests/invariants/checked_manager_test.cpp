// SPDX-License-Identifier: Apache-2.0
// What the checked Manager does when nothing is broken, and how closely each mode looks.
#include "invariants/breaking.h"

namespace kvpane::invariants {

using testing::plain;
using testing::windowed;

namespace {

Operation on_index(Verb verb, Tokens tokens = {}) { return operation(verb, 0, std::move(tokens)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(checked_manager)

BOOST_AUTO_TEST_CASE(names_map_to_handles_and_a_name_may_be_used_again) {
    CheckedManager checked(plain(4, 8), CheckMode::every);
    checked.apply(admit(3, {1}));
    checked.apply(admit(1, {2}));
    BOOST_TEST((checked.living() == std::vector<Name>{3, 1}));
    const SequenceHandle first = checked.handle(3).value();
    checked.apply(release(3));
    BOOST_TEST(!checked.handle(3).has_value());
    checked.apply(admit(3, {1}));
    BOOST_TEST((checked.living() == std::vector<Name>{1, 3}));
    BOOST_TEST((checked.handle(3).value() != first));
    BOOST_TEST(!checked.violation().has_value());
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_alive_is_an_unknown_sequence) {
    CheckedManager checked(plain(4, 8), CheckMode::every);
    checked.apply(admit(0, {1}));
    checked.apply(release(0));
    for (const Operation& operation : {append(0, {1}), append(9, {1}), commit(0, {}), cancel(0), release(0),
                                       reserve(0, 1), fork(0, 1), truncate(0, 0)}) {
        BOOST_TEST((checked.apply(operation).error == Error::unknown_sequence));
    }
    BOOST_TEST(!checked.violation().has_value());
}

BOOST_AUTO_TEST_CASE(admit_and_fork_under_a_living_name_are_invalid) {
    CheckedManager checked(plain(4, 8), CheckMode::every);
    checked.apply(admit(0, {1}));
    BOOST_TEST((checked.apply(admit(0, {1})).error == Error::invalid_argument));
    BOOST_TEST((checked.apply(fork(0, 0)).error == Error::invalid_argument));
    BOOST_TEST(!checked.violation().has_value());
}

BOOST_AUTO_TEST_CASE(the_window_reads_back_what_was_committed) {
    CheckedManager checked(windowed(2, 12, 3), CheckMode::every);
    checked.apply(admit(0, {10, 11, 12, 13, 14}));
    const auto window = checked.window(0, GroupId{0});
    BOOST_TEST(window.tokens == (Tokens{12, 13, 14}));
    BOOST_TEST(window.positions == (std::vector<Length>{2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(an_empty_index_answers_by_the_contract) {
    CheckedManager checked(plain(4, 8), CheckMode::every);
    checked.apply(admit(0, {1, 2, 3, 4, 5}));
    const Outcome probe = checked.apply(on_index(Verb::probe, {1, 2, 3, 4, 5}));
    BOOST_TEST(!probe.error.has_value());
    BOOST_TEST(probe.cached_tokens == 0);
    BOOST_TEST((checked.apply(on_index(Verb::probe)).error == Error::invalid_argument));
    BOOST_TEST(!checked.apply(on_index(Verb::pin, {1, 2})).error.has_value());
    BOOST_TEST((checked.apply(on_index(Verb::unpin, {1, 2})).error == Error::invalid_argument));
    BOOST_TEST(!checked.apply(on_index(Verb::evict)).error.has_value());
    BOOST_TEST(!checked.apply(on_index(Verb::reset_cache)).error.has_value());
    Operation uncache = on_index(Verb::uncache);
    uncache.blocks = {0, 1};
    BOOST_TEST(!checked.apply(uncache).error.has_value());
    uncache.blocks = {2};
    BOOST_TEST((checked.apply(uncache).error == Error::invalid_argument));
    uncache.sequence = 7;
    BOOST_TEST((checked.apply(uncache).error == Error::unknown_sequence));
    BOOST_TEST(!checked.violation().has_value());
}

BOOST_AUTO_TEST_CASE(mode_every_checks_each_operation_and_mode_off_none) {
    CheckedManager every(plain(4, 8), CheckMode::every);
    CheckedManager off(plain(4, 8), CheckMode::off);
    for (CheckedManager* checked : {&every, &off}) {
        checked->apply(admit(0, {1}));
        checked->apply(append(0, {2}));
        checked->audit();
        BOOST_TEST(checked->operations() == 2);
    }
    BOOST_TEST(every.checks() == 3);
    BOOST_TEST(off.checks() == 0);
}

BOOST_AUTO_TEST_CASE(mode_sampled_looks_every_few_operations_and_finds_what_an_operation_touched) {
    Sampling sampling;
    sampling.touched_every = 4;
    sampling.all_every = 0;
    CheckedManager checked(plain(4, 8), CheckMode::sampled, sampling);
    checked.apply(admit(0, {1, 2, 3, 4, 5, 6, 7, 8}));
    BlockTable& table = Tamper::table(Tamper::manager(checked), checked.handle(0).value());
    std::swap(Tamper::entry(table, 0), Tamper::entry(table, 1));
    checked.apply(append(0, {9}));
    checked.apply(append(0, {10}));
    BOOST_TEST(!checked.violation().has_value());
    BOOST_TEST(checked.checks() == 0);
    checked.apply(append(0, {11}));
    BOOST_TEST(checked.checks() == 1);
    BOOST_TEST_REQUIRE(checked.violation().has_value());
    BOOST_TEST(number(checked.violation()->invariant) == "T4");
    BOOST_TEST(checked.violation()->operation == 4);
}

BOOST_AUTO_TEST_CASE(mode_sampled_walks_the_entire_state_now_and_then_or_on_demand) {
    Sampling sampling;
    sampling.touched_every = 0;
    sampling.all_every = 3;
    for (const bool on_demand : {false, true}) {
        CheckedManager checked(plain(4, 8), CheckMode::sampled, sampling);
        checked.apply(admit(0, {1}));
        ++Tamper::free_counter(Tamper::manager(checked));
        checked.apply(append(0, {9}), on_demand);
        BOOST_TEST(checked.violation().has_value() == on_demand);
        checked.apply(append(0, {10}));
        BOOST_TEST_REQUIRE(checked.violation().has_value());
        BOOST_TEST(number(checked.violation()->invariant) == "P1");
    }
}

BOOST_AUTO_TEST_CASE(after_the_first_violation_nothing_is_checked_any_more) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1}));
    ++Tamper::free_counter(broken.kv());
    broken.checked.apply(check());
    broken.expect(Invariant::P1, "");
    const std::int64_t checks = broken.checked.checks();
    BOOST_TEST(!broken.checked.apply(append(0, {2})).error.has_value());
    broken.checked.audit();
    BOOST_TEST(broken.checked.checks() == checks);
    BOOST_TEST(broken.checked.violation()->operation == 2);
}

BOOST_AUTO_TEST_CASE(messages_call_sequences_as_they_are_spelled) {
    Broken broken(plain(4, 8));
    broken.checked.spell({"alice"});
    broken.run(admit(0, {1}));
    ++Tamper::length(broken.kv(), broken.handle(0));
    broken.audit_expects(Invariant::T1, "sequence alice: expected length 1");
}

BOOST_AUTO_TEST_CASE(beams_that_fork_diverge_and_end_stay_right_under_every_check) {
    Broken broken(plain(4, 40));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    broken.run(fork(0, 1));
    broken.run(fork(0, 2, 3));
    broken.run(append_batch({2, 0, 1}, {7, 8, 9}));
    broken.run(reserve(1, 4));
    broken.run(commit(1, {1, 2}));
    broken.run(step_begin(1));
    broken.run(release(0));
    broken.run(cancel(1));
    broken.run(truncate(1, 2));
    broken.run(step_end(1));
    broken.run(append(1, {3}));
    BOOST_TEST(broken.checked.window(2, GroupId{0}).tokens == (Tokens{1, 2, 3, 7}));
    BOOST_TEST(broken.checked.window(1, GroupId{0}).tokens == (Tokens{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_fork_that_makes_room_for_its_own_record_still_knows_its_parent) {
    Config config = plain(2, 20);
    config.prefix_cache.enabled = true;
    config.expected_sequences = 1;
    CheckedManager checked(config, CheckMode::every);
    checked.apply(admit(0, {1, 2, 3, 4, 5}));
    for (Name child = 1; child < 9; ++child) {
        checked.apply(fork(child - 1, child, 4));
        checked.apply(append(child, {6}));
        expect_sound(checked.violation());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

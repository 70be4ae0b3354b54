// SPDX-License-Identifier: Apache-2.0
// What the contract says of an operation before it runs, and how an operation contradicts it.
#include "invariants/breaking.h"

#include <kvpane/invariants/forecast.h>

#include "support/cache.h"

namespace kvpane::invariants {

using testing::plain;
using testing::windowed;

namespace {

Outcome failed(Error error) {
    Outcome outcome;
    outcome.error = error;
    return outcome;
}

Outcome took(std::int64_t blocks, Length cells) {
    Outcome outcome;
    outcome.step.blocks_taken = blocks;
    outcome.step.cells = cells;
    return outcome;
}

// Nothing stands against it, and it takes two blocks for five cells.
Forecast two_blocks() {
    Forecast forecast;
    forecast.takes_room = true;
    forecast.taking = Taking{2, 0, 0, 5};
    forecast.has_room = true;
    forecast.room_alone = 2;
    forecast.held_alone = 2;
    return forecast;
}

std::string said(const Forecast& forecast, const Outcome& outcome, std::int64_t blocks = 4) {
    return contradiction(forecast, outcome, blocks).value_or("");
}

// What the plan of a stream's next operation must be, by running it: a contradiction is a violation of A1.
void expect_holds(const Config& config, const std::vector<Operation>& operations) {
    CheckedManager checked(config, CheckMode::every);
    for (const Operation& operation : operations) {
        checked.apply(operation);
        expect_sound(checked.violation());
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecasts)

BOOST_AUTO_TEST_CASE(an_operation_ends_as_forecast) {
    BOOST_TEST(said(two_blocks(), took(2, 5)) == "");
    BOOST_TEST(said(two_blocks(), took(3, 5)) ==
               "expected 2 blocks, 0 copies of 0 cells and 5 cells, took 3, 0 of 0 and 5");
    BOOST_TEST(said(two_blocks(), failed(Error::busy)) == "expected success, got busy");
}

BOOST_AUTO_TEST_CASE(later_is_wrong_with_room_and_where_nothing_can_help) {
    Forecast forecast = two_blocks();
    BOOST_TEST(said(forecast, failed(Error::later)) == "got later for 2 blocks, and they are there");
    forecast.has_room = false;
    BOOST_TEST(said(forecast, failed(Error::later)) == "");
    forecast.held_alone = 5;
    BOOST_TEST(said(forecast, failed(Error::later)) == "got later, and 5 of 4 blocks would be held: expected never");
}

BOOST_AUTO_TEST_CASE(never_is_wrong_where_the_blocks_would_be_there) {
    Forecast forecast = two_blocks();
    BOOST_TEST(said(forecast, failed(Error::never)) ==
               "got never for 2 blocks, and 2 would be there without the other sequences");
    forecast.room_alone = 1;
    BOOST_TEST(said(forecast, failed(Error::never)) == "");
}

BOOST_AUTO_TEST_CASE(passing_the_longest_length_is_never_and_nothing_else) {
    Forecast forecast = two_blocks();
    forecast.is_too_long = true;
    BOOST_TEST(said(forecast, failed(Error::never)) == "");
    BOOST_TEST(said(forecast, failed(Error::later)) == "expected never for passing the longest length, got later");
    BOOST_TEST(said(forecast, took(2, 5)) == "expected never for passing the longest length, got success");
}

BOOST_AUTO_TEST_CASE(of_several_errors_any_may_come_first) {
    Forecast forecast;
    forecast.refusals = {Error::busy, Error::invalid_argument};
    BOOST_TEST(said(forecast, failed(Error::busy)) == "");
    BOOST_TEST(said(forecast, failed(Error::invalid_argument)) == "");
    BOOST_TEST(said(forecast, failed(Error::never)) == "expected invalid_argument, got never");
    BOOST_TEST(said(forecast, Outcome{}) == "expected invalid_argument, got success");
}

BOOST_AUTO_TEST_CASE(a_plan_that_misses_the_peak_is_wrong) {
    Forecast forecast;
    forecast.peak = 3;
    Outcome outcome;
    outcome.plan = Plan{Verdict::ok, 4, 0};
    BOOST_TEST(said(forecast, outcome) == "the plan needs 4 blocks, at the peak 3 are held");
}

BOOST_AUTO_TEST_CASE(each_refusal_of_the_contract_is_forecast) {
    expect_holds(windowed(2, 12, 4), {admit(0, {1, 2, 3, 4, 5, 6, 7, 8}),
                                      admit(1, {}),
                                      admit(1, {-1}),
                                      admit(1, {1}, -1),
                                      truncate(0, 3),
                                      truncate(0, 9),
                                      truncate(0, -1),
                                      fork(0, 1, 3),
                                      fork(0, 1, 9),
                                      append(0, {}),
                                      append(0, {-5}),
                                      reserve(0, 0),
                                      reserve(0, 2),
                                      append(0, {1}),
                                      fork(0, 1),
                                      append_batch({0, 0}, {1, 1}),
                                      append_batch({0}, {1}),
                                      append_batch({0}, {}),
                                      reserve_batch({}, {}),
                                      reserve_batch({0, 0}, {1, 2}),
                                      reserve_batch({0, 7}, {1, 1}),
                                      reserve_batch({0}, {0}),
                                      reserve_batch({0}, {}),
                                      commit(0, {1, 2, 3}),
                                      commit(0, {-1}),
                                      commit(0, {1, 2}),
                                      step_begin(1),
                                      step_begin(1),
                                      step_end(2),
                                      step_end(1),
                                      plan(0),
                                      plan(3, -1)});
}

BOOST_AUTO_TEST_CASE(external_content_that_does_not_fit_into_its_prompt_is_invalid) {
    const std::vector<ExternalContent> whole = {{0, 2, "a"}, {2, 2, "b"}};
    for (const std::vector<ExternalContent>& wrong :
         {std::vector<ExternalContent>{{2, 3, "a"}}, {{-1, 2, "a"}}, {{0, 0, "a"}}, {{0, 2, "a"}, {1, 2, "b"}}}) {
        for (const bool has_cache : {false, true}) {
            Config config = plain(4, 8);
            config.prefix_cache.enabled = has_cache;
            CheckedManager checked(config, CheckMode::every);
            for (const Operation& prompt : {admit(0, {1, 2, 3, 4}), admit(0, {1, 2, 3, 4}, 1), plan({1, 2, 3, 4})}) {
                BOOST_TEST((checked.apply(with(wrong, prompt)).error == Error::invalid_argument));
                expect_sound(checked.violation());
            }
            BOOST_TEST(!checked.apply(with(whole, admit(0, {1, 2, 3, 4}))).error.has_value());
            expect_sound(checked.violation());
        }
    }
}

BOOST_AUTO_TEST_CASE(only_an_admission_computes_a_part_of_its_prompt) {
    CheckedManager checked(plain(4, 8), CheckMode::every);
    for (Operation question : {plan({1, 2}), probe({1, 2})}) {
        question.compute = -1;
        BOOST_TEST(!checked.apply(question).error.has_value());
        expect_sound(checked.violation());
    }
}

BOOST_AUTO_TEST_CASE(the_length_limit_the_watermark_and_a_full_pool_are_forecast) {
    Config config = plain(4, 4);
    config.max_length = 12;
    config.watermark = 1;
    expect_holds(config, {admit(0, Tokens(13, 1)), admit(0, Tokens(9, 1)), admit(1, {1}), reserve(0, 4), reserve(0, 3),
                          cancel(0), release(0), admit(1, {1}), admit(0, Tokens(12, 1)), append(1, Tokens(8, 1)),
                          admit(0, Tokens(5, 1)), release(1), reserve(2, 1)});
}

BOOST_AUTO_TEST_CASE(a_batch_of_different_counts_takes_what_each_of_its_sequences_needs) {
    Config config = plain(4, 8);
    config.max_length = 20;
    config.groups = {GroupConfig{"full"}, GroupConfig{"swa", 3}};
    expect_holds(config, {admit(0, Tokens(5, 1)), fork(0, 1), reserve_batch({1, 0}, {1, 3}), reserve_batch({0, 1}, {2, 5}),
                          reserve_batch({0, 1}, {9, 1}), reserve_batch({1, 0}, {1, 16}), cancel(0), cancel(1),
                          reserve_batch({1, 0}, {9, 9})});
}

BOOST_AUTO_TEST_CASE(hits_take_no_blocks_and_are_no_room) {
    Config config = testing::caching(4, 4);
    expect_holds(config, {admit(0, Tokens(9, 1)), admit(1, Tokens(9, 1)), admit(2, Tokens(9, 1)), release(0),
                          release(1), plan(Tokens(16, 1)), plan(Tokens(17, 1)), admit(0, Tokens(16, 1)), append(0, {1}),
                          release(0), admit(1, {2}), admit(2, Tokens(13, 1)), admit(2, Tokens(12, 1))});
    config.watermark = 1;
    expect_holds(config, {admit(0, Tokens(9, 1)), admit(1, Tokens(9, 1)), admit(1, Tokens(9, 1)), release(0),
                          admit(1, {2}), admit(0, Tokens(9, 1)), admit(0, Tokens(5, 1))});
}

BOOST_AUTO_TEST_CASE(a_block_that_matches_in_part_takes_one_block_and_one_copy_in_each_group) {
    Config config = testing::caching_by_token(4, 12);
    config.groups = {GroupConfig{"full"}, GroupConfig{"swa", 2}};
    expect_holds(
        config, {admit(0, {1, 2, 3, 4, 5, 6}), release(0), plan(Tokens{1, 2, 3, 4, 5, 7}), admit(0, {1, 2, 3, 4, 5, 7}),
                 admit(1, {1, 2, 3, 4, 5, 6, 7}, 0), append(1, {8}), admit(2, {1, 2, 9}, 1), release(0), release(1),
                 release(2), admit(0, {1, 2, 3, 4, 5, 6, 7, 8})});
}

BOOST_AUTO_TEST_CASE(a_hit_that_the_window_leaves_while_a_step_is_open_is_no_room) {
    Config config = testing::caching(2, 4);
    config.groups = {GroupConfig{"one", 1}};
    const std::vector<Operation> all_but_the_hit_is_held = {admit(0, {1, 2}), release(0), admit(1, {9}), reserve(1, 5)};
    std::vector<Operation> fenced = all_but_the_hit_is_held;
    fenced.insert(fenced.end(), {step_begin(1), plan(Tokens{1, 2, 3}), admit(0, {1, 2, 3})});
    expect_holds(config, fenced);
    std::vector<Operation> room = all_but_the_hit_is_held;
    room.insert(room.end(), {plan(Tokens{1, 2, 3}), admit(0, {1, 2, 3})});
    expect_holds(config, room);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

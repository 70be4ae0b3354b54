// SPDX-License-Identifier: Apache-2.0
// Parts of a problem merged are the problem in one pass.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/merge.h>

#include "attention/attention_case.h"
#include "attention/expect_agreement.h"
#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::by_host;
using testing::by_reference;
using testing::expect_same;

constexpr float infinite = std::numeric_limits<float>::infinity();

Answer merged(const AttentionProblem& problem, const std::vector<Answer>& answers, std::span<const float> sinks = {}) {
    Answer all;
    for (const Answer& answer : answers) {
        all.out.insert(all.out.end(), answer.out.begin(), answer.out.end());
        all.lse.insert(all.lse.end(), answer.lse.begin(), answer.lse.end());
    }
    Answer result{std::vector<float>(testing::states_of(problem) * problem.cells.shape.head_dim, -1),
                  std::vector<float>(testing::states_of(problem), -1)};
    const AttentionParts parts{.parts = answers.size(),
                               .rows = rows_of(problem),
                               .query_heads = problem.query_heads,
                               .head_dim = problem.cells.shape.head_dim,
                               .out = all.out,
                               .lse = all.lse,
                               .sink_logits = sinks};
    testing::require(merge_parts(parts, {{result.out.data(), DType::f32}, result.lse}));
    return result;
}

AttentionProblem between(AttentionProblem problem, const std::vector<Length>& begin, const std::vector<Length>& end) {
    problem.begin = begin;
    problem.end = end;
    problem.rule.sink_logits = {};
    return problem;
}

// One state a part: one row, one head, one element.
struct Merged {
    float out = 0;
    float lse = 0;
};
Merged merge_numbers(const std::vector<float>& out, const std::vector<float>& lse, std::span<const float> sink = {}) {
    Merged result{-1, -1};
    const AttentionParts parts{out.size(), 1, 1, 1, out, lse, sink};
    BOOST_REQUIRE(merge_parts(parts, {{&result.out, DType::f32}, {&result.lse, 1}}));
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(split_and_merge)

BOOST_AUTO_TEST_CASE(a_merge_weighs_parts_by_their_sums) {
    // Sums 1 and 3: weights 1/4 and 3/4.
    const Merged two = merge_numbers({10, 20}, {0, std::log(3.0F)});
    BOOST_TEST(two.out == 17.5F, boost::test_tools::tolerance(1e-6F));
    BOOST_TEST(two.lse == std::log(4.0F), boost::test_tools::tolerance(1e-6F));
    const std::array sink = {std::log(4.0F)};
    BOOST_TEST(merge_numbers({10, 20}, {0, std::log(3.0F)}, sink).out == 8.75F, boost::test_tools::tolerance(1e-6F));
}

BOOST_AUTO_TEST_CASE(empty_parts_count_nothing_and_make_no_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    BOOST_TEST(merge_numbers({nan, 5, 0}, {-infinite, 2, -infinite}).out == 5.0F);
    BOOST_TEST(merge_numbers({nan, 5, 0}, {-infinite, 2, -infinite}).lse == 2.0F);
    for (const std::size_t parts : {0U, 1U, 3U}) {
        const Merged nothing = merge_numbers(std::vector<float>(parts, 0), std::vector<float>(parts, -infinite));
        BOOST_TEST(nothing.out == 0.0F);
        BOOST_TEST(nothing.lse == -infinite);
    }
    const std::array sink = {3.0F};
    BOOST_TEST(merge_numbers({0}, {-infinite}, sink).out == 0.0F);
    BOOST_TEST(merge_numbers({0}, {-infinite}, sink).lse == 3.0F);
}

BOOST_AUTO_TEST_CASE(a_nan_among_the_parts_stays_one) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::array sink = {3.0F};
    for (const std::array lse :
         {std::array{nan, nan}, std::array{nan, -infinite}, std::array{-infinite, nan}, std::array{nan, 2.0F}}) {
        for (const std::span<const float> sinks : {std::span<const float>(), std::span<const float>(sink)}) {
            const Merged found = merge_numbers({5, 5}, {lse[0], lse[1]}, sinks);
            BOOST_TEST(std::isnan(found.out));
            BOOST_TEST(std::isnan(found.lse));
        }
    }
}

BOOST_AUTO_TEST_CASE(large_logits_do_not_overflow) {
    BOOST_TEST(merge_numbers({1, 2}, {3e38F, -3e38F}).out == 1.0F);
    BOOST_TEST(merge_numbers({1, 2}, {3e4F, 3e4F}).out == 1.5F);
}

BOOST_AUTO_TEST_CASE(parts_of_every_path_merge_to_the_whole_in_any_grouping) {
    for (const Length window : {Length{0}, Length{30}}) {
        const AttentionCase whole(
            {.window = window, .sinks = 6, .sink_logits = true, .lengths = {0, 1, 16, 90}, .queries = {0, 1, 16, 20}},
            testing::seed());
        const AttentionProblem problem = whole.problem();
        const std::vector<Length> zero(4, 0), low = {0, 0, 3, 4}, high = {0, 1, 3, 70}, most(4, 1000);
        const auto& sinks = whole.sink_logits;
        for (const HostPath path : {HostPath::portable, HostPath::avx2}) {
            const HostOptions options{.path = path};
            const Answer expected = by_host(problem, options);
            const Answer a = by_host(between(problem, zero, low), options);
            const Answer b = by_host(between(problem, low, high), options);
            const Answer c = by_host(between(problem, high, most), options);
            expect_same(expected, by_reference(problem));
            expect_same(b, by_reference(between(problem, low, high)));
            expect_same(merged(problem, {a, b, c}, sinks), expected);
            expect_same(merged(problem, {merged(problem, {a, b}), c}, sinks), expected);
            expect_same(merged(problem, {a, merged(problem, {b, c}), merged(problem, {})}, sinks), expected);
        }
    }
}

BOOST_AUTO_TEST_CASE(chunks_of_any_size_give_what_one_pass_gives) {
    const AttentionCase whole({.window = 100, .sinks = 20, .sink_logits = true, .lengths = {7, 300, 101}},
                              testing::seed());
    const Answer expected = by_host(whole.problem(), {.chunk = 0});
    for (const Length chunk : {1, 7, 16, 100, 119, 120, 121, 100'000}) {
        expect_same(by_host(whole.problem(), {.chunk = chunk}), expected);
    }
}

BOOST_AUTO_TEST_CASE(a_merge_refuses_what_does_not_fit) {
    const std::vector<float> out(2 * 3 * 8), lse(2 * 3), sinks(3);
    std::vector<float> merged_out(3 * 8), merged_lse(3);
    AttentionParts sound{2, 1, 3, 8, out, lse, sinks};
    const AttentionResult result{{merged_out.data(), DType::f32}, merged_lse};
    const auto fault = [&](auto change, AttentionResult into) {
        AttentionParts parts = sound;
        change(parts, into);
        const auto done = merge_parts(parts, into);
        return done ? PayloadError{PayloadFault::cuda_error, "none"} : done.error();
    };
    using Parts = AttentionParts&;
    using Result = AttentionResult&;
    BOOST_CHECK(fault([](Parts, Result) {}, result).where == std::string("none"));
    BOOST_CHECK(fault([](Parts p, Result) { p.parts = 3; }, result) ==
                (PayloadError{PayloadFault::buffer_too_small, "parts.out"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.lse = p.lse.first(5); }, result) ==
                (PayloadError{PayloadFault::buffer_too_small, "parts.lse"}));
    BOOST_CHECK(fault([](Parts, Result r) { r.lse = r.lse.first(2); }, result) ==
                (PayloadError{PayloadFault::buffer_too_small, "lse"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.sink_logits = p.sink_logits.first(2); }, result) ==
                (PayloadError{PayloadFault::bad_shape, "sink_logits"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.rows = ~std::size_t{0}; }, result) ==
                (PayloadError{PayloadFault::bad_shape, "rows"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.head_dim = 0; }, result) ==
                (PayloadError{PayloadFault::bad_shape, "head_dim"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.query_heads = 0; }, result) ==
                (PayloadError{PayloadFault::bad_shape, "query_heads"}));
    BOOST_CHECK(fault([](Parts, Result r) { r.out.dtype = DType::e4m3; }, result) ==
                (PayloadError{PayloadFault::unsupported_dtype, "out"}));
    BOOST_CHECK(fault([](Parts, Result r) { r.out.data = nullptr; }, result) ==
                (PayloadError{PayloadFault::bad_shape, "out"}));
    BOOST_CHECK(fault([](Parts, Result r) { r.out.data = static_cast<char*>(r.out.data) + 1; }, result) ==
                (PayloadError{PayloadFault::misaligned, "out"}));
    BOOST_CHECK(fault([](Parts, Result r) { r.lse = testing::shifted(r.lse); }, result) ==
                (PayloadError{PayloadFault::misaligned, "lse"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.out = testing::shifted(p.out); }, result) ==
                (PayloadError{PayloadFault::misaligned, "parts.out"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.lse = testing::shifted(p.lse); }, result) ==
                (PayloadError{PayloadFault::misaligned, "parts.lse"}));
    BOOST_CHECK(fault([](Parts p, Result) { p.sink_logits = testing::shifted(p.sink_logits); }, result) ==
                (PayloadError{PayloadFault::misaligned, "sink_logits"}));
    BOOST_CHECK(fault(
                    [&](Parts p, Result) {
                        p.lse = {merged_out.data(), 6};
                    },
                    result) == (PayloadError{PayloadFault::overlapping, "out"}));
    BOOST_CHECK(fault(
                    [&](Parts, Result r) {
                        r.lse = {merged_out.data(), 3};
                    },
                    result) == (PayloadError{PayloadFault::overlapping, "lse"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

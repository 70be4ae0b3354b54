// SPDX-License-Identifier: Apache-2.0
// A NaN in a query, or in the cells that it sees, is one in its result: on every path, however the cells are split.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/elements.h>

#include "attention/attention_case.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

// A decode of two sequences; the tests spoil the first one.
AttentionCase two_sequences() { return AttentionCase({.block_size = 4, .lengths = {10, 7}}, testing::seed()); }

void set_queries(AttentionCase& whole, float value) {
    const std::size_t elements = testing::states_of(whole.problem()) / 2 * whole.store.view().shape.head_dim;
    for (std::size_t i = 0; i < elements; ++i) {
        write_element(whole.queries.data(), DType::f32, i, value);
    }
}

// The first half of the values are NaN, the others finite.
void expect_halves(const std::vector<float>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    BOOST_TEST(std::all_of(values.begin(), middle, [](float value) { return std::isnan(value); }));
    BOOST_TEST(std::all_of(middle, values.end(), [](float value) { return std::isfinite(value); }));
}

void expect_nan_of_the_first(const AttentionCase& whole) {
    const auto expect = [](const Answer& answer) {
        expect_halves(answer.out);
        expect_halves(answer.lse);
    };
    expect(testing::by_reference(whole.problem()));
    for (const HostPath path : {HostPath::portable, HostPath::avx2}) {
        for (const Length chunk : {0, 1, 4}) {
            BOOST_TEST_CONTEXT((path == HostPath::avx2 ? "avx2" : "portable") << ", chunk " << chunk) {
                expect(testing::by_host(whole.problem(), {.path = path, .chunk = chunk}));
            }
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nans)

BOOST_AUTO_TEST_CASE(a_query_of_nan_gets_nan) {
    AttentionCase whole = two_sequences();
    set_queries(whole, nan);
    expect_nan_of_the_first(whole);
}

BOOST_AUTO_TEST_CASE(keys_that_are_all_nan_give_nan) {
    AttentionCase whole = two_sequences();
    for (Length position = 0; position < 10; ++position) {
        whole.fill(0, position, nan, 1);
    }
    expect_nan_of_the_first(whole);
}

BOOST_AUTO_TEST_CASE(one_key_of_nan_is_enough) {
    for (const Length position : {0, 5, 9}) {
        AttentionCase whole = two_sequences();
        whole.fill(0, position, nan, 1);
        expect_nan_of_the_first(whole);
    }
}

BOOST_AUTO_TEST_CASE(a_nan_among_logits_of_minus_infinity_is_not_nothing) {
    for (const Length at : {0, 5, 9}) {
        AttentionCase whole = two_sequences();
        set_queries(whole, 1);
        for (Length position = 0; position < 10; ++position) {
            whole.fill(0, position, position == at ? nan : -infinite, 1);
        }
        expect_nan_of_the_first(whole);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

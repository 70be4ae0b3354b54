// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include "attention/agreement.h"
#include "support/seed.h"

namespace kvpane::testing {

// Of two answers in f32 that differ in rounding only.
inline void expect_same(const Answer& found, const Answer& expected) {
    BOOST_TEST(norm_ratio(found.out, expected.out) < tolerance(DType::f32));
    BOOST_TEST(norm_ratio(found.lse, expected.lse) < lse_tolerance);
}

// solve(problem) gives the Answer of a path; the reference is its judge.
template <class Solve>
void expect_agreement(const AttentionSizes& sizes, Solve solve) {
    BOOST_TEST_CONTEXT(describe(sizes)) {
        const AttentionCase made(sizes, seed());
        const Answer expected = by_reference(made.problem());
        const Answer found = solve(made.problem());
        BOOST_TEST(norm_ratio(found.out, expected.out) < tolerance(sizes.rows));
        BOOST_TEST(norm_ratio(found.lse, expected.lse) < lse_tolerance);
    }
}

}  // namespace kvpane::testing

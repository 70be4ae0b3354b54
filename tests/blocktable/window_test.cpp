// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <kvpane/blocktable/window.h>

namespace kvpane::testing {

namespace {

constexpr Length far = longest_sequence;

// The rule is constexpr: these facts hold before any test runs.
static_assert(need(0, 0) == 0 && need(far, 0) == 0, "full attention needs everything");
static_assert(need(3, 4) == 0 && need(4, 4) == 1 && need(5, 4) == 2, "below, at and above the window");
static_assert(need(7, 1) == 7, "a window of one needs nothing that is committed");

}  // namespace

BOOST_AUTO_TEST_SUITE(window)

BOOST_AUTO_TEST_CASE(the_query_at_n_sees_the_window_minus_one_cells_before_it) {
    for (Length w = 1; w <= 9; ++w) {
        for (Length n = 0; n <= 30; ++n) {
            Length first = 0;  // the first position p with p > n - w
            while (!(first > n - w)) {
                ++first;
            }
            BOOST_TEST(need(n, w) == first);
        }
    }
}

BOOST_AUTO_TEST_CASE(full_attention_needs_and_keeps_everything) {
    for (const Length n : {Length{0}, Length{1}, Length{100}, far}) {
        BOOST_TEST(need(n, 0) == 0);
        BOOST_TEST(keep_from(n, 0, 0) == 0);
        BOOST_TEST(keep_from(n, 0, 5) == 0);
    }
    BOOST_TEST(keep_from_after_commit(far, 0, 0) == 0);
}

BOOST_AUTO_TEST_CASE(slack_keeps_cells_before_the_window_and_never_goes_below_zero) {
    BOOST_TEST(keep_from(10, 4, 0) == 7);
    BOOST_TEST(keep_from(10, 4, 3) == 4);
    BOOST_TEST(keep_from(10, 4, 7) == 0);
    BOOST_TEST(keep_from(10, 4, 8) == 0);
    BOOST_TEST(keep_from(2, 4, 3) == 0);
    BOOST_TEST(keep_from(10, 4, far) == 0);
}

BOOST_AUTO_TEST_CASE(after_a_commit_the_last_window_of_cells_stays) {
    for (Length w = 1; w <= 6; ++w) {
        for (Length n = 1; n <= 20; ++n) {
            for (Length slack = 0; slack <= 3; ++slack) {
                BOOST_TEST(keep_from_after_commit(n, w, slack) ==
                           std::max<Length>(0, std::max<Length>(0, n - w) - slack));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_longest_sequence_and_window_do_not_overflow) {
    BOOST_TEST(need(far, far) == 1);
    BOOST_TEST(need(far - 1, far) == 0);
    BOOST_TEST(need(far, 1) == far);
    BOOST_TEST(keep_from_after_commit(far, 1, 0) == far - 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

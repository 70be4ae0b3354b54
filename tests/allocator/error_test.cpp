// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <kvpane/allocator/error.h>

namespace kvpane::testing {

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(errors_are_spelled_as_scenarios_spell_them) {
    BOOST_TEST(to_string(Error::later) == "later");
    BOOST_TEST(to_string(Error::never) == "never");
    BOOST_TEST(to_string(Error::window_evicted) == "window_evicted");
    BOOST_TEST(to_string(Error::unknown_sequence) == "unknown_sequence");
    BOOST_TEST(to_string(Error::invalid_argument) == "invalid_argument");
    BOOST_TEST(to_string(Error::not_reserved) == "not_reserved");
    BOOST_TEST(to_string(Error::busy) == "busy");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

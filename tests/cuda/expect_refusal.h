// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/payload_error.h>

namespace kvpane::testing {

inline void expect(const payload_expected<void>& found, PayloadFault fault, const std::string& where) {
    BOOST_REQUIRE(!found);
    BOOST_TEST(to_string(found.error().fault) == to_string(fault));
    BOOST_TEST(found.error().where == where);
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane::testing {

inline void expect(const payload_expected<void>& found, PayloadFault fault, const std::string& where) {
    BOOST_REQUIRE(!found);
    BOOST_TEST(to_string(found.error().fault) == to_string(fault));
    BOOST_TEST(found.error().where == where);
}

// The precondition of a test.
inline boost::test_tools::assertion_result has_no_device(boost::unit_test::test_unit_id) {
    return !device_available().has_value();
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

#include <kvpane/invariants/checked_manager.h>

namespace kvpane::invariants {

// Nothing is broken; else the message says what.
inline void expect_sound(const std::optional<Violation>& violation) {
    BOOST_TEST((violation ? std::string(number(violation->invariant)) + ": " + violation->what : "") == "");
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace kvpane::testing {

// How much is tried. KVPANE_RUNS=long: some minutes. KVPANE_RUNS=short: for programs under a checker that makes them 10
// to 50 times slower, too little to meet every rare case.
enum class Runs : std::uint8_t { short_, usual, long_ };

inline Runs runs_wanted() {
    const char* text = std::getenv("KVPANE_RUNS");
    const std::string word = text == nullptr ? "" : text;
    return word == "long" ? Runs::long_ : word == "short" ? Runs::short_ : Runs::usual;
}

// For tests that take seconds as it is.
inline boost::test_tools::assertion_result has_time(boost::unit_test::test_unit_id) {
    return runs_wanted() != Runs::short_;
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
// The one file of each test executable that defines the Boost.Test module and says which seed it runs with.
#define BOOST_TEST_MODULE kvpane
#include <boost/test/unit_test.hpp>

#include "support/seed.h"

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

/// Prints the seed before any test, and hands it to RapidCheck unless RC_PARAMS already says something.
struct SeedFirst {
    SeedFirst() {
        const std::string seed = std::to_string(kvpane::testing::seed());
        std::cout << "KVPANE_SEED=" << seed << std::endl;
        constexpr int keep_what_is_set = 0;
        setenv("RC_PARAMS", ("seed=" + seed).c_str(), keep_what_is_set);
    }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(SeedFirst);

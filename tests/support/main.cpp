// SPDX-License-Identifier: Apache-2.0
// main() of every test executable: says which seed it runs with, before any test.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include "support/seed.h"

int main(int argc, char** argv) {
    const std::string seed = std::to_string(kvpane::testing::seed());
    std::cout << "KVPANE_SEED=" << seed << std::endl;
    // RapidCheck gets the same one, unless RC_PARAMS already says something.
    constexpr int keep_what_is_set = 0;
    setenv("RC_PARAMS", ("seed=" + seed).c_str(), keep_what_is_set);
    return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}

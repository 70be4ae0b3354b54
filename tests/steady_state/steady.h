// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string_view>

#include "steady_state/heap_count.h"

namespace kvpane::testing {

// Valgrind puts its own operator new in the place of the one that counts.
inline boost::test_tools::assertion_result nobody_replaces_the_counter(boost::unit_test::test_unit_id) {
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded == nullptr || std::string_view(preloaded).find("vgpreload") == std::string_view::npos;
}

// What an operation of the loop must be; Boost.Test's own checks would use the heap.
inline void must_hold(bool holds) {
    if (!holds) {
        std::abort();
    }
}

}  // namespace kvpane::testing

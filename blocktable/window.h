// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/allocator/ids.h>

namespace kvpane {

// The window rule, and the only place where it is computed.
//
// A query at position p sees the positions > p - window. need(n) is the first position that the query at position n
// sees; window 0 means full attention: it sees everything.
constexpr Length need(Length n, Length window) noexcept {
    return window == 0 ? 0 : std::max<Length>(0, n - window + 1);
}

// The first position to keep when the next cells are reserved behind n committed ones: what the query at position n
// sees, and `slack` cells before it for truncate().
constexpr Length keep_from(Length n, Length window, Length slack) noexcept {
    return std::max<Length>(0, need(n, window) - slack);
}

// The first position to keep right after a commit that made the length n >= 1: the last `window` cells, which is what
// the query at position n - 1 saw.
constexpr Length keep_from_after_commit(Length n, Length window, Length slack) noexcept {
    return keep_from(n - 1, window, slack);
}

}  // namespace kvpane

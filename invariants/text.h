// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

namespace kvpane::invariants {

// The parts one after the other, as a stream writes them. For messages: nothing here is on a fast path.
template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

}  // namespace kvpane::invariants

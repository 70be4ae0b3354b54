// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/allocator/ids.h>

namespace kvpane {

// Which positions queries see: the rule of attention.h. What it comes to is computed in seen_positions.h.
struct Visibility {
    Length window = 0;  // 0 = none
    Length sinks = 0;   // without effect unless there is a window
};

}  // namespace kvpane

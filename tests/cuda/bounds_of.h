// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cuda/device_attention.h>

namespace kvpane::testing {

// What the host tells device_attention() of a problem that it can read.
inline DeviceBounds bounds_of(const AttentionProblem& problem) {
    DeviceBounds bounds{.rows = rows_of(problem), .most_rows = 1, .longest = 0};
    for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
        bounds.longest = std::max(bounds.longest, problem.lengths[i]);
        bounds.most_rows = std::max(bounds.most_rows, rows_of_sequence(problem, i).size());
    }
    return bounds;
}

}  // namespace kvpane::testing

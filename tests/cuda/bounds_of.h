// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cuda/device_cascade.h>

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

inline CascadeBounds bounds_of(const AttentionProblem& problem, const SharedPrefixes& shared) {
    CascadeBounds bounds{.problem = bounds_of(problem), .most_group_rows = 0};
    for (std::size_t group = 0; group < shared.lengths.size(); ++group) {
        const auto first = static_cast<std::size_t>(shared.indptr[group]);
        const auto last = static_cast<std::size_t>(shared.indptr[group + 1]) - 1;
        bounds.most_group_rows = std::max(bounds.most_group_rows, rows_of_sequence(problem, last).end -
                                                                      rows_of_sequence(problem, first).begin);
    }
    return bounds;
}

}  // namespace kvpane::testing

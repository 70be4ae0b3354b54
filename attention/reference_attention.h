// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/attention.h>

namespace kvpane {

// Attention as the formula in attention.h says it, cell by cell in double precision: no tables of partial results, no
// vectors, no contracted or reordered arithmetic. Every other path is compared with it, so it is written to be read.
// Nothing is written when an error is returned.
// COST O(cells seen * query_heads * head_dim), and slow. ERRORS as find_wrong(). Throws std::bad_alloc.
payload_expected<void> reference_attention(const AttentionProblem& problem, const AttentionResult& result);

}  // namespace kvpane

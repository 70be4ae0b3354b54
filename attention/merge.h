// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/attention/attention.h>

namespace kvpane {

// Results over disjoint sets of cells of the same queries: of chunks, or of the two halves of a cascade.
struct AttentionParts {
    std::size_t parts = 0;
    std::size_t rows = 0;
    std::uint32_t query_heads = 0;
    std::uint32_t head_dim = 0;
    std::span<const float> out;               // [parts, rows, query_heads, head_dim]
    std::span<const float> lse;               // [parts, rows, query_heads]; -inf: nothing was seen, out is not read
    std::span<const float> sink_logits = {};  // [query_heads] counted once, beside the parts; or empty
};

// The result over all of them: with w_i = exp(lse_i - lse), out = sum w_i out_i and lse = ln(sum exp(lse_i)
// [+ exp(sink_logit)]). Nothing seen in any: out = 0, lse = -inf. A NaN among the lse of a state is one in all of its out
// and in its lse. Associative up to rounding. No heap, no NaN that finite parts do not hold.
// COST O(size of the parts). ERRORS bad_shape (head_dim or query_heads 0, sizes beyond size_t, sink_logits, no memory),
// unsupported_dtype (fp8 outputs), buffer_too_small (a span), misaligned, overlapping (outputs with inputs or each
// other): nothing is written.
payload_expected<void> merge_parts(const AttentionParts& parts, const AttentionResult& result) noexcept;

// What merge_parts() asks, on the host and on a device: it reads no array. COST O(1).
payload_expected<void> find_wrong(const AttentionParts& parts, const AttentionResult& result) noexcept;

}  // namespace kvpane

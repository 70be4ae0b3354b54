// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/merge.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/elements.h>

namespace kvpane {

namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

tl::unexpected<PayloadError> wrong(PayloadFault fault, const char* where) noexcept {
    return tl::unexpected(PayloadError{fault, where});
}

// One row of one head.
void merge_state(const AttentionParts& parts, const AttentionResult& result, std::size_t state) noexcept {
    const std::size_t states = parts.rows * parts.query_heads;
    const float sink = parts.sink_logits.empty() ? nothing : parts.sink_logits[state % parts.query_heads];
    const auto lse_of = [&](std::size_t part) { return parts.lse[part * states + state]; };

    // A NaN, which no maximum shows, reaches the result through the sum; nothing seen is a sum of 0.
    float largest = sink;
    for (std::size_t part = 0; part < parts.parts; ++part) {
        largest = std::max(largest, lse_of(part));
    }
    const auto weight_of = [&](float lse) { return lse == nothing ? 0 : std::exp(double{lse} - largest); };
    double sum = weight_of(sink);
    for (std::size_t part = 0; part < parts.parts; ++part) {
        sum += weight_of(lse_of(part));
    }

    constexpr std::size_t strip = 64;  // elements that stay in the inner cache while the parts pass by
    for (std::size_t begin = 0; begin < parts.head_dim; begin += strip) {
        std::array<double, strip> values{};
        const std::size_t count = std::min<std::size_t>(strip, parts.head_dim - begin);
        for (std::size_t part = 0; part < parts.parts; ++part) {
            if (lse_of(part) != nothing) {
                const double weight = weight_of(lse_of(part)) / sum;
                const float* out = &parts.out[(part * states + state) * parts.head_dim + begin];
                std::transform(out, out + count, values.begin(), values.begin(),
                               [&](float x, double so_far) { return so_far + weight * x; });
            }
        }
        for (std::size_t d = 0; d < count; ++d) {
            write_element(result.out.data, result.out.dtype, state * parts.head_dim + begin + d,
                          static_cast<float>(values[d]));
        }
    }
    if (!result.lse.empty()) {
        result.lse[state] = sum == 0 ? nothing : static_cast<float>(largest + std::log(sum));
    }
}

}  // namespace

payload_expected<void> find_wrong(const AttentionParts& parts, const AttentionResult& result) noexcept {
    if (parts.query_heads == 0) {
        return wrong(PayloadFault::bad_shape, "query_heads");
    }
    if (parts.head_dim == 0) {
        return wrong(PayloadFault::bad_shape, "head_dim");
    }
    if (!parts.sink_logits.empty() && parts.sink_logits.size() != parts.query_heads) {
        return wrong(PayloadFault::bad_shape, "sink_logits");
    }
    if (bytes_of(result.out.dtype) < 2) {
        return wrong(PayloadFault::unsupported_dtype, "out");
    }
    std::size_t states = 0;
    std::size_t all_states = 0;
    std::size_t elements = 0;
    std::size_t all_elements = 0;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(parts.rows, parts.query_heads, &states) ||
        __builtin_mul_overflow(states, parts.head_dim, &elements) ||
        __builtin_mul_overflow(states, parts.parts, &all_states) ||
        __builtin_mul_overflow(elements, parts.parts, &all_elements) ||
        __builtin_mul_overflow(std::max(elements, all_elements), sizeof(float), &bytes)) {
        return wrong(PayloadFault::bad_shape, "rows");
    }
    if (states > 0 && result.out.data == nullptr) {
        return wrong(PayloadFault::bad_shape, "out");
    }
    if (parts.out.size() < all_elements) {
        return wrong(PayloadFault::buffer_too_small, "parts.out");
    }
    if (parts.lse.size() < all_states) {
        return wrong(PayloadFault::buffer_too_small, "parts.lse");
    }
    if (!result.lse.empty() && result.lse.size() < states) {
        return wrong(PayloadFault::buffer_too_small, "lse");
    }

    const std::size_t element = bytes_of(result.out.dtype);
    const ArgumentMemory out{"out", range_of(result.out.data, elements * element), element};
    const ArgumentMemory lse = memory_of("lse", result.lse);
    return find_misaligned({memory_of("parts.out", parts.out), memory_of("parts.lse", parts.lse),
                            memory_of("sink_logits", parts.sink_logits), out, lse})
        .and_then([&] {
            return find_overlapping({out, lse},
                                    {range_of(parts.out), range_of(parts.lse), range_of(parts.sink_logits)});
        });
}

payload_expected<void> merge_parts(const AttentionParts& parts, const AttentionResult& result) noexcept {
    return find_wrong(parts, result).map([&] {
        for (std::size_t state = 0; state < parts.rows * parts.query_heads; ++state) {
            merge_state(parts, result, state);
        }
    });
}

}  // namespace kvpane

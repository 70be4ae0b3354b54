// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include <kvpane/attention/cuda/kernel_env.cuh>

// The online softmax: a largest logit, and what is summed up relative to it. Nothing seen: -inf and 0, never NaN.
namespace kvpane::cuda {

inline constexpr float nothing = -std::numeric_limits<float>::infinity();

KVPANE_DEVICE float larger(float a, float b) { return a > b ? a : b; }

// exp(logit - largest), 0 for nothing. A NaN stays one.
KVPANE_DEVICE float weight_of(float logit, float largest) { return logit == nothing ? 0.0F : expf(logit - largest); }

KVPANE_DEVICE float cap_softly(float logit, float soft_cap) {
    return soft_cap > 0 ? soft_cap * tanhf(logit / soft_cap) : logit;
}

// What a sum over cells becomes with the sink's logit beside it.
struct Finish {
    float factor = 0;  // of the weighted sum of V, to get the output
    float lse = nothing;
};

KVPANE_DEVICE Finish finish(float largest, float sum, float sink_logit) {
    const float top = larger(largest, sink_logit);
    if (top == nothing && sum == 0) {
        return {};
    }
    const float here = weight_of(largest, top);
    const float total = sum * here + weight_of(sink_logit, top);
    return {here / total, top + logf(total)};
}

}  // namespace kvpane::cuda

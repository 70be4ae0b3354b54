// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cuda/device_attention.h>

#include "attention/attention_case.h"

namespace kvpane::testing {

// The answer of the kernels, run in the emulator; `seed` orders their threads. Rows of `rows` go in and come out.
Answer by_emulator(const AttentionProblem& problem, std::uint64_t seed, DType rows = DType::f32);

// The same of a problem whose arrays hold what they should not: `bounds` are those that its sizes were made for.
Answer by_emulator(const AttentionProblem& problem, const DeviceBounds& bounds, std::uint64_t seed,
                   DType rows = DType::f32);

}  // namespace kvpane::testing

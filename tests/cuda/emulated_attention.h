// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cuda/device_attention.h>

#include "attention/attention_case.h"

namespace kvpane::testing {

// What the host would tell device_attention() of a problem that it can read.
DeviceBounds bounds_of(const AttentionProblem& problem);

// The answer of the kernels, run in the emulator; `seed` orders their threads. Rows of `rows` go in and come out.
Answer by_emulator(const AttentionProblem& problem, std::uint64_t seed, DType rows = DType::f32);

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/attention/attention.h>

#include "attention/attention_case.h"

namespace kvpane::testing {

// The answer of the kernels, run in the emulator; `seed` orders their threads. Rows of `rows` go in and come out.
Answer by_emulator(const AttentionProblem& problem, std::uint64_t seed, DType rows = DType::f32);

}  // namespace kvpane::testing

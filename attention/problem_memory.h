// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/memory_range.h>

namespace kvpane {

// All memory of a problem, and of its result. REQUIRES that find_wrong() finds nothing.
std::array<MemoryRange, 9> inputs_of(const AttentionProblem& problem) noexcept;
std::array<MemoryRange, 2> outputs_of(const AttentionProblem& problem, const AttentionResult& result) noexcept;

}  // namespace kvpane

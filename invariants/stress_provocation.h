// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <kvpane/allocator/error.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/stress_crowd.h>

namespace kvpane::invariants {

// Makes `operation` one that must fail whatever the pool, drawn among all that the crowd and the open device steps
// allow, and returns the error that it must give. REQUIRES a blank operation (see blank()).
Error provoke(const Crowd& crowd, std::span<const std::uint64_t> open_steps, Random& random, Operation& operation);

// Empties the fields that stress runs use, keeping the memory of the lists.
void blank(Operation& operation) noexcept;

}  // namespace kvpane::invariants

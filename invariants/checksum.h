// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvpane::invariants {

// XXH3 (64 bits) of the bytes: the same on every machine. Finds damage, not malice.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace kvpane::invariants

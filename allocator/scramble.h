// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/allocator/digest.h>

namespace kvpane {

// A bijection of 64-bit words that leaves no pattern (the finaliser of splitmix64): neighbours become unrelated.
KVPANE_WRAPS constexpr std::uint64_t scramble(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

}  // namespace kvpane

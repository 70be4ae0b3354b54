// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Unsigned wrap-around is what a hash is made of; the sanitizer that reports it elsewhere is told so here.
#if defined(__clang__)
#    define KVPANE_WRAPS __attribute__((no_sanitize("unsigned-integer-overflow")))
#else
#    define KVPANE_WRAPS
#endif

namespace kvpane {

// A running 64-bit digest of a state: equal states give equal digests. Not for hostile input.
class Digest {
public:
    // Mixes by multiply and shift (the finaliser of MurmurHash3), so that order and every bit count.
    KVPANE_WRAPS constexpr void add(std::uint64_t word) noexcept {
        std::uint64_t x = value_ ^ (word + 0x9e3779b97f4a7c15U + (value_ << 6U) + (value_ >> 2U));
        x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
        x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
        value_ = x ^ (x >> 33U);
    }

    constexpr std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace kvpane

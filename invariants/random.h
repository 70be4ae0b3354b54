// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/scramble.h>

namespace kvpane::invariants {

// The one stream of random numbers behind a run (xoshiro256**): whole numbers only, and the same ones with every
// compiler and library. Not for secrets.
class Random {
public:
    KVPANE_WRAPS explicit constexpr Random(std::uint64_t seed) noexcept {
        for (std::uint64_t& word : state_) {
            word = seed = scramble(seed);
        }
    }

    KVPANE_WRAPS constexpr std::uint64_t next() noexcept {
        const std::uint64_t result = std::rotl(state_[1] * 5U, 7) * 9U;
        const std::uint64_t shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // 0..n-1. REQUIRES 1 <= n <= 2^32. Uneven by n / 2^32 at most.
    constexpr std::uint64_t below(std::uint64_t n) noexcept { return ((next() >> 32U) * n) >> 32U; }

    // min..max, both included. REQUIRES 0 <= min <= max < 2^32.
    constexpr Length between(Length min, Length max) noexcept {
        return min + static_cast<Length>(below(static_cast<std::uint64_t>(max - min) + 1));
    }

    // True in `percent` of a hundred cases.
    constexpr bool chance(std::int64_t percent) noexcept { return static_cast<std::int64_t>(below(100)) < percent; }

    // Any token id.
    constexpr Token token() noexcept { return static_cast<Token>(next() >> 33U); }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace kvpane::invariants

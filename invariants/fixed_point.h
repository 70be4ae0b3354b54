// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Powers and logarithms to base 2 in whole numbers: the same on every machine, within 2^-14 of what a mathematical
// library would give, without its last digit that differs by vendor.
namespace kvpane::invariants {

// [i] = 2^(2^-(i + 1)) in units of 2^-31.
inline constexpr std::array<std::uint64_t, 16> roots_of_two = {
    3037000500U, 2553802834U, 2341847524U, 2242560872U, 2194507417U, 2170868212U, 2159144272U, 2153306067U,
    2150392887U, 2148937775U, 2148210589U, 2147847087U, 2147665360U, 2147574502U, 2147529075U, 2147506361U};

// 2^(fraction / 65536) in units of 2^-16. REQUIRES fraction < 65536.
constexpr std::uint64_t power_of_two(std::uint64_t fraction) noexcept {
    std::uint64_t power = std::uint64_t{1} << 31U;
    for (std::size_t i = 0; i < roots_of_two.size(); ++i) {
        if ((fraction >> (15U - i)) % 2 == 1) {
            power = (power * roots_of_two[i]) >> 31U;
        }
    }
    return power >> 15U;
}

// The logarithm of n to base 2 in units of 2^-16, rounded down. REQUIRES 1 <= n < 2^31.
constexpr std::uint64_t logarithm_to_base_two(std::uint64_t n) noexcept {
    std::uint64_t logarithm = static_cast<std::uint64_t>(std::bit_width(n)) - 1;
    std::uint64_t mantissa = n << (31U - logarithm);  // [2^-31] 1 <= mantissa < 2
    for (int bit = 0; bit < 16; ++bit) {
        mantissa = (mantissa * mantissa) >> 31U;
        const std::uint64_t carry = mantissa >> 32U;
        mantissa >>= carry;
        logarithm = 2 * logarithm + carry;
    }
    return logarithm;
}

}  // namespace kvpane::invariants

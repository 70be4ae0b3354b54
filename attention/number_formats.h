// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

// The narrow floating-point formats, by their definitions: every path agrees with these functions bit for bit.
// Narrowing rounds to nearest, ties to even. What is too large for f16 and bf16 becomes infinite; for fp8 it becomes
// the largest finite value, infinities too, as the conversions of devices do. NaN stays NaN.
namespace kvpane {

// A format of one sign bit, `exponent_bits` and `mantissa_bits`, biased by 2^(exponent_bits - 1) - 1.
template <int exponent_bits, int mantissa_bits>
struct NarrowFloat {
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr std::uint32_t sign_bit = 1U << (exponent_bits + mantissa_bits);
    static constexpr std::uint32_t one_exponent = 1U << mantissa_bits;
    // e4m3 gives its largest exponent to numbers, all but the last pattern.
    static constexpr bool has_infinity = !(exponent_bits == 4 && mantissa_bits == 3);
    static constexpr bool saturates = exponent_bits + mantissa_bits == 7;
    static constexpr std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
    static constexpr std::uint32_t largest = has_infinity ? infinity - 1 : sign_bit - 2;
    static constexpr std::uint32_t nan = has_infinity ? infinity | (one_exponent >> 1) : sign_bit - 1;

    static constexpr std::uint32_t narrow(float value) noexcept {
        constexpr int float_bias = 127;
        constexpr int float_mantissa = 23;
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (bits >> 31U) != 0 ? sign_bit : 0;
        const std::uint32_t magnitude = bits & 0x7fffffffU;
        if (magnitude > 0x7f800000U) {
            return sign | nan;
        }
        const bool is_normal = magnitude >= 0x00800000U;
        const int exponent = is_normal ? static_cast<int>(magnitude >> float_mantissa) - float_bias : 1 - float_bias;
        const std::uint32_t significand = (magnitude & 0x007fffffU) | (is_normal ? 0x00800000U : 0U);
        const int below = (1 - bias) - exponent;  // exponents below the smallest normal one
        const int dropped = float_mantissa - mantissa_bits + (below > 0 ? below : 0);
        if (dropped > float_mantissa + 1) {
            return sign;  // less than half of the smallest value
        }
        const auto shift = static_cast<std::uint32_t>(dropped);
        const std::uint32_t half = shift == 0 ? 0 : (1U << (shift - 1)) - 1 + ((significand >> shift) & 1U);
        const std::uint32_t rounded = (significand + half) >> shift;
        // A carry out of the mantissa is the next exponent: the patterns are in the order of the values.
        const std::uint32_t pattern =
            below > 0 ? rounded
                      : (static_cast<std::uint32_t>(exponent + bias) << mantissa_bits) + rounded - one_exponent;
        if (magnitude == 0x7f800000U || pattern > largest) {
            return sign | (saturates ? largest : infinity);
        }
        return sign | pattern;
    }

    static constexpr float widen(std::uint32_t bits) noexcept {
        constexpr int float_bias = 127;
        const std::uint32_t magnitude = bits & (sign_bit - 1);
        const std::uint32_t exponent = magnitude >> mantissa_bits;
        const std::uint32_t mantissa = magnitude & (one_exponent - 1);
        const std::uint32_t sign = (bits & sign_bit) != 0 ? 0x80000000U : 0U;
        if (has_infinity ? magnitude > infinity : magnitude == nan) {
            return std::bit_cast<float>(sign | 0x7fc00000U);
        }
        if (has_infinity && magnitude == infinity) {
            return std::bit_cast<float>(sign | 0x7f800000U);
        }
        if (exponent == 0) {
            if constexpr (exponent_bits == 8) {
                return std::bit_cast<float>(sign | (mantissa << (23 - mantissa_bits)));  // subnormal there and here
            } else {
                constexpr auto unit =
                    std::bit_cast<float>(static_cast<std::uint32_t>(float_bias + 1 - bias - mantissa_bits) << 23U);
                const float value = static_cast<float>(mantissa) * unit;
                return sign != 0 ? -value : value;
            }
        }
        return std::bit_cast<float>(sign | ((exponent + static_cast<std::uint32_t>(float_bias - bias)) << 23U) |
                                    (mantissa << (23 - mantissa_bits)));
    }
};

using F16 = NarrowFloat<5, 10>;
using BF16 = NarrowFloat<8, 7>;
using E4M3 = NarrowFloat<4, 3>;
using E5M2 = NarrowFloat<5, 2>;

static_assert(F16::narrow(1.0F) == 0x3c00 && F16::narrow(65504.0F) == 0x7bff && F16::narrow(65520.0F) == 0x7c00);
static_assert(F16::narrow(0x1p-24F) == 1 && F16::narrow(0x1p-25F) == 0 && F16::widen(1) == 0x1p-24F);
static_assert(BF16::narrow(1.0F) == 0x3f80 && BF16::narrow(-1.00390625F) == 0xbf80);  // a tie goes to even
static_assert(E4M3::narrow(448.0F) == 0x7e && E4M3::narrow(1e9F) == 0x7e && E4M3::widen(0x7e) == 448.0F);
static_assert(E5M2::narrow(57344.0F) == 0x7b && E5M2::narrow(1e9F) == 0x7b && E5M2::widen(0x01) == 0x1p-16F);

}  // namespace kvpane

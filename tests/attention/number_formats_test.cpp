// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/number_formats.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/seed.h"
#include "support/workloads.h"

namespace kvpane {

namespace {

template <class Format, int exponent_width, int mantissa_width>
struct Case {
    using F = Format;
    static constexpr int exponent_bits = exponent_width;
    static constexpr int mantissa_bits = mantissa_width;
    static constexpr std::uint32_t patterns = 1U << (1 + exponent_width + mantissa_width);
    static constexpr bool is_e4m3 = exponent_width == 4;
    static constexpr bool is_fp8 = patterns == 256;
};

using F16Case = Case<F16, 5, 10>;
using BF16Case = Case<BF16, 8, 7>;
using E4M3Case = Case<E4M3, 4, 3>;
using E5M2Case = Case<E5M2, 5, 2>;

// What a pattern stands for: IEEE 754 for f16, bf16 and e5m2; OCP 8-bit floating point, table 1, for e4m3.
template <class C>
double defined_value(std::uint32_t pattern) {
    const bool is_negative = (pattern & (C::patterns / 2)) != 0;
    const std::uint32_t magnitude = pattern & (C::patterns / 2 - 1);
    const int exponent = static_cast<int>(magnitude >> C::mantissa_bits);
    const double mantissa = magnitude & ((1U << C::mantissa_bits) - 1);
    const int highest = (1 << C::exponent_bits) - 1;
    const int bias = highest / 2;
    double value = 0;
    if (C::is_e4m3 ? magnitude == C::patterns / 2 - 1 : exponent == highest && mantissa != 0) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (!C::is_e4m3 && exponent == highest) {
        value = std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
        value = std::ldexp(mantissa, 1 - bias - C::mantissa_bits);
    } else {
        value = std::ldexp(std::ldexp(1.0, C::mantissa_bits) + mantissa, exponent - bias - C::mantissa_bits);
    }
    return is_negative ? -value : value;
}

// The finite values from 0 on, by pattern.
template <class C>
std::vector<double> finite_values() {
    std::vector<double> values;
    for (std::uint32_t pattern = 0; std::isfinite(defined_value<C>(pattern)); ++pattern) {
        values.push_back(defined_value<C>(pattern));
    }
    return values;
}

// The nearest pattern, of two the even one, found in a table of all values.
template <class C>
std::uint32_t nearest(const std::vector<double>& values, float value) {
    const std::uint32_t sign = std::signbit(value) ? C::patterns / 2 : 0;
    const double magnitude = std::abs(double{value});
    const auto last = static_cast<std::uint32_t>(values.size() - 1);
    if (magnitude >= values.back()) {
        const bool is_beyond = magnitude - values.back() >= (values[last] - values[last - 1]) / 2;
        return sign | (is_beyond && !C::is_fp8 ? last + 1 : last);
    }
    const auto above = static_cast<std::uint32_t>(std::ranges::upper_bound(values, magnitude) - values.begin());
    const double up = values[above] - magnitude;
    const double down = magnitude - values[above - 1];
    const bool takes_upper = up < down || (up == down && above % 2 == 0);
    return sign | (takes_upper ? above : above - 1);
}

float random_float(testing::Lcg& lcg) {
    const auto bits = static_cast<std::uint32_t>(lcg.below(1U << 16U) << 16U | lcg.below(1U << 16U));
    return std::bit_cast<float>(bits);
}

template <class C>
void check_every_pattern() {
    for (std::uint32_t pattern = 0; pattern < C::patterns; ++pattern) {
        const double defined = defined_value<C>(pattern);
        const float widened = C::F::widen(pattern);
        const std::uint32_t narrowed = C::F::narrow(widened);
        if (std::isnan(defined)) {
            BOOST_REQUIRE_MESSAGE(std::isnan(widened) && std::isnan(defined_value<C>(narrowed)), pattern);
        } else if (std::isinf(defined) && C::is_fp8) {
            BOOST_REQUIRE_MESSAGE(double{widened} == defined && narrowed == pattern - 1, pattern);
        } else {
            BOOST_REQUIRE_MESSAGE(double{widened} == defined && narrowed == pattern, pattern);
        }
    }
}

// Random floats, the middle between neighbours, and what lies right beside both.
template <class C>
void check_rounding() {
    const std::vector<double> values = finite_values<C>();
    testing::Lcg lcg(testing::seed());
    const auto check = [&](float value) {
        for (const float signed_value : {value, -value}) {
            BOOST_REQUIRE_MESSAGE(C::F::narrow(signed_value) == nearest<C>(values, signed_value), signed_value);
        }
    };
    for (int i = 0; i < 20'000; ++i) {
        const float value = random_float(lcg);
        if (!std::isnan(value)) {
            check(value);
        }
        const std::size_t at = lcg.below(values.size() - 1);
        const auto middle = static_cast<float>((values[at] + values[at + 1]) / 2);
        for (const float edge : {static_cast<float>(values[at]), middle}) {
            check(edge);
            check(std::nextafter(edge, 0.0F));
            check(std::nextafter(edge, std::numeric_limits<float>::infinity()));
        }
    }
    check(std::numeric_limits<float>::max());
    check(std::numeric_limits<float>::denorm_min());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(number_formats)

BOOST_AUTO_TEST_CASE(every_pattern_has_the_value_of_its_definition_and_comes_back) {
    check_every_pattern<F16Case>();
    check_every_pattern<BF16Case>();
    check_every_pattern<E4M3Case>();
    check_every_pattern<E5M2Case>();
}

BOOST_AUTO_TEST_CASE(narrowing_takes_the_nearest_value_and_of_two_the_even_one) {
    check_rounding<F16Case>();
    check_rounding<BF16Case>();
    check_rounding<E4M3Case>();
    check_rounding<E5M2Case>();
}

BOOST_AUTO_TEST_CASE(nan_stays_nan_and_keeps_its_sign) {
    for (const float nan : {std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7f800001U)}) {
        BOOST_TEST(F16::narrow(nan) == 0x7e00U);
        BOOST_TEST(BF16::narrow(-nan) == 0xffc0U);
        BOOST_TEST(E4M3::narrow(-nan) == 0xffU);
        BOOST_TEST(E5M2::narrow(nan) == 0x7eU);
    }
}

#if defined(__FLT16_MAX__) && !defined(__clang__)
BOOST_AUTO_TEST_CASE(f16_rounds_as_the_compiler_does) {
    __extension__ using Half = _Float16;
    testing::Lcg lcg(testing::seed());
    for (int i = 0; i < 100'000; ++i) {
        // Every other one within the range of f16, where the rest would seldom fall.
        const float any = random_float(lcg);
        int exponent = 0;
        const float value =
            i % 2 == 0 ? any : std::ldexp(std::frexp(any, &exponent), static_cast<int>(lcg.below(44)) - 26);
        if (!std::isnan(value)) {
            const auto expected = std::bit_cast<std::uint16_t>(static_cast<Half>(value));
            BOOST_REQUIRE_MESSAGE(F16::narrow(value) == expected, value);
        }
    }
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kvpane {

// What one element of K, V, a query or an output is stored as.
enum class DType : std::uint8_t {
    f32,   // IEEE 754 binary32
    f16,   // IEEE 754 binary16
    bf16,  // the upper half of a binary32
    e4m3,  // OCP fp8: 4 bits of exponent, no infinity, one NaN, largest 448
    e5m2,  // OCP fp8: 5 bits of exponent, infinities, largest 57344
};

constexpr std::uint32_t bytes_of(DType dtype) noexcept {
    switch (dtype) {
        case DType::f32: return 4;
        case DType::f16:
        case DType::bf16: return 2;
        case DType::e4m3:
        case DType::e5m2: return 1;
    }
    return 0;
}

constexpr std::string_view to_string(DType dtype) noexcept {
    switch (dtype) {
        case DType::f32: return "f32";
        case DType::f16: return "f16";
        case DType::bf16: return "bf16";
        case DType::e4m3: return "e4m3";
        case DType::e5m2: return "e5m2";
    }
    return "";
}

}  // namespace kvpane

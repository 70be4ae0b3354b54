// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/attention/dtype.h>
#include <kvpane/attention/number_formats.h>

// Single elements of arrays of which the type is known at run time, for paths that are not in a hurry.
namespace kvpane {

inline float read_element(const void* data, DType dtype, std::size_t index) noexcept {
    switch (dtype) {
        case DType::f32: return static_cast<const float*>(data)[index];
        case DType::f16: return F16::widen(static_cast<const std::uint16_t*>(data)[index]);
        case DType::bf16: return BF16::widen(static_cast<const std::uint16_t*>(data)[index]);
        case DType::e4m3: return E4M3::widen(static_cast<const std::uint8_t*>(data)[index]);
        case DType::e5m2: return E5M2::widen(static_cast<const std::uint8_t*>(data)[index]);
    }
    return 0;
}

inline void write_element(void* data, DType dtype, std::size_t index, float value) noexcept {
    switch (dtype) {
        case DType::f32: static_cast<float*>(data)[index] = value; return;
        case DType::f16:
            static_cast<std::uint16_t*>(data)[index] = static_cast<std::uint16_t>(F16::narrow(value));
            return;
        case DType::bf16:
            static_cast<std::uint16_t*>(data)[index] = static_cast<std::uint16_t>(BF16::narrow(value));
            return;
        case DType::e4m3:
            static_cast<std::uint8_t*>(data)[index] = static_cast<std::uint8_t>(E4M3::narrow(value));
            return;
        case DType::e5m2:
            static_cast<std::uint8_t*>(data)[index] = static_cast<std::uint8_t>(E5M2::narrow(value));
            return;
    }
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <kvpane/attention/dtype.h>
#include <kvpane/attention/number_formats.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

#ifdef __CUDACC__
#    include <cuda_fp16.h>
#endif

// Elements as they are stored, and as floats. Eight of them are a thread's piece of a head.
namespace kvpane::cuda {

inline constexpr unsigned piece = 8;  // [elements] head_dim is a multiple of it

struct F32Cells {
    static constexpr unsigned bytes = 4;
    KVPANE_DEVICE static float widen(std::uint32_t bits) { return std::bit_cast<float>(bits); }
};

struct F16Cells {
    static constexpr unsigned bytes = 2;
#ifdef __CUDACC__
    KVPANE_DEVICE static float widen(std::uint32_t bits) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    }
#else
    KVPANE_DEVICE static float widen(std::uint32_t bits) { return F16::widen(bits); }
#endif
};

struct BF16Cells {
    static constexpr unsigned bytes = 2;
    KVPANE_DEVICE static float widen(std::uint32_t bits) { return std::bit_cast<float>(bits << 16U); }
};

struct E4M3Cells {
    static constexpr unsigned bytes = 1;
    // Its bits, moved to where those of f16 stand, are the value times 2^-8: subnormal or not.
    KVPANE_DEVICE static float widen(std::uint32_t bits) {
        const float value = F16Cells::widen((bits & 0x80U) << 8U | (bits & 0x7fU) << 7U) * 256.0F;
        return (bits & 0x7fU) == E4M3::nan ? std::bit_cast<float>(0x7fc00000U | (bits & 0x80U) << 24U) : value;
    }
};

struct E5M2Cells {
    static constexpr unsigned bytes = 1;
    KVPANE_DEVICE static float widen(std::uint32_t bits) { return F16Cells::widen(bits << 8U); }  // the upper half
};

// Eight elements as they are stored.
template <class Cells>
struct Piece {
    static constexpr unsigned words = piece * Cells::bytes / 4;
    std::uint32_t bits[words] = {};

    // `index`: of the first element, a multiple of eight.
    KVPANE_DEVICE void load(const void* elements, std::int64_t index) {
        load_words(static_cast<const std::byte*>(elements) + index * std::int64_t{Cells::bytes}, bits);
    }

    // All bits set are a NaN in every dtype.
    KVPANE_DEVICE void fill_nan() {
        KVPANE_UNROLL
        for (std::uint32_t& word : bits) {
            word = ~0U;
        }
    }

    KVPANE_DEVICE void store(void* elements, std::int64_t index) const {
        store_words(bits, static_cast<std::byte*>(elements) + index * std::int64_t{Cells::bytes});
    }

    KVPANE_DEVICE float operator[](unsigned i) const {
        constexpr unsigned per_word = 4 / Cells::bytes;
        constexpr unsigned width = 8 * Cells::bytes;
        const std::uint32_t word = bits[i / per_word] >> (i % per_word * width);
        if constexpr (Cells::bytes == 4) {
            return Cells::widen(word);
        } else {
            return Cells::widen(word & ((1U << width) - 1));
        }
    }
};

// One element of an array of which the type is known at run time: queries, outputs, rows to write.
KVPANE_DEVICE std::uint32_t read_bits(const void* data, DType dtype, std::size_t index) {
    switch (bytes_of(dtype)) {
        case 4: return static_cast<const std::uint32_t*>(data)[index];
        case 2: return static_cast<const std::uint16_t*>(data)[index];
        default: return static_cast<const std::uint8_t*>(data)[index];
    }
}

KVPANE_DEVICE void write_bits(void* data, DType dtype, std::size_t index, std::uint32_t bits) {
    switch (bytes_of(dtype)) {
        case 4: static_cast<std::uint32_t*>(data)[index] = bits; return;
        case 2: static_cast<std::uint16_t*>(data)[index] = static_cast<std::uint16_t>(bits); return;
        default: static_cast<std::uint8_t*>(data)[index] = static_cast<std::uint8_t>(bits); return;
    }
}

KVPANE_DEVICE float widen(DType dtype, std::uint32_t bits) {
    switch (dtype) {
        case DType::f32: return F32Cells::widen(bits);
        case DType::f16: return F16Cells::widen(bits);
        case DType::bf16: return BF16Cells::widen(bits);
        case DType::e4m3: return E4M3Cells::widen(bits);
        case DType::e5m2: return E5M2Cells::widen(bits);
    }
    return 0;
}

KVPANE_DEVICE std::uint32_t narrow(DType dtype, float value) {
    switch (dtype) {
        case DType::f32: return std::bit_cast<std::uint32_t>(value);
        case DType::f16: return F16::narrow(value);
        case DType::bf16: return BF16::narrow(value);
        case DType::e4m3: return E4M3::narrow(value);
        case DType::e5m2: return E5M2::narrow(value);
    }
    return 0;
}

KVPANE_DEVICE float load_element(const void* data, DType dtype, std::size_t index) {
    return widen(dtype, read_bits(data, dtype, index));
}

KVPANE_DEVICE void store_element(void* data, DType dtype, std::size_t index, float value) {
    write_bits(data, dtype, index, narrow(dtype, value));
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/element_copy.h>

#include <cstdint>
#include <cstring>

#include <kvpane/attention/number_formats.h>

namespace kvpane {

namespace {

struct F32Element {
    using Bits = float;
    static float widen(float value) noexcept { return value; }
    static float narrow(float value) noexcept { return value; }
};

template <class Format, class Pattern>
struct NarrowElement {
    using Bits = Pattern;
    static float widen(Bits bits) noexcept { return Format::widen(bits); }
    static Bits narrow(float value) noexcept { return static_cast<Bits>(Format::narrow(value)); }
};

using F16Element = NarrowElement<F16, std::uint16_t>;
using BF16Element = NarrowElement<BF16, std::uint16_t>;
using E4M3Element = NarrowElement<E4M3, std::uint8_t>;
using E5M2Element = NarrowElement<E5M2, std::uint8_t>;

template <std::size_t bytes>
void copy_bits(void* out, const void* in, std::size_t n, float) noexcept {
    std::memcpy(out, in, n * bytes);
}

// Elements may lie anywhere that suits their size; the type of an array is not known, hence memcpy.
template <class From, class To, bool into_store>
void convert(void* out, const void* in, std::size_t n, float scale) noexcept {
    const auto* source = static_cast<const std::byte*>(in);
    auto* destination = static_cast<std::byte*>(out);
    for (std::size_t i = 0; i < n; ++i) {
        typename From::Bits from;
        std::memcpy(&from, source + i * sizeof from, sizeof from);
        const float value = From::widen(from);
        const typename To::Bits to = To::narrow(into_store ? value / scale : value * scale);
        std::memcpy(destination + i * sizeof to, &to, sizeof to);
    }
}

template <class From>
ElementCopy into_store(DType store) noexcept {
    switch (store) {
        case DType::f32: return convert<From, F32Element, true>;
        case DType::f16: return convert<From, F16Element, true>;
        case DType::bf16: return convert<From, BF16Element, true>;
        case DType::e4m3: return convert<From, E4M3Element, true>;
        case DType::e5m2: return convert<From, E5M2Element, true>;
    }
    return nullptr;
}

template <class To>
ElementCopy out_of_store(DType store) noexcept {
    switch (store) {
        case DType::f32: return convert<F32Element, To, false>;
        case DType::f16: return convert<F16Element, To, false>;
        case DType::bf16: return convert<BF16Element, To, false>;
        case DType::e4m3: return convert<E4M3Element, To, false>;
        case DType::e5m2: return convert<E5M2Element, To, false>;
    }
    return nullptr;
}

ElementCopy bits_of_equal(DType dtype) noexcept {
    switch (bytes_of(dtype)) {
        case 4: return copy_bits<4>;
        case 2: return copy_bits<2>;
        case 1: return copy_bits<1>;
        default: return nullptr;
    }
}

}  // namespace

ElementCopy copy_into_store(DType rows, DType store) noexcept {
    if (rows == store) {
        return bits_of_equal(store);
    }
    switch (rows) {
        case DType::f32: return into_store<F32Element>(store);
        case DType::f16: return into_store<F16Element>(store);
        case DType::bf16: return into_store<BF16Element>(store);
        default: return nullptr;
    }
}

ElementCopy copy_out_of_store(DType store, DType rows) noexcept {
    if (rows == store) {
        return bits_of_equal(store);
    }
    switch (rows) {
        case DType::f32: return out_of_store<F32Element>(store);
        case DType::f16: return out_of_store<F16Element>(store);
        case DType::bf16: return out_of_store<BF16Element>(store);
        default: return nullptr;
    }
}

}  // namespace kvpane

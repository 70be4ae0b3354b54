// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/elements.h>

#include "support/workloads.h"

// Stores in every layout, rows, and what they hold, read by the formulas of the contracts alone.
namespace kvpane {

inline std::ostream& operator<<(std::ostream& out, const PayloadError& error) {
    return out << to_string(error.fault) << " (" << error.where << ")";
}

namespace testing {

inline constexpr std::array dtypes = {DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2};

struct Layout {
    CellOrder order;
    bool interleaved;
};
inline constexpr std::array<Layout, 4> layouts = {
    {{CellOrder::nhd, false}, {CellOrder::nhd, true}, {CellOrder::hnd, false}, {CellOrder::hnd, true}}};

inline std::string name_of(const Layout& layout, DType dtype) {
    return std::string(layout.order == CellOrder::nhd ? "nhd " : "hnd ") + (layout.interleaved ? "interleaved " : "") +
           std::string(to_string(dtype));
}

inline constexpr CellShape small_shape{.blocks = 5, .block_size = 4, .kv_heads = 3, .head_dim = 8};

inline CellShape with(CellShape shape, DType dtype) {
    shape.dtype = dtype;
    return shape;
}

// The address of one element by the formula of cell_store.h.
inline std::byte* element_at(const CellStore& store, bool in_v, Slot slot, std::uint32_t head, std::uint32_t d) {
    const std::int64_t size = store.shape.block_size;
    const std::int64_t element =
        slot / size * store.strides.block + slot % size * store.strides.cell + head * store.strides.head + d;
    return static_cast<std::byte*>(in_v ? store.v : store.k) + element * bytes_of(store.shape.dtype);
}

// Dense rows of K and V.
struct Rows {
    Rows(const CellShape& shape, std::size_t count, DType type)
        : row(std::size_t{shape.kv_heads} * shape.head_dim), dtype(type) {
        for (auto* part : {&k, &v}) {
            part->resize(count * row * bytes_of(dtype) / sizeof(float));
        }
    }

    CellRows in() const { return {k.data(), v.data(), dtype}; }
    CellRowsOut out() { return {k.data(), v.data(), dtype}; }

    float value(bool in_v, std::size_t i, std::size_t element) const {
        return read_element((in_v ? v : k).data(), dtype, i * row + element);
    }

    // Random values of both signs and many magnitudes, as far as the dtype has them.
    void fill(Lcg& lcg) {
        for (auto* part : {&k, &v}) {
            for (std::size_t i = 0; i < part->size() * sizeof(float) / bytes_of(dtype); ++i) {
                const float value = (static_cast<float>(lcg.below(2001)) - 1000) / 64;
                write_element(part->data(), dtype, i, value);
            }
        }
    }

    // Bit for bit.
    bool operator==(const Rows& other) const {
        const auto bytes = [](const std::vector<float>& part) { return std::as_bytes(std::span(part)); };
        return dtype == other.dtype && std::ranges::equal(bytes(k), bytes(other.k)) &&
               std::ranges::equal(bytes(v), bytes(other.v));
    }

    std::size_t row;
    DType dtype;
    std::vector<float> k;  // memory that suits every dtype
    std::vector<float> v;
};

// All bytes of a dense store.
inline std::vector<std::byte> bytes_in(const CellStore& store) {
    const auto* memory = static_cast<const std::byte*>(store.k);
    return {memory, memory + bytes_of(store.shape)};
}

inline void fill(const CellStore& store, Lcg& lcg) {
    auto* memory = static_cast<std::byte*>(store.k);
    for (std::size_t i = 0; i < bytes_of(store.shape); ++i) {
        memory[i] = static_cast<std::byte>(lcg.below(256));
    }
}

// The array as it would be a byte further, where none of its elements starts: an address, not to be read.
template <class T, std::size_t n>
std::span<T> shifted(std::span<T, n> array) {
    return {reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(array.data()) + 1), array.size()};
}

// `count` elements of some type at an address that is somebody else's.
template <class T>
std::span<T> at_address(const void* memory, std::size_t count) {
    return {reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(memory)), count};
}

// Whether a refusal is the one that was wanted.
template <class T>
bool is_refused(const payload_expected<T>& result, PayloadFault fault, const char* where) {
    return !result && result.error() == PayloadError{fault, where};
}

}  // namespace testing

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/payload_rows.h>

#include <algorithm>

#include <kvpane/allocator/scramble.h>
#include <kvpane/attention/elements.h>

namespace kvpane::invariants {

namespace {

// 24 bits as a number in [-8, 8), exactly.
float number_of(std::uint64_t bits) noexcept {
    return static_cast<float>(static_cast<std::int32_t>(bits & 0xffffffU) - 0x800000) * 0x1p-20F;
}

}  // namespace

void PayloadRows::resize(const CellStore& store, DType dtype, std::size_t cells) {
    const bool is_scaled = dtype == store.shape.dtype;
    elements_ = store.shape.kv_heads * store.shape.head_dim;
    dtype_ = dtype;
    k_scale_ = is_scaled ? store.k_scale : 1;
    v_scale_ = is_scaled ? store.v_scale : 1;
    // head_dim is a multiple of 8, so that no row ends within a float.
    const std::size_t floats = cells * elements_ * bytes_of(dtype) / sizeof(float);
    k_.resize(floats);
    v_.resize(floats);
}

void PayloadRows::fill(std::size_t row, std::uint64_t chain, Length position, std::uint32_t group) noexcept {
    const std::uint64_t seed = scramble(chain ^ scramble(static_cast<std::uint64_t>(position) << 32U | group));
    for (std::uint32_t place = 0; place < elements_; ++place) {
        const std::uint64_t bits = scramble(seed ^ place);
        const std::size_t index = row * elements_ + place;
        write_element(k_.data(), dtype_, index, number_of(bits) / k_scale_);
        write_element(v_.data(), dtype_, index, number_of(bits >> 32U) / v_scale_);
    }
}

std::span<const std::byte> PayloadRows::bytes(bool of_v, std::size_t row) const noexcept {
    const std::size_t size = std::size_t{elements_} * bytes_of(dtype_);
    return std::as_bytes(std::span(of_v ? v_ : k_)).subspan(row * size, size);
}

bool PayloadRows::has_equal_row(std::size_t row, const PayloadRows& other, std::size_t row_of_other) const noexcept {
    return std::ranges::equal(bytes(false, row), other.bytes(false, row_of_other)) &&
           std::ranges::equal(bytes(true, row), other.bytes(true, row_of_other));
}

float PayloadRows::value(bool of_v, std::size_t row, std::uint32_t place) const noexcept {
    return read_element((of_v ? v_ : k_).data(), dtype_, row * elements_ + place) * (of_v ? v_scale_ : k_scale_);
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/payload_rows.h>

#include <cstring>

#include <kvpane/allocator/scramble.h>
#include <kvpane/attention/elements.h>

namespace kvpane::invariants {

PayloadNumbers::PayloadNumbers(DType dtype, float scale) noexcept : element_bytes_(bytes_of(dtype)) {
    for (std::uint64_t i = 0; i < 256; ++i) {
        const auto bits = static_cast<std::int32_t>(scramble(i) & 0xffffffU);
        const float number = static_cast<float>(bits - 0x800000) * 0x1p-20F;
        write_element(numbers_.data(), dtype, i, number / scale);
    }
}

void PayloadNumbers::fill(std::byte* row, std::uint64_t seed, std::uint32_t count) const noexcept {
    switch (element_bytes_) {
        case 1: return fill<std::uint8_t>(row, seed, count);
        case 2: return fill<std::uint16_t>(row, seed, count);
        default: return fill<std::uint32_t>(row, seed, count);
    }
}

template <class Bits>
void PayloadNumbers::fill(std::byte* row, std::uint64_t seed, std::uint32_t count) const noexcept {
    for (std::uint32_t first = 0; first < count; first += 8) {
        std::uint64_t choices = scramble(seed ^ first);
        for (std::uint32_t i = 0; i < 8; ++i, choices >>= 8U) {
            std::memcpy(row + (first + i) * sizeof(Bits), numbers_.data() + (choices & 0xffU) * sizeof(Bits),
                        sizeof(Bits));
        }
    }
}

PayloadRows::PayloadRows(const CellStore& store, DType dtype)
    : elements_(store.shape.kv_heads * store.shape.head_dim), dtype_(dtype),
      row_bytes_(std::size_t{elements_} * bytes_of(dtype)), k_scale_(dtype == store.shape.dtype ? store.k_scale : 1),
      v_scale_(dtype == store.shape.dtype ? store.v_scale : 1), k_numbers_(dtype, k_scale_),
      v_numbers_(dtype, v_scale_) {}

void PayloadRows::resize(std::size_t cells) {
    k_.resize(cells * row_bytes_);
    v_.resize(cells * row_bytes_);
}

void PayloadRows::fill(std::size_t row, std::uint64_t chain, Length position, std::uint32_t group) noexcept {
    const std::uint64_t seed = scramble(chain ^ scramble(static_cast<std::uint64_t>(position) << 32U | group));
    k_numbers_.fill(k_.data() + row * row_bytes_, seed, elements_);
    v_numbers_.fill(v_.data() + row * row_bytes_, scramble(seed), elements_);
}

std::span<const std::byte> PayloadRows::bytes(bool of_v, std::size_t row) const noexcept {
    return std::span(of_v ? v_ : k_).subspan(row * row_bytes_, row_bytes_);
}

bool PayloadRows::is_equal(const PayloadRows& other) const noexcept {
    return std::memcmp(k_.data(), other.k_.data(), k_.size()) == 0 &&
           std::memcmp(v_.data(), other.v_.data(), v_.size()) == 0;
}

bool PayloadRows::has_equal_row(std::size_t row, const PayloadRows& other, std::size_t row_of_other) const noexcept {
    return std::memcmp(bytes(false, row).data(), other.bytes(false, row_of_other).data(), row_bytes_) == 0 &&
           std::memcmp(bytes(true, row).data(), other.bytes(true, row_of_other).data(), row_bytes_) == 0;
}

float PayloadRows::value(bool of_v, std::size_t row, std::uint32_t place) const noexcept {
    return read_element((of_v ? v_ : k_).data(), dtype_, row * elements_ + place) * (of_v ? v_scale_ : k_scale_);
}

}  // namespace kvpane::invariants

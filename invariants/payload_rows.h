// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>

namespace kvpane::invariants {

// The 256 numbers that elements have, as one dtype stores them under a scale. They lie in [-8, 8) and have 24 bits each,
// so that narrowing has to round; it is done by the definition of the dtype (number_formats.h).
class PayloadNumbers {
public:
    PayloadNumbers(DType dtype, float scale) noexcept;

    // Writes `count` of them, each chosen by 8 bits that `seed` makes, to a row. REQUIRES count is a multiple of 8.
    // COST one hash for 8 elements: full audits fill every cell that is held.
    void fill(std::byte* row, std::uint64_t seed, std::uint32_t count) const noexcept;

private:
    template <class Bits>
    void fill(std::byte* row, std::uint64_t seed, std::uint32_t count) const noexcept;

    alignas(std::uint64_t) std::array<std::byte, 256 * sizeof(float)> numbers_{};  // the first bytes of it
    std::uint32_t element_bytes_;
};

// K and V of some cells, [cells, kv_heads, head_dim] each, in one dtype.
class PayloadRows {
public:
    // Of cells of `store`, in the store's dtype or another one that has no scale.
    PayloadRows(const CellStore& store, DType dtype);

    // What the rows held before is lost.
    void resize(std::size_t cells);

    // What a token leaves behind: a function of its whole past (HistoryCell::chain), the group, and the place in the
    // cell, head * head_dim + d.
    void fill(std::size_t row, std::uint64_t chain, Length position, std::uint32_t group) noexcept;

    CellRows in() const noexcept { return {k_.data(), v_.data(), dtype_}; }
    CellRowsOut out() noexcept { return {k_.data(), v_.data(), dtype_}; }

    // The bytes of one row of K or V.
    std::span<const std::byte> bytes(bool of_v, std::size_t row) const noexcept;

    // Byte by byte, REQUIRES equal sizes and dtypes.
    bool is_equal(const PayloadRows& other) const noexcept;
    bool has_equal_row(std::size_t row, const PayloadRows& other, std::size_t row_of_other) const noexcept;

    // The value of an element, scaled.
    float value(bool of_v, std::size_t row, std::uint32_t place) const noexcept;

private:
    std::uint32_t elements_;  // of a row
    DType dtype_;
    std::size_t row_bytes_;
    float k_scale_;
    float v_scale_;
    PayloadNumbers k_numbers_;
    PayloadNumbers v_numbers_;
    std::vector<std::byte> k_;  // what an allocator gives suits every dtype
    std::vector<std::byte> v_;
};

}  // namespace kvpane::invariants

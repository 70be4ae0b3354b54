// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>

namespace kvpane::invariants {

// K and V of some cells, [cells, kv_heads, head_dim] each, in one dtype.
class PayloadRows {
public:
    // Rows of the cells of `store`, in the store's dtype or another one. What they held before is lost.
    void resize(const CellStore& store, DType dtype, std::size_t cells);

    // What a token leaves behind: in f32 as the model computes it, else as the store has it, narrowed by the definition
    // of the dtype (number_formats.h). A function of the token's whole past (HistoryCell::chain), the group, and the
    // place in the cell, head * head_dim + d; values in [-8, 8) with 24 bits each, so that narrowing has to round.
    // REQUIRES the dtype is f32 or the store's.
    void fill(std::size_t row, std::uint64_t chain, Length position, std::uint32_t group) noexcept;

    CellRows in() const noexcept { return {k_.data(), v_.data(), dtype_}; }
    CellRowsOut out() noexcept { return {k_.data(), v_.data(), dtype_}; }

    // The bytes of one row of K or V.
    std::span<const std::byte> bytes(bool of_v, std::size_t row) const noexcept;
    bool has_equal_row(std::size_t row, const PayloadRows& other, std::size_t row_of_other) const noexcept;

    // The value of an element, scaled.
    float value(bool of_v, std::size_t row, std::uint32_t place) const noexcept;

private:
    std::vector<float> k_;  // memory that suits every dtype
    std::vector<float> v_;
    std::uint32_t elements_ = 0;  // of a row
    DType dtype_ = DType::f32;
    float k_scale_ = 1;
    float v_scale_ = 1;
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include <kvpane/allocator/ids.h>

namespace kvpane {

// Positions to logical blocks and back. Block sizes are powers of two in practice: a shift then replaces the division
// (26 to 40 cycles for 64 bits), which would be the dearest part of a decode step.
class BlockShape {
public:
    explicit constexpr BlockShape(std::uint32_t block_size) noexcept
        : size_(block_size), shift_(std::has_single_bit(block_size) ? std::countr_zero(block_size) : -1) {}

    constexpr std::uint32_t size() const noexcept { return size_; }

    // The logical block that holds `position`. REQUIRES position >= 0.
    constexpr Length index(Length position) const noexcept {
        return shift_ >= 0 ? position >> shift_ : position / Length{size_};
    }

    // The cell of that block. REQUIRES position >= 0.
    constexpr Length offset(Length position) const noexcept { return position - begin(index(position)); }

    // The blocks that `cells` cells from position 0 on touch: ceil(cells / size).
    constexpr Length blocks_for(Length cells) const noexcept { return cells == 0 ? 0 : index(cells - 1) + 1; }

    // The first position of a logical block.
    constexpr Length begin(Length block) const noexcept { return block * Length{size_}; }

private:
    std::uint32_t size_;
    int shift_;  // log2(size), or -1
};

}  // namespace kvpane

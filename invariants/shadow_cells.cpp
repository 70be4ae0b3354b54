// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/shadow_cells.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace kvpane::invariants {

namespace {

std::size_t cells_in(std::int64_t blocks, std::uint32_t block_size) {
    const std::int64_t cells = (blocks + 1) * std::int64_t{block_size};
    const std::int64_t most = ShadowCells::most_bytes / std::int64_t{sizeof(ShadowCell)};
    if (cells > most) {
        throw std::invalid_argument("checking needs a shadow of " + std::to_string(cells) + " cells, more than " +
                                    std::to_string(most) + " (8 GiB): use fewer blocks, or check off");
    }
    return static_cast<std::size_t>(cells);
}

}  // namespace

ShadowCells::ShadowCells(std::int64_t blocks, std::uint32_t block_size)
    : cells_(touched<ShadowCell>(cells_in(blocks, block_size))), written_(static_cast<std::size_t>(blocks) + 1),
      blocks_(blocks + 1), block_size_(block_size),
      shift_(std::has_single_bit(block_size) ? std::countr_zero(block_size) : -1) {}

void ShadowCells::write(Slot slot, const ShadowCell& cell) noexcept {
    const std::size_t block = to_index(block_of(slot));
    if (written_[block] == 0) {
        std::fill_n(begin_of(block), block_size_, poison);
        written_[block] = 1;
    }
    cells_[static_cast<std::size_t>(slot)] = cell;
}

void ShadowCells::copy(BlockId from, BlockId to, std::uint32_t cells) noexcept {
    for (std::uint32_t i = 0; i < cells; ++i) {
        write(Slot{to_index(to)} * block_size_ + i, at(from, i));
    }
}

void ShadowCells::poison_slots(std::span<const Slot> slots) noexcept {
    for (const Slot slot : slots) {
        if (written_[to_index(block_of(slot))] != 0) {
            cells_[static_cast<std::size_t>(slot)] = poison;
        }
    }
}

}  // namespace kvpane::invariants

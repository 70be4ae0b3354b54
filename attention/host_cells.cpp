// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_cells.h>

#include <algorithm>
#include <cstring>

#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/memory_range.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

namespace {

bool is_sound(const HostCells& cells) noexcept { return cells.block_size > 0 && cells.cell_bytes > 0; }

std::size_t slots_in(const HostCells& cells) noexcept { return cells.memory.size() / cells.cell_bytes; }

bool holds_block(const HostCells& cells, BlockId block) noexcept {
    return slots_in(cells) / cells.block_size > to_index(block);
}

template <class T>
bool shares_memory(const HostCells& cells, std::span<T> other) noexcept {
    return overlap(range_of(cells.memory), range_of(other));
}

std::byte* cell(const HostCells& cells, std::size_t slot) noexcept {
    return cells.memory.data() + slot * cells.cell_bytes;
}

}  // namespace

expected<void> run_copies(const HostCells& cells, GroupId group, std::span<const BlockCopy> copies) {
    const auto is_bad = [&](const BlockCopy& copy) {
        return copy.group == group && (copy.cells > cells.block_size || !holds_block(cells, copy.source) ||
                                       !holds_block(cells, copy.destination));
    };
    if (!is_sound(cells) || shares_memory(cells, copies) || std::ranges::any_of(copies, is_bad)) {
        return unexpected(Error::invalid_argument);
    }
    for (const BlockCopy& copy : copies) {
        if (copy.group == group) {
            std::memmove(cell(cells, std::size_t{to_index(copy.destination)} * cells.block_size),
                         cell(cells, std::size_t{to_index(copy.source)} * cells.block_size),
                         copy.cells * cells.cell_bytes);
        }
    }
    return {};
}

expected<void> write_cells(const HostCells& cells, std::span<const Slot> slots, std::span<const std::byte> data) {
    if (!is_sound(cells) || data.size() != slots.size() * cells.cell_bytes || shares_memory(cells, slots) ||
        shares_memory(cells, data)) {
        return unexpected(Error::invalid_argument);
    }
    const BlockShape shape(cells.block_size);
    const Length blocks = shape.index(static_cast<Length>(slots_in(cells))) - 1;
    if (!std::ranges::all_of(slots, [&](Slot slot) { return is_slot_or_none(slot, shape, blocks); })) {
        return unexpected(Error::invalid_argument);
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] != no_slot) {
            std::memcpy(cell(cells, static_cast<std::size_t>(slots[i])), data.data() + i * cells.cell_bytes,
                        cells.cell_bytes);
        }
    }
    return {};
}

expected<void> gather_cells(const HostCells& cells, const TableView& table, Length first, std::span<std::byte> out) {
    if (!is_sound(cells) || first < 0 || out.size() % cells.cell_bytes != 0 || shares_memory(cells, out)) {
        return unexpected(Error::invalid_argument);
    }
    const auto begin = static_cast<std::size_t>(first);
    const std::size_t wanted = out.size() / cells.cell_bytes;
    const auto block_of = [&](std::size_t position) { return table[position / cells.block_size]; };
    for (std::size_t i = 0; i < wanted; ++i) {
        const BlockId block = block_of(begin + i);
        if (block == null_block || !holds_block(cells, block)) {
            return unexpected(Error::invalid_argument);
        }
    }
    for (std::size_t i = 0; i < wanted; ++i) {
        const std::size_t position = begin + i;
        const std::size_t slot =
            std::size_t{to_index(block_of(position))} * cells.block_size + position % cells.block_size;
        std::memcpy(out.data() + i * cells.cell_bytes, cell(cells, slot), cells.cell_bytes);
    }
    return {};
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/error.h>
#include <kvpane/blocktable/manager.h>

namespace kvpane {

// The payload of one group in host memory: what a cell holds is the engine's business, here it is a number of bytes.
// The memory is the caller's and holds the null block too, so that slots index it directly.
struct HostCells {
    std::span<std::byte> memory;   // [blocks + 1, block_size, cell_bytes]
    std::uint32_t block_size = 0;  // [cells]
    std::size_t cell_bytes = 0;
};

// Runs the copies of `group` in the order in which they were handed out; only their filled cells are touched.
// COST O(bytes copied).
// ERRORS invalid_argument (a size of 0, memory too small for a block, more cells than a block has, copies that lie in
// the memory): nothing is copied.
expected<void> run_copies(const HostCells& cells, GroupId group, std::span<const BlockCopy> copies);

// Writes data [slots.size(), cell_bytes] to the slots, as handed out by reserve(); nothing for no_slot (cell_rows.h).
// ERRORS invalid_argument (sizes that do not match, a slot outside the memory, below no_slot or of the null block, slots
// or data that lie in the memory): nothing is written.
expected<void> write_cells(const HostCells& cells, std::span<const Slot> slots, std::span<const std::byte> data);

// Reads the cells of positions [first, first + out.size() / cell_bytes) through a block table.
// ERRORS invalid_argument (sizes, a position that has no block, an output that lies in the memory): nothing is read.
expected<void> gather_cells(const HostCells& cells, const TableView& table, Length first, std::span<std::byte> out);

}  // namespace kvpane

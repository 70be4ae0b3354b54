// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/block_ops.h>
#include <kvpane/blocktable/step.h>
#include <kvpane/attention/cuda/kernels/cells.cuh>

// Cells into a store, out of it, and from block to block. A thread moves eight elements of one head.
namespace kvpane::cuda {

// write_slots, scatter_cells (into_store) and gather_cells. grid [count * pieces of a cell / cell_threads]
template <bool into_store>
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) move_cells(const RowsArgs args) {
    const CellShape& shape = args.store.shape;
    const Work work = work_of_thread(shape);
    if (work.cell >= args.places.count) {
        return;
    }
    const Slot slot = args.places.slot(work.cell, shape);
    if (slot == no_slot) {
        return;
    }
    const Sides sides = sides_of(args, work, slot);
    if (args.dtype == shape.dtype) {
        if (into_store) {
            copy_piece(shape.dtype, sides.rows, sides.in_rows, sides.stored, sides.in_store);
        } else {
            copy_piece(shape.dtype, sides.stored, sides.in_store, sides.rows, sides.in_rows);
        }
        return;
    }
    for (std::uint32_t d = 0; d < piece; ++d) {
        const auto in_rows = static_cast<std::size_t>(sides.in_rows + d);
        if (into_store) {
            const float value = load_element(sides.rows, args.dtype, in_rows) / sides.scale;
            store_element(sides.stored, shape.dtype, static_cast<std::size_t>(sides.in_store + d), value);
        } else {
            write_bits(sides.rows, args.dtype, in_rows, bits_out_of_store(args, sides, d));
        }
    }
}

// Copies within a store, or whole blocks from one to another.
struct CopyArgs {
    CellStore from;
    CellStore to;
    const BlockCopy* copies = nullptr;  // [n], or null
    GroupId group{};                    // whose copies
    const BlockPair* pairs = nullptr;   // [n], where there are no copies
    std::uint32_t n = 0;
};

// grid [n * block_size * pieces of a cell / cell_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) copy_cells(const CopyArgs args) {
    const CellShape& shape = args.from.shape;
    const Work work = work_of_thread(shape);
    const Length i = work.cell / shape.block_size;
    const Length cell = work.cell % shape.block_size;
    if (i >= args.n) {
        return;
    }
    const BlockCopy copy = args.copies != nullptr ? args.copies[i]
                                                  : BlockCopy{args.group, args.pairs[i].source,
                                                              args.pairs[i].destination, shape.block_size};
    const bool is_sound = has_block(args.from.shape, to_index(copy.source)) &&
                          has_block(args.to.shape, to_index(copy.destination)) && copy.cells <= shape.block_size;
    if (copy.group == args.group && is_sound && cell < copy.cells) {
        const auto element_in = [&](const CellStore& store, BlockId block) {
            return element_of(store, Slot{static_cast<std::uint32_t>(block)} * shape.block_size + cell, work.head,
                              work.element);
        };
        copy_piece(shape.dtype, work.in_v ? args.from.v : args.from.k, element_in(args.from, copy.source),
                   work.in_v ? args.to.v : args.to.k, element_in(args.to, copy.destination));
    }
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/kernels/elements.cuh>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>

// Cells in and out of a store, and within it: eight elements a thread.
namespace kvpane::cuda {

inline constexpr unsigned cell_threads = 256;

// Which cells: those of some slots, or some positions of one sequence.
struct CellPlaces {
    const Slot* slots = nullptr;          // [count], negative: leave it; or null
    const std::int32_t* table = nullptr;  // [width], where there are no slots
    Length first = 0;
    Length count = 0;

    KVPANE_DEVICE Slot slot(Length i, std::uint32_t block_size) const {
        if (slots != nullptr) {
            return slots[i];
        }
        const Length position = first + i;
        return Length{table[position / block_size]} * block_size + position % block_size;
    }
};

// The index of an element of a slot, in K and V alike.
KVPANE_DEVICE std::int64_t element_of(const CellStore& store, Slot slot, std::uint32_t head, std::uint32_t element) {
    const std::uint32_t block_size = store.shape.block_size;
    return slot / block_size * store.strides.block + slot % block_size * store.strides.cell +
           head * store.strides.head + element;
}

// Eight elements, bit by bit.
KVPANE_DEVICE void copy_piece(DType dtype, const void* from, std::int64_t from_index, void* to, std::int64_t to_index) {
    const auto copy = [&](auto moved) {
        moved.load(from, from_index);
        moved.store(to, to_index);
    };
    switch (bytes_of(dtype)) {
        case 4: copy(Piece<F32Cells>{}); return;
        case 2: copy(Piece<F16Cells>{}); return;
        default: copy(Piece<E4M3Cells>{}); return;
    }
}

// A thread's work, of [cells, 2 (K and V), kv_heads, head_dim / 8] pieces; false behind the last of them.
struct PieceOfWork {
    Length cell = 0;
    bool in_v = false;
    std::uint32_t head = 0;
    std::uint32_t element = 0;

    KVPANE_DEVICE bool find(const CellShape& shape, Length cells, Length index) {
        const std::uint32_t pieces = shape.head_dim / piece;
        const std::uint32_t of_cell = 2 * shape.kv_heads * pieces;
        cell = index / of_cell;
        const auto rest = static_cast<std::uint32_t>(index % of_cell);
        in_v = rest >= of_cell / 2;
        head = rest % (of_cell / 2) / pieces;
        element = rest % pieces * piece;
        return cell < cells;
    }
};

KVPANE_DEVICE Length thread_in_grid() { return Length{block_index().x} * thread_count() + thread_index(); }

struct MoveArgs {
    CellStore store;
    CellPlaces places;
    void* k = nullptr;  // [places.count, kv_heads, head_dim] rows; read only, where they go into the store
    void* v = nullptr;
    DType dtype = DType::f32;
};

// grid [count * pieces of a cell / cell_threads]
template <bool into_store>
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) move_cells(const MoveArgs args) {
    const CellShape& shape = args.store.shape;
    PieceOfWork work;
    if (!work.find(shape, args.places.count, thread_in_grid())) {
        return;
    }
    const Slot slot = args.places.slot(work.cell, shape.block_size);
    if (slot < 0) {
        return;
    }
    void* const stored = work.in_v ? args.store.v : args.store.k;
    void* const rows = work.in_v ? args.v : args.k;
    const float scale = work.in_v ? args.store.v_scale : args.store.k_scale;
    const std::int64_t in_store = element_of(args.store, slot, work.head, work.element);
    const std::int64_t in_rows = (work.cell * shape.kv_heads + work.head) * shape.head_dim + work.element;
    if (args.dtype == shape.dtype) {
        into_store ? copy_piece(shape.dtype, rows, in_rows, stored, in_store)
                   : copy_piece(shape.dtype, stored, in_store, rows, in_rows);
        return;
    }
    for (unsigned d = 0; d < piece; ++d) {
        const auto here = static_cast<std::size_t>(in_store + d);
        const auto there = static_cast<std::size_t>(in_rows + d);
        if (into_store) {
            write_element(stored, shape.dtype, here, read_element(rows, args.dtype, there) / scale);
        } else {
            write_element(rows, args.dtype, there, read_element(stored, shape.dtype, here) * scale);
        }
    }
}

// A block's first cells, to another block of the same store.
struct DeviceCopy {
    std::int32_t source = 0;
    std::int32_t destination = 0;
    std::int32_t cells = 0;
};

struct CopyArgs {
    CellStore store;
    const DeviceCopy* copies = nullptr;  // [n], none of which reads what another one writes
    std::uint32_t n = 0;
};

// grid [n * block_size * pieces of a cell / cell_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) copy_blocks(const CopyArgs args) {
    const CellShape& shape = args.store.shape;
    PieceOfWork work;
    if (!work.find(shape, Length{args.n} * shape.block_size, thread_in_grid())) {
        return;
    }
    const DeviceCopy copy = args.copies[work.cell / shape.block_size];
    const Length cell = work.cell % shape.block_size;
    if (cell < copy.cells) {
        void* const stored = work.in_v ? args.store.v : args.store.k;
        copy_piece(shape.dtype, stored,
                   element_of(args.store, Slot{copy.source} * shape.block_size + cell, work.head, work.element), stored,
                   element_of(args.store, Slot{copy.destination} * shape.block_size + cell, work.head, work.element));
    }
}

struct CompareArgs {
    MoveArgs cells;  // its rows are what is expected
    bool bitwise = true;
    float tolerance = 0;
    // The least index that differs, of [cells, 2 (K and V), kv_heads, head_dim] elements; all ones before the launch.
    unsigned long long* least = nullptr;
};

// grid as move_cells
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) compare_cells(const CompareArgs args) {
    const MoveArgs& cells = args.cells;
    const CellShape& shape = cells.store.shape;
    PieceOfWork work;
    if (!work.find(shape, cells.places.count, thread_in_grid())) {
        return;
    }
    const Slot slot = cells.places.slot(work.cell, shape.block_size);
    const void* const stored = work.in_v ? cells.store.v : cells.store.k;
    const void* const rows = work.in_v ? cells.v : cells.k;
    const float scale = cells.dtype == shape.dtype ? 1.0F : work.in_v ? cells.store.v_scale : cells.store.k_scale;
    const std::int64_t in_store = element_of(cells.store, slot, work.head, work.element);
    const std::int64_t in_rows = (work.cell * shape.kv_heads + work.head) * shape.head_dim + work.element;
    for (unsigned d = 0; d < piece; ++d) {
        const float expected = read_element(rows, cells.dtype, static_cast<std::size_t>(in_rows + d));
        const float found = read_element(stored, shape.dtype, static_cast<std::size_t>(in_store + d)) * scale;
        const bool same_bits = std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(expected);
        const bool is_close = fabsf(found - expected) <= args.tolerance || (found != found && expected != expected);
        if (!same_bits && (args.bitwise || !is_close)) {
            const Length part = 2 * work.cell + (work.in_v ? 1 : 0);
            const Length index = (part * shape.kv_heads + work.head) * shape.head_dim + work.element + d;
            atomic_min(args.least, static_cast<unsigned long long>(index));
            return;  // what follows is greater
        }
    }
}

}  // namespace kvpane::cuda

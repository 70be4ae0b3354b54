// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/cuda/kernels/elements.cuh>

// Which cells a thread works on, and on which eight elements of them. Slots and ids of nothing that the store has are
// left alone, whatever array they came from.
namespace kvpane::cuda {

inline constexpr unsigned cell_threads = 256;

// The cells of some slots, or of some positions of one sequence.
struct CellPlaces {
    const Slot* slots = nullptr;          // [count], or null
    const std::int32_t* table = nullptr;  // [width], where there are no slots
    Length first = 0;
    Length count = 0;

    // A slot that the store has, or no_slot.
    KVPANE_DEVICE Slot slot(Length i, const CellShape& shape) const {
        if (slots != nullptr) {
            const Slot slot = slots[i];
            return slot >= 0 && has_block(shape, slot / shape.block_size) ? slot : no_slot;
        }
        const Length position = first + i;
        const std::int32_t block = table[position / shape.block_size];
        return has_block(shape, block) ? Slot{block} * shape.block_size + position % shape.block_size : no_slot;
    }
};

// The index of an element of a slot, in K and V alike.
KVPANE_DEVICE std::int64_t element_of(const CellStore& store, Slot slot, std::uint32_t head, std::uint32_t element) {
    const std::uint32_t block_size = store.shape.block_size;
    return store.strides.index(slot / block_size, slot % block_size, head) + element;
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

// Pieces of one cell: [2 (K and V), kv_heads, head_dim / 8].
KVPANE_BOTH std::uint32_t pieces_of_cell(const CellShape& shape) {
    return 2 * shape.kv_heads * (shape.head_dim / piece);
}

// A thread's piece, by its number in the grid: of [cells, pieces of a cell].
struct Work {
    Length cell = 0;  // behind the last one where there is nothing to do
    bool in_v = false;
    std::uint32_t head = 0;
    std::uint32_t element = 0;  // the first of eight

    // The index of element d among [cells, 2, kv_heads, head_dim].
    KVPANE_DEVICE Length index(const CellShape& shape, std::uint32_t d) const {
        return ((2 * cell + (in_v ? 1 : 0)) * shape.kv_heads + head) * shape.head_dim + element + d;
    }
};

KVPANE_DEVICE Work work_of_thread(const CellShape& shape) {
    const Length number = Length{block_index().x} * thread_count() + thread_index();
    const std::uint32_t of_part = pieces_of_cell(shape) / 2;
    const std::uint32_t pieces = shape.head_dim / piece;
    const auto rest = static_cast<std::uint32_t>(number % (2 * of_part));
    return {.cell = number / (2 * of_part),
            .in_v = rest >= of_part,
            .head = rest % of_part / pieces,
            .element = rest % pieces * piece};
}

// A store, and rows that go into it, come out of it, or are what it should hold.
struct RowsArgs {
    CellStore store;
    CellPlaces places;
    void* k = nullptr;  // [places.count, kv_heads, head_dim]; only read where they go in or are compared
    void* v = nullptr;
    DType dtype = DType::f32;
};

// One side of RowsArgs for a thread's piece: K or V.
struct Sides {
    void* stored = nullptr;
    void* rows = nullptr;
    float scale = 1;
    std::int64_t in_store = 0;  // index of the first element
    std::int64_t in_rows = 0;
};

KVPANE_DEVICE Sides sides_of(const RowsArgs& args, const Work& work, Slot slot) {
    const CellShape& shape = args.store.shape;
    return {.stored = work.in_v ? args.store.v : args.store.k,
            .rows = work.in_v ? args.v : args.k,
            .scale = work.in_v ? args.store.v_scale : args.store.k_scale,
            .in_store = element_of(args.store, slot, work.head, work.element),
            .in_rows = (work.cell * shape.kv_heads + work.head) * shape.head_dim + work.element};
}

// What element d of the store is, as the rows have it: the bits as they are, or converted.
KVPANE_DEVICE std::uint32_t bits_out_of_store(const RowsArgs& args, const Sides& sides, std::uint32_t d) {
    const DType dtype = args.store.shape.dtype;
    const std::uint32_t bits = read_bits(sides.stored, dtype, static_cast<std::size_t>(sides.in_store + d));
    return args.dtype == dtype ? bits : narrow(args.dtype, widen(dtype, bits) * sides.scale);
}

}  // namespace kvpane::cuda

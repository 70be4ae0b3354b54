// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include <kvpane/allocator/scramble.h>
#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cuda/kernels/cells.cuh>

// What cells hold: fingerprints of blocks, and the first difference from what was expected.
namespace kvpane::cuda {

struct FingerprintArgs {
    CellStore store;
    const FilledBlock* blocks = nullptr;  // [n]
    std::uint64_t* out = nullptr;         // [n]
};

KVPANE_BOTH std::size_t fingerprint_shared_bytes() { return cell_threads * sizeof(std::uint64_t); }

// The sum of block_ops.h, a thread block a block. grid [n]
KVPANE_WRAPS KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) fingerprint_cells(const FingerprintArgs args) {
    const CellShape& shape = args.store.shape;
    const FilledBlock filled = args.blocks[block_index().x];
    const std::uint32_t bytes = bytes_of(shape.dtype);
    const std::uint32_t words = shape.head_dim * bytes / 8;
    const bool is_there = has_block(shape, to_index(filled.block)) && filled.cells <= shape.block_size;
    const std::uint64_t all = is_there ? std::uint64_t{filled.cells} * shape.kv_heads * 2 * words : 0;
    std::uint64_t sum = 0;
    for (std::uint64_t i = thread_index(); i < all; i += cell_threads) {
        const auto word = static_cast<std::uint32_t>(i % words);
        const bool in_v = i / words % 2 != 0;
        const auto head = static_cast<std::uint32_t>(i / words / 2 % shape.kv_heads);
        const auto cell = static_cast<std::uint32_t>(i / words / 2 / shape.kv_heads);
        const Slot slot = Slot{static_cast<std::uint32_t>(filled.block)} * shape.block_size + cell;
        const std::int64_t element = element_of(args.store, slot, head, word * (8 / bytes));
        std::uint32_t halves[2];
        load_words(static_cast<const std::byte*>(in_v ? args.store.v : args.store.k) + element * bytes, halves);
        sum += scramble((std::uint64_t{halves[1]} << 32U | halves[0]) ^ scramble(i));
    }
    auto* const sums = reinterpret_cast<std::uint64_t*>(shared_memory());
    sums[thread_index()] = sum;
    for (unsigned half = cell_threads / 2; half > 0; half /= 2) {
        sync_block();
        if (thread_index() < half) {
            sums[thread_index()] += sums[thread_index() + half];
        }
    }
    if (thread_index() == 0) {
        args.out[block_index().x] = sums[0];
    }
}

struct CompareArgs {
    RowsArgs cells;  // its rows are what is expected
    bool is_exact = true;
    float tolerance = 0;
    unsigned long long* least = nullptr;  // all ones before; the index (Work::index) of the first difference
    CellMismatch* out = nullptr;
};

// The values behind two patterns of the rows' dtype; those of fp8 are under the store's scale.
KVPANE_DEVICE float compared_value(const RowsArgs& cells, const Sides& sides, std::uint32_t bits) {
    return widen(cells.dtype, bits) * (bytes_of(cells.dtype) == 1 ? sides.scale : 1.0F);
}

// The first of a thread's eight elements that differs, or eight.
KVPANE_DEVICE std::uint32_t first_difference(const CompareArgs& args, const Sides& sides) {
    std::uint32_t d = 0;
    for (; d < piece; ++d) {
        const std::uint32_t found = bits_out_of_store(args.cells, sides, d);
        const std::uint32_t expected =
            read_bits(sides.rows, args.cells.dtype, static_cast<std::size_t>(sides.in_rows + d));
        const float a = compared_value(args.cells, sides, found);
        const float b = compared_value(args.cells, sides, expected);
        const bool is_close = fabsf(a - b) <= args.tolerance || (a != a && b != b);
        if (found != expected && (args.is_exact || !is_close)) {
            break;
        }
    }
    return d;
}

// grid [count * pieces of a cell / cell_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(cell_threads) find_difference(const CompareArgs args) {
    const CellShape& shape = args.cells.store.shape;
    const Work work = work_of_thread(shape);
    std::uint32_t d = piece;
    if (work.cell < args.cells.places.count) {
        const Slot slot = args.cells.places.slot(work.cell, shape);
        d = slot == no_slot ? 0 : first_difference(args, sides_of(args.cells, work, slot));
    }
    // Lanes are in the order of the elements: the lowest one that found something speaks for its warp.
    const unsigned differing = ballot(d < piece);
    const unsigned lane = thread_index() % warp_size;
    if (d < piece && (differing & ((1U << lane) - 1)) == 0) {
        atomic_min(args.least, static_cast<unsigned long long>(work.index(shape, d)));
    }
}

// Puts into words what find_difference() found. grid [1], one thread
KVPANE_KERNEL void describe_difference(const CompareArgs args) {
    const CellShape& shape = args.cells.store.shape;
    *args.out = CellMismatch{};
    const unsigned long long least = *args.least;
    if (least == ~0ULL) {
        return;
    }
    const auto index = static_cast<Length>(least);
    const auto element = static_cast<std::uint32_t>(index % shape.head_dim);
    const Length part = index / shape.head_dim / shape.kv_heads;
    const Work work{.cell = part / 2,
                    .in_v = part % 2 != 0,
                    .head = static_cast<std::uint32_t>(index / shape.head_dim % shape.kv_heads),
                    .element = element};
    const Slot slot = args.cells.places.slot(work.cell, shape);
    const Sides sides = sides_of(args.cells, work, slot);
    const std::uint32_t expected = read_bits(sides.rows, args.cells.dtype, static_cast<std::size_t>(sides.in_rows));
    const float found = slot == no_slot ? std::numeric_limits<float>::quiet_NaN()
                                        : compared_value(args.cells, sides, bits_out_of_store(args.cells, sides, 0));
    *args.out = {.position = args.cells.places.first + work.cell,
                 .in_v = work.in_v,
                 .head = work.head,
                 .element = element,
                 .found = found,
                 .expected = compared_value(args.cells, sides, expected)};
}

}  // namespace kvpane::cuda

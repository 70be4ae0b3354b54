// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

// Tables from one form to the other, and slots from tables.
namespace kvpane::cuda {

inline constexpr unsigned table_threads = 128;

// A warp's place among the warps of the grid.
KVPANE_DEVICE std::size_t warp_in_grid() {
    return (std::size_t{block_index().x} * thread_count() + thread_index()) / warp_size;
}

struct TableArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width] 0: no block
    std::size_t width = 0;
    std::uint32_t n_seqs = 0;
    std::uint32_t block_size = 0;
    const Length* lengths = nullptr;        // [n_seqs]
    std::int32_t* indptr = nullptr;         // [n_seqs + 1]
    std::int32_t* indices = nullptr;        // [indptr[n_seqs]]
    std::int32_t* last_page_len = nullptr;  // [n_seqs]
};

KVPANE_DEVICE unsigned bits_of(unsigned votes) {
    unsigned count = 0;
    for (; votes != 0; votes &= votes - 1) {
        ++count;
    }
    return count;
}

// indptr[i + 1] = held blocks of sequence i, of which the running sum is still to be taken; indptr[0] = 0. A warp a
// sequence. grid [n_seqs * 32 / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) count_held(const TableArgs args) {
    const std::size_t sequence = warp_in_grid();
    if (sequence >= args.n_seqs) {
        return;
    }
    const unsigned lane = thread_index() % warp_size;
    unsigned held = 0;
    for (std::size_t begin = 0; begin < args.width; begin += warp_size) {
        const std::size_t entry = begin + lane;
        held += bits_of(ballot(entry < args.width && args.tables[sequence * args.width + entry] != 0));
    }
    if (lane == 0) {
        const Length length = args.lengths[sequence];
        args.indptr[sequence + 1] = static_cast<std::int32_t>(held);
        args.last_page_len[sequence] = held == 0 ? 0 : static_cast<std::int32_t>((length - 1) % args.block_size + 1);
        if (sequence == 0) {
            args.indptr[0] = 0;
        }
    }
}

// indices = the held blocks, in order. A warp a sequence. grid [n_seqs * 32 / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) fill_csr(const TableArgs args) {
    const std::size_t sequence = warp_in_grid();
    if (sequence >= args.n_seqs) {
        return;
    }
    const unsigned lane = thread_index() % warp_size;
    std::int32_t* out = args.indices + args.indptr[sequence];
    for (std::size_t begin = 0; begin < args.width; begin += warp_size) {
        const std::size_t entry = begin + lane;
        const std::int32_t block = entry < args.width ? args.tables[sequence * args.width + entry] : 0;
        const unsigned held = ballot(block != 0);
        if (block != 0) {
            out[bits_of(held & ((1U << lane) - 1))] = block;
        }
        out += bits_of(held);
    }
}

struct PaddedArgs {
    const std::int32_t* indptr = nullptr;   // [n_seqs + 1]
    const std::int32_t* indices = nullptr;  // [indptr[n_seqs]]
    std::uint32_t n_seqs = 0;
    std::size_t width = 0;
    std::int32_t* tables = nullptr;  // [n_seqs, width]
};

// The tables of sequences without holes; 0 behind the end. A thread an entry. grid [n_seqs * width / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) fill_padded(const PaddedArgs args) {
    const std::size_t i = std::size_t{block_index().x} * thread_count() + thread_index();
    if (i < args.n_seqs * args.width) {
        const std::size_t sequence = i / args.width;
        const auto entry = static_cast<std::int64_t>(i % args.width) + args.indptr[sequence];
        args.tables[i] = entry < args.indptr[sequence + 1] ? args.indices[entry] : 0;
    }
}

struct SlotArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    std::uint32_t block_size = 0;
    const std::int32_t* sequences = nullptr;  // [n] which sequence
    const Length* positions = nullptr;        // [n] which of its positions
    std::size_t n = 0;
    Slot* slots = nullptr;  // [n] -1 where the position has no block
};

// A thread a position. grid [n / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) map_slots(const SlotArgs args) {
    const std::size_t i = std::size_t{block_index().x} * thread_count() + thread_index();
    if (i >= args.n) {
        return;
    }
    const Length position = args.positions[i];
    const auto entry = static_cast<std::size_t>(position / args.block_size);
    const std::size_t sequence = static_cast<std::size_t>(args.sequences[i]);
    const bool is_inside = position >= 0 && entry < args.width;
    const std::int32_t block = is_inside ? args.tables[sequence * args.width + entry] : 0;
    args.slots[i] = block == 0 ? -1 : Length{block} * args.block_size + position % args.block_size;
}

}  // namespace kvpane::cuda

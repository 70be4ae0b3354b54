// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/window.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

// Tables from one form to the other, and slots from tables: what table_ops.h says.
namespace kvpane::cuda {

inline constexpr unsigned table_threads = 128;

KVPANE_DEVICE std::size_t thread_in_grid() { return std::size_t{block_index().x} * thread_count() + thread_index(); }

struct CsrArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    std::uint32_t n_seqs = 0;
    std::uint32_t block_size = 0;
    const Length* lengths = nullptr;  // [n_seqs]
    const Length* queries = nullptr;  // [n_seqs], or null: one each
    Length window = 0;
    Length sinks = 0;
    std::int32_t* indptr = nullptr;         // [n_seqs + 1]
    std::int32_t* indices = nullptr;        // [indptr[n_seqs]]
    std::int32_t* last_page_len = nullptr;  // [n_seqs]
    Length* first_position = nullptr;       // [n_seqs]
};

// The logical blocks [0, sinks) and [run, size) of one sequence.
struct SeenBlocks {
    Length sinks = 0;
    Length run = 0;
    Length size = 0;

    KVPANE_DEVICE Length count() const { return sinks + (size - run); }
};

KVPANE_DEVICE SeenBlocks seen_blocks(const CsrArgs& args, std::size_t sequence) {
    const auto blocks = [&](Length cells) { return (cells + args.block_size - 1) / args.block_size; };
    const Length length = args.lengths[sequence];
    const Length queries = args.queries != nullptr ? args.queries[sequence] : (length > 0 ? 1 : 0);
    const Length size = blocks(length);
    const Length first = need(length - queries, args.window) / args.block_size;
    const Length run = first < size ? first : size;
    const Length sinks = args.window == 0 ? 0 : blocks(args.sinks < length ? args.sinks : length);
    return run <= sinks ? SeenBlocks{0, 0, size} : SeenBlocks{sinks, run, size};
}

// indptr[i + 1] = blocks of sequence i, of which the running sum is still to be taken. A thread a sequence.
// grid [(n_seqs + 1) / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) count_blocks(const CsrArgs args) {
    const std::size_t i = thread_in_grid();
    if (i == args.n_seqs) {
        args.indptr[0] = 0;
    }
    if (i < args.n_seqs) {
        const SeenBlocks seen = seen_blocks(args, i);
        args.indptr[i + 1] = static_cast<std::int32_t>(seen.count());
        args.last_page_len[i] =
            seen.count() == 0 ? 0 : static_cast<std::int32_t>((args.lengths[i] - 1) % args.block_size + 1);
        args.first_position[i] = seen.run * args.block_size;
    }
}

// A thread block a sequence. grid [n_seqs]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) fill_csr(const CsrArgs args) {
    const std::size_t sequence = block_index().x;
    const SeenBlocks seen = seen_blocks(args, sequence);
    for (Length i = thread_index(); i < seen.count(); i += table_threads) {
        const Length entry = i < seen.sinks ? i : seen.run + (i - seen.sinks);
        args.indices[args.indptr[sequence] + i] = args.tables[sequence * args.width + static_cast<std::size_t>(entry)];
    }
}

struct PaddedArgs {
    const std::int32_t* indptr = nullptr;    // [n_seqs + 1]
    const std::int32_t* indices = nullptr;   // [indptr[n_seqs]]
    const Length* first_position = nullptr;  // [n_seqs]
    Length sinks = 0;
    std::uint32_t block_size = 0;
    std::uint32_t n_seqs = 0;
    std::size_t width = 0;
    std::int32_t* tables = nullptr;  // [n_seqs, width]
};

// A thread an entry. grid [n_seqs * width / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) fill_padded(const PaddedArgs args) {
    const std::size_t i = thread_in_grid();
    if (i >= args.n_seqs * args.width) {
        return;
    }
    const std::size_t sequence = i / args.width;
    const auto entry = static_cast<Length>(i % args.width);
    const std::int32_t begin = args.indptr[sequence];
    const Length held = args.indptr[sequence + 1] - begin;
    const Length run = args.first_position[sequence] / args.block_size;
    const Length sink_blocks = (args.sinks + args.block_size - 1) / args.block_size;
    const Length sinks = run == 0 ? 0 : sink_blocks < held ? sink_blocks : held;
    const bool is_sink = entry < sinks;
    const bool is_run = entry >= run && entry < run + (held - sinks);
    args.tables[i] = is_sink ? args.indices[begin + entry] : is_run ? args.indices[begin + sinks + (entry - run)] : 0;
}

struct SlotArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    std::uint32_t block_size = 0;
    const std::int32_t* indptr = nullptr;  // [n_seqs + 1], or null: a position each
    std::uint32_t n_seqs = 0;
    const Length* positions = nullptr;  // [n]
    std::size_t n = 0;
    Slot* slots = nullptr;  // [n]
};

// The sequence of which indptr[sequence] <= i < indptr[sequence + 1].
KVPANE_DEVICE std::uint32_t sequence_of(const SlotArgs& args, std::size_t i) {
    std::uint32_t low = 0;
    std::uint32_t high = args.n_seqs;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (static_cast<std::size_t>(args.indptr[middle]) <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// A thread a position. grid [n / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) map_slots(const SlotArgs args) {
    const std::size_t i = thread_in_grid();
    if (i >= args.n) {
        return;
    }
    const std::size_t sequence = args.indptr == nullptr ? i : sequence_of(args, i);
    const Length position = args.positions[i];
    const auto entry = static_cast<std::size_t>(position / args.block_size);
    const Length block = args.tables[sequence * args.width + entry];
    args.slots[i] = block * args.block_size + position % args.block_size;
}

}  // namespace kvpane::cuda

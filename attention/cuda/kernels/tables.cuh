// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/seen_positions.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

// Tables from one form to the other, and slots from tables: what table_ops.h says. Whatever the arrays hold, nothing is
// touched beyond them.
namespace kvpane::cuda {

inline constexpr unsigned table_threads = 128;

KVPANE_DEVICE std::size_t thread_in_grid() { return std::size_t{block_index().x} * thread_count() + thread_index(); }

struct CsrArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    Length room = 0;  // positions that a row has entries for
    std::uint32_t n_seqs = 0;
    BlockShape shape{1};
    const Length* lengths = nullptr;  // [n_seqs]
    const Length* queries = nullptr;  // [n_seqs], or null: one each
    Visibility rule = {};
    std::int32_t* indptr = nullptr;   // [n_seqs + 1]
    std::int32_t* indices = nullptr;  // [n_indices], indptr[n_seqs] of them are written
    std::size_t n_indices = 0;
    std::int32_t* last_page_len = nullptr;  // [n_seqs]
    Length* first_position = nullptr;       // [n_seqs]
};

// Of `value` what lies between 0 and `most`.
KVPANE_DEVICE Length bounded(Length value, Length most) { return std::max<Length>(0, std::min(value, most)); }

KVPANE_DEVICE Length length_of(const CsrArgs& args, std::size_t sequence) {
    return bounded(args.lengths[sequence], args.room);
}

KVPANE_DEVICE SeenBlocks seen_blocks(const CsrArgs& args, std::size_t sequence) {
    const Length length = length_of(args, sequence);
    const Length queries = bounded(args.queries != nullptr ? args.queries[sequence] : 1, length);
    return seen_blocks(args.rule, args.shape, length, queries);
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
            seen.count() == 0 ? 0 : static_cast<std::int32_t>(args.shape.offset(length_of(args, i) - 1) + 1);
        args.first_position[i] = args.shape.begin(seen.run);
    }
}

// A thread block a sequence. grid [n_seqs]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) fill_csr(const CsrArgs args) {
    const std::size_t sequence = block_index().x;
    const SeenBlocks seen = seen_blocks(args, sequence);
    const auto begin = static_cast<std::size_t>(args.indptr[sequence]);
    for (Length i = thread_index(); i < seen.count(); i += table_threads) {
        const std::size_t index = begin + static_cast<std::size_t>(i);
        if (index < args.n_indices) {
            args.indices[index] = args.tables[sequence * args.width + static_cast<std::size_t>(seen[i])];
        }
    }
}

struct PaddedArgs {
    const std::int32_t* indptr = nullptr;   // [n_seqs + 1]
    const std::int32_t* indices = nullptr;  // [n_indices]
    std::size_t n_indices = 0;
    const Length* first_position = nullptr;  // [n_seqs]
    Length sinks = 0;
    BlockShape shape{1};
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
    const std::int32_t end = args.indptr[sequence + 1];
    const Length first = args.first_position[sequence];
    const bool is_sound = begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= args.n_indices && first >= 0 &&
                          args.shape.index(first) <= static_cast<Length>(args.width);
    if (!is_sound) {
        args.tables[i] = 0;
        return;
    }
    const SeenBlocks seen = blocks_of_row(args.shape, args.sinks, first, end - begin);
    const bool is_sink = entry < seen.sinks;
    const bool is_run = entry >= seen.run && entry < seen.size;
    args.tables[i] = is_sink  ? args.indices[begin + entry]
                     : is_run ? args.indices[begin + seen.sinks + (entry - seen.run)]
                              : 0;
}

struct SlotArgs {
    const std::int32_t* tables = nullptr;  // [n_seqs, width]
    std::size_t width = 0;
    BlockShape shape{1};
    const std::int32_t* indptr = nullptr;  // [n_seqs + 1], or null: a position each
    std::uint32_t n_seqs = 0;
    const Length* positions = nullptr;  // [n]
    std::size_t n = 0;
    Slot* slots = nullptr;  // [n], no_slot where there is none
};

// Of n, the one of which indptr[it] <= i < indptr[it + 1]; any of them where there is none.
KVPANE_DEVICE std::uint32_t holder_of(const std::int32_t* indptr, std::uint32_t n, std::size_t i) {
    std::uint32_t low = 0;
    std::uint32_t high = n;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (static_cast<std::size_t>(indptr[middle]) <= i) {
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
    const std::size_t sequence = args.indptr == nullptr ? i : holder_of(args.indptr, args.n_seqs, i);
    const Length position = args.positions[i];
    const bool has_entry = position >= 0 && args.shape.index(position) < static_cast<Length>(args.width);
    const std::int32_t block =
        has_entry ? args.tables[sequence * args.width + static_cast<std::size_t>(args.shape.index(position))] : 0;
    args.slots[i] = block > 0 ? args.shape.begin(block) + args.shape.offset(position) : no_slot;
}

}  // namespace kvpane::cuda

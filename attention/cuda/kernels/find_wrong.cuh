// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/kernels/problem.cuh>

// What find_wrong() of attention.h asks of the arrays of a problem, which the host cannot read. There are width + 1
// questions for each sequence: one about the sequence, then one about each entry of its row.
namespace kvpane::cuda {

inline constexpr unsigned find_wrong_threads = 256;

struct FindWrongArgs {
    KernelProblem problem;
    unsigned long long* least = nullptr;  // all ones before; the number of the first question with a bad answer
    WrongEntry* out = nullptr;
};

// The query rows of a sequence.
KVPANE_DEVICE Length rows_of(const KernelProblem& problem, std::uint32_t sequence) {
    return problem.query_indptr == nullptr
               ? 1
               : Length{problem.query_indptr[sequence + 1]} - problem.query_indptr[sequence];
}

KVPANE_DEVICE bool is_sound(const KernelProblem& problem, std::uint32_t sequence) {
    const Length length = problem.lengths[sequence];
    const Length rows = rows_of(problem, sequence);
    const bool starts_at_0 = problem.query_indptr == nullptr || sequence > 0 || problem.query_indptr[0] == 0;
    return length >= 0 && length <= longest_sequence && starts_at_0 && rows >= 0 &&
           (problem.query_indptr == nullptr || rows <= length);
}

// What any query of a sound sequence sees.
KVPANE_DEVICE SeenPositions seen_of(const KernelProblem& problem, std::uint32_t sequence) {
    const Length length = problem.lengths[sequence];
    const Length rows = rows_of(problem, sequence);
    return rows == 0 ? SeenPositions{} : seen_by_queries(problem, sequence, length - rows, length - 1);
}

// Whether [begin, end) has a position of the entry.
KVPANE_DEVICE bool touches(Length begin, Length end, Length block_size, Length entry) {
    return std::max(begin, entry * block_size) < std::min(end, (entry + 1) * block_size);
}

// What is wrong, or a WrongEntry of no sequence.
KVPANE_DEVICE WrongEntry answer(const KernelProblem& problem, unsigned long long question) {
    const auto sequence = static_cast<std::uint32_t>(question / (problem.width + 1));
    const auto entry = static_cast<std::int64_t>(question % (problem.width + 1)) - 1;
    const WrongEntry fine;
    if (!is_sound(problem, sequence)) {
        return entry < 0 ? WrongEntry{.sequence = sequence, .fault = PayloadFault::bad_shape} : fine;
    }
    const SeenPositions seen = seen_of(problem, sequence);
    if (entry < 0) {
        const bool ends_too_early = (seen.sinks() > 0 && seen.sink_end > problem.room) ||
                                    (seen.size() > seen.sinks() && seen.run_end > problem.room);
        return ends_too_early ? WrongEntry{.sequence = sequence, .fault = PayloadFault::buffer_too_small} : fine;
    }
    const Length block_size = problem.cells.shape.block_size;
    const std::int32_t block = problem.tables[sequence * problem.width + static_cast<std::size_t>(entry)];
    const bool is_seen = touches(seen.sink_begin, seen.sink_end, block_size, entry) ||
                         touches(seen.run_begin, seen.run_end, block_size, entry);
    if (!is_seen || has_block(problem.cells.shape, block)) {
        return fine;
    }
    return {.sequence = sequence,
            .entry = entry,
            .block = block,
            .fault = block == 0 ? PayloadFault::hole : PayloadFault::out_of_range};
}

// A thread a question. grid [n_seqs * (width + 1) / find_wrong_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(find_wrong_threads) find_wrong_entries(const FindWrongArgs args) {
    const unsigned long long question = std::size_t{block_index().x} * thread_count() + thread_index();
    if (question < args.problem.n_seqs * (args.problem.width + 1) &&
        answer(args.problem, question).sequence != WrongEntry::none) {
        atomic_min(args.least, question);
    }
}

// Puts into words what find_wrong_entries() found. grid [1], one thread
KVPANE_KERNEL void describe_wrong_entry(const FindWrongArgs args) {
    *args.out = *args.least == ~0ULL ? WrongEntry{} : answer(args.problem, *args.least);
}

}  // namespace kvpane::cuda

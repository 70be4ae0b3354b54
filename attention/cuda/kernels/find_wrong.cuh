// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/kernels/problem.cuh>

// What find_wrong() of attention.h asks of the arrays of a problem, which the host cannot read. There is a question about
// each sink logit, then width + 1 for each sequence: one about the sequence, then one about each entry of its row.
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

KVPANE_BOTH std::size_t logits_of(const KernelProblem& problem) {
    return problem.sink_logits == nullptr ? 0 : problem.query_heads;
}

KVPANE_BOTH std::size_t questions_of(const KernelProblem& problem) {
    return logits_of(problem) + problem.n_seqs * (problem.width + 1);
}

// What is wrong with the sink logit of a query head.
KVPANE_DEVICE WrongEntry answer_on_logit(const KernelProblem& problem, std::size_t head) {
    const bool is_sound = problem.sink_logits[head] < std::numeric_limits<float>::infinity();  // a NaN is not less
    return is_sound ? WrongEntry{}
                    : WrongEntry{.kind = WrongEntry::Kind::sink_logit,
                                 .fault = PayloadFault::out_of_range,
                                 .index = static_cast<std::int64_t>(head)};
}

// What is wrong with a sequence, its entries apart.
KVPANE_DEVICE WrongEntry answer_on_sequence(const KernelProblem& problem, std::uint32_t sequence) {
    const WrongEntry wrong{
        .kind = WrongEntry::Kind::sequence, .fault = PayloadFault::bad_shape, .index = std::int64_t{sequence}};
    if (!is_sound(problem, sequence)) {
        return wrong;
    }
    const SeenPositions seen = seen_of(problem, sequence);
    const bool ends_too_early = (seen.sinks() > 0 && seen.sink_end > problem.room) ||
                                (seen.size() > seen.sinks() && seen.run_end > problem.room);
    if (!ends_too_early) {
        return {};
    }
    WrongEntry short_row = wrong;
    short_row.fault = PayloadFault::buffer_too_small;
    return short_row;
}

// What is wrong with an entry of the row of a sequence; nothing where the sequence is.
KVPANE_DEVICE WrongEntry answer_on_entry(const KernelProblem& problem, std::uint32_t sequence, std::int64_t entry) {
    if (!is_sound(problem, sequence)) {
        return {};
    }
    const SeenPositions seen = seen_of(problem, sequence);
    const Length block_size = problem.cells.shape.block_size;
    const std::int32_t block = problem.tables[sequence * problem.width + static_cast<std::size_t>(entry)];
    const bool is_seen = touches(seen.sink_begin, seen.sink_end, block_size, entry) ||
                         touches(seen.run_begin, seen.run_end, block_size, entry);
    if (!is_seen || has_block(problem.cells.shape, block)) {
        return {};
    }
    return {.kind = WrongEntry::Kind::table_entry,
            .fault = block == 0 ? PayloadFault::hole : PayloadFault::out_of_range,
            .block = block,
            .index = sequence,
            .entry = entry};
}

// REQUIRES question < questions_of(problem).
KVPANE_DEVICE WrongEntry answer(const KernelProblem& problem, std::size_t question) {
    const std::size_t logits = logits_of(problem);
    if (question < logits) {
        return answer_on_logit(problem, question);
    }
    const auto sequence = static_cast<std::uint32_t>((question - logits) / (problem.width + 1));
    const auto entry = static_cast<std::int64_t>((question - logits) % (problem.width + 1)) - 1;
    return entry < 0 ? answer_on_sequence(problem, sequence) : answer_on_entry(problem, sequence, entry);
}

// A thread a question. grid [questions / find_wrong_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(find_wrong_threads) find_wrong_entries(const FindWrongArgs args) {
    const std::size_t question = std::size_t{block_index().x} * thread_count() + thread_index();
    if (question < questions_of(args.problem) && answer(args.problem, question).kind != WrongEntry::Kind::none) {
        atomic_min(args.least, question);
    }
}

// Puts into words what find_wrong_entries() found. grid [1], one thread
KVPANE_KERNEL void describe_wrong_entry(const FindWrongArgs args) {
    *args.out = *args.least == ~0ULL ? WrongEntry{} : answer(args.problem, *args.least);
}

}  // namespace kvpane::cuda

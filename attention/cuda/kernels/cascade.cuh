// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/kernels/problem.cuh>
#include <kvpane/attention/cuda/kernels/tables.cuh>

// The two halves of a cascade (attention/cascade.h) as problems of attention. Over the prefixes, a group is a sequence
// with the queries of all of its own; it has the prefix and then as many cells as there are queries, so that each of them
// sees all of the prefix, and where the prefix ends nothing counts any more. Behind the prefixes, it is the problem
// itself. Whatever the arrays hold, nothing is touched beyond them.
namespace kvpane::cuda {

struct GroupArgs {
    KernelProblem problem;
    const std::int32_t* indptr = nullptr;  // [n_groups + 1] sequences of the groups
    const Length* prefixes = nullptr;      // [n_groups]
    std::uint32_t n_groups = 0;
    std::int32_t* tables = nullptr;        // [n_groups, width]
    std::int32_t* query_indptr = nullptr;  // [n_groups + 1]
    Length* lengths = nullptr;             // [n_groups]
    Length* end = nullptr;                 // [n_groups]
    Length* begin = nullptr;               // [n_seqs]
};

// The cells of a prefix. One that a row has no room for is cut as a sequence is (length_of).
KVPANE_DEVICE Length prefix_of(const GroupArgs& args, std::size_t group) {
    return bounded(args.prefixes[group], args.problem.room + 1);
}

// The first sequence of a group, at most n_seqs.
KVPANE_DEVICE std::size_t first_sequence(const GroupArgs& args, std::size_t group) {
    return static_cast<std::size_t>(bounded(args.indptr[group], args.problem.n_seqs));
}

// Its first query row.
KVPANE_DEVICE std::int32_t first_row(const GroupArgs& args, std::size_t group) {
    const std::size_t sequence = first_sequence(args, group);
    return args.problem.query_indptr == nullptr ? static_cast<std::int32_t>(sequence)
                                                : args.problem.query_indptr[sequence];
}

// A thread an entry of the groups' tables, a group and a sequence. grid [the largest number of these / table_threads]
KVPANE_KERNEL void KVPANE_MOST_THREADS(table_threads) make_groups(const GroupArgs args) {
    const std::size_t i = thread_in_grid();
    const std::size_t width = args.problem.width;
    if (i < args.n_groups * width) {
        const std::size_t sequence = first_sequence(args, i / width);
        args.tables[i] = sequence < args.problem.n_seqs ? args.problem.tables[sequence * width + i % width] : 0;
    }
    if (i <= args.n_groups) {
        args.query_indptr[i] = first_row(args, i);
    }
    if (i < args.n_groups) {
        const Length prefix = prefix_of(args, i);
        args.end[i] = prefix;
        args.lengths[i] = prefix + (Length{first_row(args, i + 1)} - first_row(args, i));
    }
    if (i < args.problem.n_seqs) {
        args.begin[i] = prefix_of(args, holder_of(args.indptr, args.n_groups, i));
    }
}

}  // namespace kvpane::cuda

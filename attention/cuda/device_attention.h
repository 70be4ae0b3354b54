// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/merge.h>
#include <kvpane/attention/payload_error.h>

// Attention on a CUDA device: the problem of attention.h, with every address and every span in device memory. A stream
// is a cudaStream_t; null is the default one. All calls return when the work is queued, and allocate nothing.
//
// A library that was built without CUDA has these functions, too: what is wrong is found as ever, then the answer is
// no_device. ERRORS of all: no_device, cuda_error.
namespace kvpane {

// What the host has to know of arrays that it cannot read.
struct DeviceBounds {
    std::size_t rows = 0;       // query_indptr[n_seqs]; n_seqs for a decode
    std::size_t most_rows = 1;  // no sequence has more query rows
    Length longest = 0;         // no sequence is longer: what is split into chunks by this, wrong only in speed
};

// How a decode is split: the same for every device, so that results are.
struct DecodeSplit {
    Length chunk = 0;  // [cells]
    std::uint32_t chunks = 1;

    friend bool operator==(const DecodeSplit&, const DecodeSplit&) = default;
};
DecodeSplit split_decode(const AttentionProblem& problem, const DeviceBounds& bounds) noexcept;

// What device_attention() needs; 0 for a prefill. REQUIRES a problem in which nothing is wrong.
std::size_t device_workspace_bytes(const AttentionProblem& problem, const DeviceBounds& bounds) noexcept;

// Solves the problem. Any dtype of cells; f32, f16 or bf16 queries and outputs.
// REQUIRES what find_wrong() of attention.h asks of the contents of spans. Where they are something else, nothing beyond
// the spans and the store is read or written all the same, and a query that sees a position without a block, or with one
// that the store lacks, gets NaN in `out` and in `lse`; what else is wrong gives results without a meaning.
// device_find_wrong_entry() finds it.
// ERRORS as find_wrong() as far as they show in sizes and addresses; bad_shape (more than 65535 query heads; bounds that
// no problem of these sizes has, more rows than n_seqs * most_rows among them); workspace_too_small; overlapping (the
// workspace and any other argument); misaligned (a workspace of floats; K and V start at multiples of 16 bytes, or of 8
// elements where that is less, and their strides are multiples of 8 elements): nothing is written.
payload_expected<void> device_attention(const AttentionProblem& problem, const DeviceBounds& bounds,
                                        std::span<std::byte> workspace, const AttentionResult& result,
                                        void* stream) noexcept;

// The first thing that find_wrong() of attention.h would refuse in the arrays of a problem: among the sink logits, then
// by sequence in the lengths and the query_indptr, and there by entry of the tables.
struct WrongEntry {
    enum class Kind : std::uint8_t {
        none,        // all is well
        sink_logit,  // out_of_range: NaN or +inf
        sequence,    // bad_shape: a length below 0 or above longest_sequence, more rows than cells, a query_indptr that
                     // falls or does not start at 0; buffer_too_small: a row that ends before a position that is seen
        table_entry,  // hole; out_of_range: a block that the store lacks
    };

    Kind kind = Kind::none;
    PayloadFault fault = PayloadFault::bad_shape;
    std::int32_t block = 0;   // what stands in a table_entry
    std::int64_t index = -1;  // the query head of a sink_logit, else the sequence
    std::int64_t entry = -1;  // of the sequence's row in the tables

    friend bool operator==(const WrongEntry&, const WrongEntry&) = default;
};

// Looks for it. `scratch`: 8 bytes for the kernels; it and `out` are device memory of their own. For debugging, and where
// tables come from elsewhere. ERRORS as device_attention() as far as they concern cells, rule and spans; bad_shape (no
// scratch, no `out`), misaligned, overlapping (either and an array of the problem). COST a thread for each entry.
payload_expected<void> device_find_wrong_entry(const AttentionProblem& problem, std::uint64_t* scratch, WrongEntry* out,
                                               void* stream) noexcept;

// merge_parts() of merge.h. ERRORS as there; bad_shape (more parts than 32 bits count).
payload_expected<void> device_merge_parts(const AttentionParts& parts, const AttentionResult& result,
                                          void* stream) noexcept;

}  // namespace kvpane

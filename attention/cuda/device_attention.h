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
// REQUIRES what find_wrong() of attention.h asks of the contents of spans; a block id that the store lacks reads
// somebody else's memory.
// ERRORS as find_wrong() as far as they show in sizes and addresses; bad_shape (bounds; more than 65535 KV heads),
// workspace_too_small; misaligned (K and V start at multiples of 16 bytes, or of 8 elements where that is less, and
// their strides are multiples of 8 elements): nothing is written.
payload_expected<void> device_attention(const AttentionProblem& problem, const DeviceBounds& bounds,
                                        std::span<std::byte> workspace, const AttentionResult& result,
                                        void* stream) noexcept;

// merge_parts() of merge.h. ERRORS as there.
payload_expected<void> device_merge_parts(const AttentionParts& parts, const AttentionResult& result,
                                          void* stream) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <kvpane/blocktable/manager.h>

// What attention kernels take, written into memory that the caller owns. Block ids and counts are int32 (the pool is
// never larger), slots int64 or, with Config::int32_slots, int32. Nothing is written when an error is returned.
//
// ERRORS of all: unknown_sequence, invalid_argument (no such group, or an output that is too small).
namespace kvpane {

struct CsrArrays {
    std::span<std::int32_t> indptr;         // [n_seqs + 1]
    std::span<std::int32_t> indices;        // [indptr[n_seqs]] held blocks by sequence, those of the sinks first
    std::span<std::int32_t> last_page_len;  // [n_seqs] cells in the last block, 1..block_size; 0 where no block is held
    std::span<std::int64_t> first_position;  // [n_seqs] where the unbroken run that ends at the tail begins
};

// The held blocks of `sequences` [n_seqs] in `group`; reserved cells count. Returns the entries of `indices` written.
// COST O(entries). A size beyond int32 is invalid_argument.
expected<std::int64_t> export_csr(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group,
                                  const CsrArrays& out);

// The entries that export_csr would write: what `indices` must hold. COST O(n_seqs).
expected<std::int64_t> csr_entries(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group);

// The tables as rows: out [n_seqs, width], logical block by logical block, 0 for holes and behind the end.
// `width` must reach the longest table. COST O(n_seqs * width).
expected<void> export_padded(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group,
                             std::size_t width, std::span<std::int32_t> out);

// The slots of positions [first, first + out.size()) of one sequence, reserved cells included. A position that is not
// held is invalid_argument. COST O(out.size()).
expected<void> export_slots(const Manager& manager, SequenceHandle sequence, GroupId group, Length first,
                            std::span<Slot> out);

// The same in 32 bits. REQUIRES Config::int32_slots, else invalid_argument.
expected<void> export_slots(const Manager& manager, SequenceHandle sequence, GroupId group, Length first,
                            std::span<std::int32_t> out);

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>
#include <kvpane/blocktable/step.h>

// Whole blocks, and their first cells. Everything is asked before anything is written, and nothing allocates.
//
// ERRORS of all: as find_wrong(CellStore); misaligned (the list of blocks), overlapping (it and what is written);
// out_of_range (a block that the store does not have, the null block included; more cells than a block has).
namespace kvpane {

// Runs the copies of `group` in the order in which they were handed out; only their filled cells are touched.
// COST O(bytes copied); one memcpy each for K and V of a copy where cells are dense, one a head where heads are.
payload_expected<void> copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies) noexcept;

// How many of the first copies may run in any order, or at once, as on a device: none of them reads or writes what another
// one of `group` writes. All of a Step's (step.h); of copies that were joined from several Steps run these, then ask
// for the rest. COST O(n^2) comparisons.
std::size_t copies_at_once(GroupId group, std::span<const BlockCopy> copies) noexcept;

struct BlockPair {
    BlockId source = null_block;
    BlockId destination = null_block;
};

// Copies whole blocks from one store to another, in order: out to host memory and back, or from one layout to another.
// ERRORS also bad_shape (the stores differ in more than blocks and strides), out_of_range (their scales differ),
// overlapping (the stores). COST as copy_blocks.
payload_expected<void> swap_blocks(const CellStore& from, const CellStore& to,
                                   std::span<const BlockPair> pairs) noexcept;

// The first `cells` cells of a block.
struct FilledBlock {
    BlockId block = null_block;
    std::uint32_t cells = 0;
};

// 64 bits for what each block's filled cells hold, [blocks.size()]. Equal content of equal dtype gives equal
// fingerprints in every layout; scales do not count. Not for hostile input.
//
// The head_dim elements of one head of one cell are w = head_dim * bytes / 8 words of 64 bits, little endian. Word j of
// head h of cell c in K (part 0) or V (part 1) has the index i = ((c * kv_heads + h) * 2 + part) * w + j, and
//
//     fingerprint = sum of scramble(word xor scramble(i)) modulo 2^64     (allocator/scramble.h)
//
// A sum, so that any number of threads may share it, and a block that gains a cell may add that cell's words.
// ERRORS also buffer_too_small, misaligned, overlapping (out). COST O(bytes).
payload_expected<void> fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks,
                                          std::span<std::uint64_t> out) noexcept;

// What fingerprint_blocks() asks of a sound store, on the host and on a device, before it reads a list. COST O(1).
payload_expected<void> find_wrong_fingerprints(const CellStore& store, std::span<const FilledBlock> blocks,
                                               std::span<std::uint64_t> out) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/dtype.h>
#include <kvpane/attention/payload_error.h>

// How much memory a model's K and V take: bytes of a block, blocks of a sequence, and what fits a budget. Beyond 63
// bits is an error, never a wrong number.
//
// ERRORS of all: bad_shape (no groups, a size of 0, more than 63 bits), head_dim_out_of_range, unsupported_dtype (a
// value that the enum does not name), out_of_range (something negative).
namespace kvpane {

// The attention layers that share a window.
struct LayerGroup {
    Length window = 0;  // [tokens] 0 = full attention
    Length sinks = 0;   // [tokens] rounded up to whole blocks
    std::uint32_t layers = 1;
    std::uint32_t kv_heads = 0;
    std::uint32_t head_dim = 0;
    DType dtype = DType::bf16;
};

// The pool gives a block to one group at a time.
enum class PoolMemory : std::uint8_t {
    shared,    // the groups lie over each other in the same memory: a block is as large as the largest group needs it
    separate,  // each group has stores of its own, as long as the pool: a block takes memory in every group
};

struct MemoryModel {
    std::span<const LayerGroup> groups;
    std::uint32_t block_size = 16;  // [cells]
    Length rewind_slack = 0;        // [cells] as Config::rewind_slack
    Length step_cells = 1;          // [cells] reserved at most in one call: 1 + drafts, or a chunk of a prompt
    PoolMemory memory = PoolMemory::shared;
};

// 2 * layers * block_size * kv_heads * head_dim * bytes of an element: K and V of all layers of the group.
payload_expected<std::int64_t> bytes_per_block(const LayerGroup& group, std::uint32_t block_size) noexcept;

// Of one id of the pool: the largest of the groups, or their sum.
payload_expected<std::int64_t> bytes_per_block(const MemoryModel& model) noexcept;

// The blocks that a sequence of `length` cells, those reserved included, holds in one group at most:
//
//     ceil(length / block_size), or where a window W gives blocks back, with m = step_cells + rewind_slack, if less,
//     ceil((W - 1 + m) / block_size) + 1 + ceil(sinks / block_size)
//
// W - 1 + m cells may begin anywhere in a block, hence the 1: it is the bound of invariant T2 (invariants/catalogue.h).
// Blocks that a fork shares are counted for each sequence.
payload_expected<std::int64_t> blocks_per_sequence(const MemoryModel& model, const LayerGroup& group,
                                                   Length length) noexcept;

// Of `sequences` sequences of `length` cells in all groups together.
payload_expected<std::int64_t> blocks_needed(const MemoryModel& model, std::int64_t sequences, Length length) noexcept;

// Of a pool of `blocks` blocks and the null block.
payload_expected<std::int64_t> bytes_of_pool(const MemoryModel& model, std::int64_t blocks) noexcept;

// The largest Config::blocks of which bytes_of_pool is at most `bytes`, 0 where not even one block fits; at most
// most_blocks.
payload_expected<std::int64_t> blocks_that_fit(const MemoryModel& model, std::int64_t bytes) noexcept;

// The sequences of `length` cells that a pool of `blocks` blocks holds at a time for certain.
payload_expected<std::int64_t> sequences_that_fit(const MemoryModel& model, std::int64_t blocks,
                                                  Length length) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

// The words that every layer shares. Ids are distinct types: a block id cannot be passed where a group is asked for.
namespace kvpane {

// A token id, 0..2^31-1. Negative values are refused with Error::invalid_argument.
using Token = std::int32_t;

// Counts of tokens or cells, and absolute positions in a sequence's history. Signed, so that differences are safe.
using Length = std::int64_t;

// One cell of physical memory: block * block_size + offset. 64 bits: a pool may hold more than 2^31 cells.
using Slot = std::int64_t;

// No sequence grows beyond this many tokens (positions of models are int32); passing it is Error::never.
inline constexpr Length longest_sequence = std::numeric_limits<std::int32_t>::max();

// A physical block, 1..blocks. Id 0 is the null block: holes and padding point to it, nobody owns it.
enum class BlockId : std::uint32_t {};
inline constexpr BlockId null_block{0};

constexpr std::uint32_t to_index(BlockId block) noexcept { return static_cast<std::uint32_t>(block); }

// An attention group, in the order of Config::groups.
enum class GroupId : std::uint32_t {};

constexpr std::uint32_t to_index(GroupId group) noexcept { return static_cast<std::uint32_t>(group); }

// A device step, named by the engine; unique among the steps that are open.
enum class StepId : std::uint64_t {};

// The content a block is known by; `no_content` for a block that nothing can be found in.
enum class ContentId : std::uint32_t {};
inline constexpr ContentId no_content{0};

// A sequence, as the Manager hands it out. The generation makes a handle that has outlived its sequence an error
// value; `instance` (Config::instance) does the same for a handle of another Manager.
struct SequenceHandle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  // 0 is never handed out: a default-made handle is stale
    std::uint32_t instance = 0;

    friend bool operator==(const SequenceHandle&, const SequenceHandle&) = default;
};

}  // namespace kvpane

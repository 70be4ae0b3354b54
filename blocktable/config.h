// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/allocator/eviction.h>
#include <kvpane/allocator/ids.h>

namespace kvpane {

// The attention layers that share a window. A query at position p sees the positions > p - window and those < sinks.
struct GroupConfig {
    std::string name = "full";
    Length window = 0;  // [tokens] 0 = full attention
    Length sinks = 0;   // [tokens] the first cells stay, rounded up to whole blocks
};

// When the blocks before a window are given back.
enum class WindowRelease : std::uint8_t {
    commit,   // right after the commit that moved the window past them
    reserve,  // only when the next cells are reserved
};

// How much of a cached block must match for it to be reused.
enum class Granularity : std::uint8_t {
    block,  // all of it
    token,  // its first cells: they are copied into a block of the new sequence
};

// Which idle cached block is taken first.
enum class EvictionPolicy : std::uint8_t {
    lru,  // the lowest priority, then the longest idle
    lfu,  // the lowest priority, then the fewest uses since it was indexed, then the longest idle
};

struct PrefixCacheConfig {
    bool enabled = true;
    Granularity granularity = Granularity::block;
    EvictionPolicy policy = EvictionPolicy::lru;
    const Ranking* ranking = nullptr;  // a policy of your own in place of `policy`; must outlive the Manager
    bool constant_hash = false;        // for tests: everything hashes alike, identity must not depend on it
    std::int64_t most_pinned = 0;      // [blocks] a pin beyond it is Error::later; 0 = no such cap
    std::uint32_t kept_events = 4096;  // of stored and removed blocks; older ones are lost to a slow reader
};

// What a Manager is made from. validate() says what is wrong with it.
struct Config {
    std::uint32_t block_size = 16;  // [cells]
    std::int64_t blocks = 0;        // usable blocks, ids 1..blocks; the null block is not counted
    std::int64_t watermark = 0;     // usable blocks that admission leaves free while another sequence is alive
    Length max_length = 0;          // [tokens] 0 = only the limit of the library, `longest_sequence`
    WindowRelease window_release = WindowRelease::commit;
    Length rewind_slack = 0;  // [cells] kept before each window so that truncate() may go back that far
    PrefixCacheConfig prefix_cache = {};
    std::vector<GroupConfig> groups = {GroupConfig{}};  // one pool serves all groups

    std::uint32_t instance = 0;  // goes into every handle: give each Manager of a process its own
    bool int32_slots = false;    // the engine's kernels address slots in 32 bits: a pool beyond that is refused

    // Room made at construction; beyond it tables grow like a std::vector (amortised, and kept for the next sequence).
    std::uint32_t expected_sequences = 64;
    Length expected_length = 0;  // [tokens] for each of them
};

// The limits: ids are exported as int32, and one value beyond is needed for the sentinel.
inline constexpr std::int64_t most_blocks = 2'147'483'646;
inline constexpr std::uint32_t largest_block_size = 1U << 20U;

// What makes no sense in `config`, as one sentence with the key's name; nothing when it is fine.
std::optional<std::string> validate(const Config& config);

}  // namespace kvpane

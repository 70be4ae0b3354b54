// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <kvpane/blocktable/config.h>

// What a file describes is run as well, where or as far as that is a matter of milliseconds.
namespace kvpane::fuzz {

inline constexpr std::int64_t most_small_operations = 100;
inline constexpr std::size_t most_small_tokens = 300;  // of one operation
inline constexpr std::int64_t most_small_blocks = 64;
inline constexpr std::uint32_t largest_small_block = 16;
inline constexpr std::size_t most_small_groups = 4;

inline bool is_small(const Config& config) noexcept {
    return config.blocks <= most_small_blocks && config.block_size <= largest_small_block &&
           config.groups.size() <= most_small_groups &&
           config.prefix_cache.kept_events <= PrefixCacheConfig{}.kept_events;
}

// ENSURES is_small(), and validate() finds nothing if it found nothing.
inline Config made_small(Config config) {
    config.blocks = std::min(config.blocks, most_small_blocks);
    config.block_size = std::min(config.block_size, largest_small_block);
    config.watermark = std::min(config.watermark, config.blocks);
    config.prefix_cache.most_pinned = std::min(config.prefix_cache.most_pinned, config.blocks);
    config.groups.resize(std::min(config.groups.size(), most_small_groups));
    return config;
}

}  // namespace kvpane::fuzz

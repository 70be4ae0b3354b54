// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/config.h>

#include <limits>

namespace kvpane {

namespace {

std::string range(const std::string& key, const std::string& wanted, std::int64_t got) {
    return key + " must be " + wanted + ", got " + std::to_string(got);
}

std::optional<std::string> validate_groups(const Config& config) {
    if (config.groups.empty()) {
        return "groups must name at least one group";
    }
    for (std::size_t i = 0; i < config.groups.size(); ++i) {
        const GroupConfig& group = config.groups[i];
        if (group.name.empty()) {
            return "a group needs a name";
        }
        if (group.window < 0 || group.window > longest_sequence) {
            return range("window of group '" + group.name + "'", "0..2147483647", group.window);
        }
        if (group.sinks < 0 || group.sinks > longest_sequence) {
            return range("sinks of group '" + group.name + "'", "0..2147483647", group.sinks);
        }
        for (std::size_t other = 0; other < i; ++other) {
            if (config.groups[other].name == group.name) {
                return "two groups are named '" + group.name + "'";
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> validate(const Config& config) {
    if (config.block_size < 1 || config.block_size > largest_block_size) {
        return range("block_size", "1..1048576", config.block_size);
    }
    if (config.blocks < 1 || config.blocks > most_blocks) {
        return range("blocks", "1..2147483646", config.blocks);
    }
    if (config.watermark < 0 || config.watermark > config.blocks) {
        return range("watermark", "0..blocks", config.watermark);
    }
    if (config.max_length < 0 || config.max_length > longest_sequence) {
        return range("max_length", "0..2147483647", config.max_length);
    }
    if (config.prefix_cache.most_pinned < 0 || config.prefix_cache.most_pinned > config.blocks) {
        return range("most_pinned", "0..blocks", config.prefix_cache.most_pinned);
    }
    if (config.rewind_slack < 0 || config.rewind_slack > longest_sequence) {
        return range("rewind_slack", "0..2147483647", config.rewind_slack);
    }
    if (config.expected_length < 0 || config.expected_length > longest_sequence) {
        return range("expected_length", "0..2147483647", config.expected_length);
    }
    // The null block's slots are addressed too (padding points to them), hence blocks + 1.
    const std::int64_t cells = (config.blocks + 1) * std::int64_t{config.block_size};
    if (config.int32_slots && cells - 1 > std::numeric_limits<std::int32_t>::max()) {
        return "int32_slots cannot address " + std::to_string(cells) + " cells: use fewer blocks or 64-bit slots";
    }
    return validate_groups(config);
}

}  // namespace kvpane

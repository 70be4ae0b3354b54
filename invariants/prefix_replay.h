// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/stress.h>

namespace kvpane::invariants {

// One request of a prefix trace. A block id stands for a whole block of tokens and everything before it, so equal ids
// are equal prefixes.
struct PrefixRequest {
    Length input = 0;           // [tokens] of the prompt
    std::vector<Token> blocks;  // [ceil(input / tokens_per_block)]
};

struct PrefixReplayConfig {
    std::int64_t capacity = 0;  // [blocks] that stay cached between requests; 0 = all of them
    EvictionPolicy policy = EvictionPolicy::lru;
    Length tokens_per_block = 512;
    bool full_blocks_only = false;  // leave a prompt's last block out when it is not full
    CheckMode check = CheckMode::off;
    Sampling sampling;
};

struct PrefixReplayReport {
    std::int64_t requests = 0;
    std::int64_t blocks = 0;  // asked for
    std::int64_t hits = 0;    // of them
    std::int64_t evictions = 0;
    std::int64_t hit_tokens = 0;  // min(tokens_per_block * hits, input), summed over the requests
    std::int64_t operations = 0;
    std::int64_t checks = 0;
    double seconds = 0;
    std::optional<Violation> violation;
};

// Replays the requests in order through a Manager with one cell for each block of the trace: the longest cached prefix
// is hit, the rest is computed, the request ends, and then blocks are evicted in policy order (within one request the
// deepest first) while more than `capacity` are cached. A request may exceed the capacity for the moment.
// REQUIRES block ids below 2^31 - 1.
PrefixReplayReport replay_prefixes(const PrefixReplayConfig& config, std::span<const PrefixRequest> requests,
                                   const std::function<void(const StressProgress&)>& progress = {});

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/prefix_replay.h>

#include <algorithm>
#include <limits>

#include <kvpane/invariants/pace.h>

namespace kvpane::invariants {

namespace {

// Behind each prompt, never committed: a hit leaves one token to compute, and all of the prompt's blocks may be hits.
constexpr Token last_token = std::numeric_limits<Token>::max();

std::size_t blocks_of(const PrefixReplayConfig& config, const PrefixRequest& request) {
    const auto full = static_cast<std::size_t>(request.input / config.tokens_per_block);
    return config.full_blocks_only ? std::min(full, request.blocks.size()) : request.blocks.size();
}

// What stays cached, and room for one request on top of it.
Config manager_config(const PrefixReplayConfig& config, std::span<const PrefixRequest> requests) {
    std::int64_t longest = 1;
    std::int64_t all = 1;
    for (const PrefixRequest& request : requests) {
        const auto blocks = static_cast<std::int64_t>(blocks_of(config, request));
        longest = std::max(longest, blocks);
        all += blocks;
    }
    Config manager;
    manager.block_size = 1;
    manager.blocks = std::min(all, config.capacity == 0 ? all : config.capacity + longest);
    manager.prefix_cache.policy = config.policy;
    manager.expected_sequences = 1;
    manager.expected_length = longest;
    return manager;
}

class Replay {
public:
    Replay(const PrefixReplayConfig& config, std::span<const PrefixRequest> requests)
        : config_(config), kv_(manager_config(config, requests), config.check, config.sampling) {}

    void serve(const PrefixRequest& request) {
        const std::size_t blocks = blocks_of(config_, request);
        ++report_.requests;
        report_.blocks += static_cast<std::int64_t>(blocks);
        if (blocks == 0) {
            return;
        }
        const auto first = request.blocks.begin();
        operation_.tokens.assign(first, first + static_cast<std::ptrdiff_t>(blocks));
        operation_.tokens.push_back(last_token);
        const Length hits = apply(Verb::probe).cached_tokens;
        operation_.compute = static_cast<Length>(blocks) - hits;
        apply(Verb::admit);
        report_.hits += hits;
        report_.hit_tokens += std::min(config_.tokens_per_block * hits, request.input);
        apply(Verb::release);
        const std::int64_t over = std::int64_t{kv_.manager().pool().cached_blocks()} - config_.capacity;
        if (config_.capacity > 0 && over > 0) {
            operation_.count = over;
            apply(Verb::evict);
            report_.evictions += over;
        }
    }

    bool is_sound() const { return !kv_.violation(); }

    PrefixReplayReport report(double seconds) {
        report_.operations = kv_.operations();
        report_.checks = kv_.checks();
        report_.seconds = seconds;
        report_.violation = kv_.violation();
        return report_;
    }

private:
    Outcome apply(Verb verb) {
        operation_.verb = verb;
        return kv_.apply(operation_);
    }

    const PrefixReplayConfig& config_;
    CheckedManager kv_;
    Operation operation_;
    PrefixReplayReport report_;
};

}  // namespace

PrefixReplayReport replay_prefixes(const PrefixReplayConfig& config, std::span<const PrefixRequest> requests,
                                   const std::function<void(const StressProgress&)>& progress) {
    Replay replay(config, requests);
    Pace pace;
    for (std::size_t i = 0; i < requests.size() && replay.is_sound(); ++i) {
        replay.serve(requests[i]);
        if (progress && pace.due()) {
            progress({static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(requests.size()), 0});
        }
    }
    return replay.report(pace.seconds());
}

}  // namespace kvpane::invariants

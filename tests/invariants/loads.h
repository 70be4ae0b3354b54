// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/invariants/stress.h>

#include "support/kv.h"

// What several tests drive a Manager with.
namespace kvpane::invariants {

inline LengthDistribution lengths(Length min, Length max) {
    return {LengthDistribution::Kind::uniform, min, max, 1, 0, {}};
}

// A run with every kind of operation: three kinds of groups, a pool that is often full, prompts that share prefixes.
inline StressConfig every_kind(std::uint64_t seed, std::int64_t steps) {
    StressConfig config;
    config.manager = testing::plain(4, 60);
    config.manager.prefix_cache.enabled = true;
    config.manager.prefix_cache.most_pinned = 10;
    config.manager.rewind_slack = 3;
    config.manager.groups = {{"full", 0, 0}, {"swa", 9, 0}, {"sinks", 6, 5}};
    config.seed = seed;
    config.steps = steps;
    config.check = CheckMode::off;
    config.most_sequences = 12;
    config.mix.percent = {12, 16, 11, 8, 7, 4, 7, 5, 7, 4, 3, 4, 2, 2, 2, 3, 2, 1};
    config.prompt = lengths(1, 30);
    config.chunk = lengths(1, 8);
    config.draft = lengths(1, 6);
    config.rewind = lengths(0, 6);
    config.chunked_percent = 30;
    config.fork_at_percent = 30;
    config.longest = 60;
    config.sharing = {.count = 3,
                      .length = lengths(3, 20),
                      .shared_percent = 40,
                      .returning_percent = 20,
                      .edited_percent = 10,
                      .forget_percent = 20,
                      .remembered = 8,
                      .tenants = 2,
                      .priorities = 2,
                      .priority_steps = 3,
                      .alphabet = 100};
    return config;
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/payload_options.h>
#include <kvpane/invariants/stress.h>

namespace kvpane::invariants {

// One request of a length trace. Neither is negative.
struct Request {
    Length context = 0;    // [tokens] of the prompt
    Length generated = 0;  // [tokens] of the answer
};

struct ReplayConfig {
    Config manager;
    std::uint64_t seed = 1;
    CheckMode check = CheckMode::sampled;
    Sampling sampling;
    std::optional<PayloadOptions> payload;  // nothing = no real cells
    std::uint32_t samples = 1;  // answers to each prompt, forked from it
    std::uint32_t alive = 1;    // requests that run at once, round robin
};

struct ReplayReport {
    std::int64_t requests = 0;
    std::int64_t completed = 0;
    std::int64_t refused_never = 0;  // requests that cannot fit: skipped, or ended where they outgrow the pool
    std::int64_t refused_later = 0;  // times that a request had to wait
    std::int64_t preempted = 0;      // requests given up because nobody could go on
    // ENSURES without a violation: requests == completed + refused_never + preempted.
    std::int64_t operations = 0;
    std::int64_t checks = 0;
    double seconds = 0;
    // With one sample: over every length that each request takes, from its context on. allocated = cells of the blocks
    // that its tables hold, used = those that hold a token (the length, with full attention); summed over the groups.
    std::int64_t used_cells = 0;
    std::int64_t allocated_cells = 0;
    // With several samples, over every length beyond the context: the blocks that their tables name, and how many fewer
    // physical blocks these are; summed over the groups.
    std::int64_t unshared_blocks = 0;
    std::int64_t saved_blocks = 0;
    WindowPhases phases;
    Statistics statistics;
    std::optional<Violation> violation;
};

// Runs the requests in order through the Manager: admit the prompt, then one token at a time (the samples as one
// batch), then release. A request that must wait lets the others that run go on, and newcomers wait behind it; when
// nobody can go on, the youngest is given up (and counted): it never hangs. Equal arguments give equal operations on
// every machine.
// REQUIRES validate(config.manager) finds nothing, samples >= 1, alive >= 1, their product below 2^32.
ReplayReport replay_lengths(const ReplayConfig& config, std::span<const Request> requests,
                            const std::function<void(const StressProgress&)>& progress = {});

}  // namespace kvpane::invariants

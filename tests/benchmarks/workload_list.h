// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "benchmarks/bench.h"

namespace kvpane::bench {

struct Workload {
    std::string_view name;  // as on the command line
    std::string_view what;
    void (*measure)(Bench&);
};

// In the order of the table.
std::span<const Workload> workloads();

// attention.cpp
void attention(Bench& bench);
// churn.cpp
void churn(Bench& bench);
void churn_at_scale(Bench& bench);
// decode.cpp
void decode(Bench& bench);
void decode_at_scale(Bench& bench);
// check.cpp
void check_mode(Bench& bench);
// journal.cpp
void journal(Bench& bench);
// steps.cpp
void steps(Bench& bench);
void steps_beside_cached_blocks(Bench& bench);
// prefixes.cpp
void returning_prompt(Bench& bench);
void cold_prompts(Bench& bench);
void shared_prefixes(Bench& bench);
void cold_lookup(Bench& bench);
// forks.cpp
void forks(Bench& bench);
// exports.cpp
void exports(Bench& bench);
// payload.cpp
void block_copies(Bench& bench);
void gathers(Bench& bench);

}  // namespace kvpane::bench

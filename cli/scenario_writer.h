// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/scenario.h>

namespace kvpane::cli {

// A scenario as read_scenario() reads it: the same Manager, operations and repetitions; of the expectations only
// `error`, `cached_tokens` and `index_entries`. Sequences are called by `names`, or s0, s1, ... beyond them.
// REQUIRES what a scenario can say: sequences numbered in the order in which steps introduce them and not used before,
// no negative token (see invariants::in_order()), all words valid UTF-8 without NUL.
std::string scenario_text(const invariants::Scenario& scenario);

// "..." with what TOML wants escaped.
std::string toml_string(const std::string& text);

}  // namespace kvpane::cli

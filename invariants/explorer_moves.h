// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <kvpane/invariants/explorer_world.h>

namespace kvpane::invariants::explorer {

// Everything that is tried in a state, questions and calls that must be refused included: all prompts, all strings of
// tokens, all lengths, all pairs of sequences. What is tried depends on nothing but the state's class: two states with
// one fingerprint are tried alike. `moves` keeps its memory.
void list_moves(const ExploreConfig& config, const Setting& setting, const World& world, std::vector<Move>& moves);

// Whether the verb only asks: nothing may change.
constexpr bool only_asks(Verb verb) { return verb == Verb::probe || verb == Verb::plan || verb == Verb::check; }

}  // namespace kvpane::invariants::explorer

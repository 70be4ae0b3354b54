// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/explorer_due.h>
#include <kvpane/invariants/explorer_world.h>

// The parts of an explorer's audit that look at one state alone. Each returns the first place where a sentence of the
// catalogue does not hold.
namespace kvpane::invariants::explorer {

// P1, P2, P3: states, counters, references, pins, queue.
Found recount_pool(const Setting& setting, const Snapshot& seen, const Shadow& shadow);

// T1, T2, T5: what the tables hold is what the windows demand; reserved cells are nobody else's.
Found recount_tables(const Setting& setting, const Snapshot& seen, const Shadow& shadow);

// X2: a new sequence stands on the oldest copies of what it hit.
Found recount_adoption(const Setting& setting, const Snapshot& seen, const Shadow::Sequence& sequence,
                       std::size_t index, const Due& due);

// T3, T4: what a sequence's tables read back is its history. Right after a commit that is the last W cells at least.
Found read_back(const Setting& setting, const Snapshot& seen, const Shadow& shadow, std::size_t index,
                bool just_committed);

// X1, X3: what is indexed stands in the cells; each entry is found, the older copy first.
Found recount_index(const Setting& setting, const Snapshot& seen, const Shadow& shadow);

// X1: what entered the index and what left it is what the operation had to put there and take out.
Found recount_entries(const Setting& setting, const World& before, const World& after, const Move& move);

// How many entries the index should have then.
Length count_entries_due(const Setting& setting, const World& before, const World& after, const Move& move);

// How many prefixes the index needs names for: those at whole blocks of the living histories, those of the indexed
// blocks, and all before them. COST O(their square): once a state, not once a transition.
std::uint32_t count_nodes(const Setting& setting, const World& world);

}  // namespace kvpane::invariants::explorer

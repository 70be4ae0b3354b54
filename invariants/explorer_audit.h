// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/explorer_due.h>
#include <kvpane/invariants/explorer_world.h>

// The catalogue for tiny states: the same sentences as in audit.h, recounted in fixed arrays and without the heap, so
// that an audit takes a microsecond or less. Only a violation allocates. A2 is looked at by the explorer itself.
namespace kvpane::invariants::explorer {

// A1 and X2: the operation ended as the contract says, and took what it says. `foreseen` is the Manager's own plan,
// where it made one before the operation.
Found audit_outcome(const Setting& setting, const Move& move, const Result& result, const Due& due,
                    const std::optional<expected<Plan>>& foreseen);

// P1-P3, T1-T5, X1-X3 and F1 of the state that an operation led to. COST O(blocks * groups + table entries).
Found audit_state(const Setting& setting, const World& before, const World& after, const Move& move, const Due& due);

// F2: nothing has changed.
Found audit_nothing_changed(const World& before, const World& after, std::uint64_t digest_before);

}  // namespace kvpane::invariants::explorer

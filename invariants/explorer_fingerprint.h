// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/explorer_world.h>

namespace kvpane::invariants::explorer {

// The name of a state's class: everything that decides what a Manager will do, with blocks named by their first
// appearance and sequences in an order that does not depend on their names. Why this is enough: docs/exploring.md.
Fingerprint fingerprint(const Setting& setting, const World& world);

// The name of the state itself, names of blocks and sequences included.
Fingerprint raw_fingerprint(const Setting& setting, const World& world);

}  // namespace kvpane::invariants::explorer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// The operations on the prefix index, answered as an index answers that nothing has entered: the Manager keeps none.
// REQUIRES the verb is one of probe, evict, uncache, pin, unpin, reset_cache.
Outcome without_prefix_cache(const Operation& operation, const Manager& manager, SequenceHandle sequence);

}  // namespace kvpane::invariants

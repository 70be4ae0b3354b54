// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/shadow_cells.h>

namespace kvpane::invariants {

// One cell of a logical sequence, as attention would find it.
struct HeldCell {
    Length position;
    Slot slot;
    ShadowCell cell;
};

// Rebuilds a logical sequence from its block table and the cells alone: every position below `length` whose cell the
// table holds, ascending. Nothing else is asked. REQUIRES every held block is one of the pool's.
std::vector<HeldCell> interpret(const TableView& table, const ShadowCells& shadow, Length length);

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <kvpane/blocktable/manager.h>

namespace kvpane::invariants {

// Cells of the blocks that tables hold, and how many of them hold a token: read from the tables, not computed.
struct Utilisation {
    std::int64_t used = 0;
    std::int64_t allocated = 0;

    // Adds the tables of one living sequence, in all groups. Reserved cells hold no token. COST O(groups).
    void add(const Manager& manager, SequenceHandle sequence) {
        const Length length = *manager.length(sequence);
        const Length block_size = manager.config().block_size;
        for (std::uint32_t group = 0; group < manager.groups(); ++group) {
            const TableView table = *manager.table(sequence, GroupId{group});
            const Length sinks = static_cast<Length>(table.sinks.size()) * block_size;
            used += std::min(sinks, length) + std::max<Length>(0, length - std::max(table.first_resident, sinks));
            allocated += static_cast<Length>(table.held()) * block_size;
        }
    }
};

}  // namespace kvpane::invariants

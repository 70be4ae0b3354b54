// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/block_history.h>

namespace kvpane::invariants {

// The block tables as they were last seen, and from them the references that each block must have: kept up to date by
// looking only at the sequences that an operation worked on.
class TableMirror {
public:
    // What enters and leaves a table is noted in `history`, which must live as long.
    TableMirror(std::int64_t blocks, std::uint32_t groups, BlockHistory& history)
        : refs_(static_cast<std::size_t>(blocks) + 1), groups_(groups), history_(&history) {}

    // Takes over what a table of the sequence is now.
    // COST O(entries), of a table that only grew behind its last block O(1) for each new one.
    void update(Name name, std::uint32_t group, const TableView& now);

    // The sequence has ended.
    void end(Name name);

    // Blocks that gained or lost a reference since clear_changed(); may name one twice.
    std::span<const BlockId> changed() const noexcept { return changed_; }
    void clear_changed() noexcept { changed_.clear(); }

    std::uint32_t refs(BlockId block) const noexcept { return refs_[to_index(block)]; }

    // P2: the living sequences' tables are those that were seen. So nothing changed behind the operations' back.
    // COST O(table entries).
    Found compare(const Scene& scene) const;

private:
    struct Table {
        std::vector<BlockId> ids;  // by logical block, null_block for holes
        std::uint32_t first = 0;   // where the run begins
    };

    Table& table(Name name, std::uint32_t group);
    void change(Name name, std::uint32_t group, std::size_t entry, BlockId& seen, BlockId now);

    std::vector<Table> tables_;        // [names, n_groups]
    std::vector<std::uint32_t> refs_;  // [blocks + 1]
    std::vector<BlockId> changed_;
    std::uint32_t groups_;
    BlockHistory* history_;
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_snapshot.h>

#include <algorithm>

namespace kvpane::invariants::explorer {

namespace {

template <class Number>
std::uint8_t small(Number number) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(number), 255));
}

// A broken Manager may give any number: what does not fit is cut, and differs from what is due.
void read_table(const TableView& view, Snapshot::Table& table) {
    table.size = small(view.size);
    table.run_begin = small(view.run_begin);
    table.run = small(view.run.size());
    table.first_resident = small(view.first_resident);
    for (std::size_t entry = 0; entry < std::min<std::size_t>(view.size, most_length); ++entry) {
        table.entries[entry] = small(to_index(view[entry]));
    }
}

template <class Next>
void walk(std::uint32_t blocks, Snapshot::Walk& out, Next next) {
    for (BlockId block = next(null_block); block != null_block; block = next(block)) {
        if (out.size == blocks || to_index(block) > blocks) {
            out.size = Snapshot::Walk::overflow;
            return;
        }
        out.blocks[out.size++] = small(to_index(block));
    }
}

void read_content(const PrefixIndex& index, BlockId block, const Spelling& spelling, Snapshot::Block& out) {
    const PrefixTree& tree = index.tree();
    out.serial = tree.serial(out.content);
    out.prefix = prefix_of(tree, out.content, spelling);
    out.cells = small(tree.tokens(out.content).size());
    out.group = small(to_index(index.group(block)));
    if (out.group >= most_groups) {
        return;
    }
    std::uint8_t age = 0;
    BlockId copy = index.oldest(out.content, index.group(block));
    for (; copy != null_block && copy != block && age < most_blocks; copy = index.younger(copy)) {
        ++age;
    }
    out.is_found = copy == block;
    out.age = age;
}

}  // namespace

Snapshot look(const Manager& manager, const Handles& handles, std::uint32_t sequences, const Spelling& spelling) {
    Snapshot out;
    const BlockPool& pool = manager.pool();
    const PrefixIndex* index = manager.index();
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        Snapshot::Block& seen = out.blocks[i];
        seen.state = pool.state(block);
        seen.refs = small(pool.refs(block));
        seen.pins = small(pool.pins(block));
        seen.waits = small(pool.waits_for(block));
        seen.content = pool.content(block);
        if (seen.content != no_content && index != nullptr) {
            read_content(*index, block, spelling, seen);
            seen.priority = small(pool.rank(block).priority);
        }
    }
    walk(pool.blocks(), out.queue, [&](BlockId block) { return pool.next_idle(block); });
    walk(pool.blocks(), out.fenced, [&](BlockId block) { return pool.next_fenced(block); });
    for (std::size_t i = 0; i < sequences; ++i) {
        Snapshot::Sequence& sequence = out.sequences[i];
        sequence.is_alive = manager.is_alive(handles[i]);
        if (!sequence.is_alive) {
            continue;
        }
        sequence.length = small(*manager.length(handles[i]));
        sequence.reserved = small(*manager.reserved(handles[i]));
        for (std::uint32_t group = 0; group < manager.groups(); ++group) {
            read_table(*manager.table(handles[i], GroupId{group}), sequence.tables[group]);
        }
    }
    out.states = {pool.free_blocks(), pool.cached_blocks(), pool.live_blocks(), pool.fenced_blocks()};
    out.idle = pool.idle_blocks();
    out.pinned = pool.pinned_blocks();
    out.alive = manager.sequences();
    out.index_entries = manager.index_entries();
    out.nodes = index == nullptr ? 0 : static_cast<std::uint32_t>(index->tree().nodes());
    out.is_step_open = pool.step_is_open();
    return out;
}

}  // namespace kvpane::invariants::explorer

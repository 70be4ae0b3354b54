// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/queue_watch.h>

#include <algorithm>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

bool is_known(const BlockPool& pool, BlockId block) { return pool.content(block) != no_content; }

// The blocks behind the slots that a step handed out.
std::vector<BlockId> written_in(const Outcome& outcome, std::uint32_t block_size) {
    std::vector<BlockId> blocks;
    for (const Slot slot : outcome.step.slots) {
        const BlockId block{static_cast<std::uint32_t>(slot / block_size)};
        if (blocks.empty() || blocks.back() != block) {
            blocks.push_back(block);
        }
    }
    std::ranges::sort(blocks);
    return blocks;
}

}  // namespace

void QueueWatch::before(const Manager& manager, SequenceHandle sequence) {
    const BlockPool& pool = manager.pool();
    queue_.clear();
    place_before_.assign(pool.blocks() + std::size_t{1}, 0);
    for (BlockId at = pool.next_idle(null_block); at != null_block; at = pool.next_idle(at)) {
        queue_.push_back({at, is_known(pool, at)});
        place_before_[to_index(at)] = static_cast<std::uint32_t>(queue_.size());
    }
    tables_.clear();
    for (std::uint32_t group = 0; group < manager.groups() && manager.is_alive(sequence); ++group) {
        const TableView table = *manager.table(sequence, GroupId{group});
        std::vector<BlockId>& blocks = tables_.emplace_back();
        for (std::uint32_t entry = 0; entry < table.size; ++entry) {
            blocks.push_back(table[entry]);
        }
    }
}

QueueWatch::Wrong QueueWatch::wrong_order(const Manager& manager, const Operation& operation, const Outcome& outcome,
                                          SequenceHandle made) {
    const BlockPool& pool = manager.pool();
    place_.assign(pool.blocks() + std::size_t{1}, 0);
    std::uint32_t places = 0;
    for (BlockId at = pool.next_idle(null_block); at != null_block; at = pool.next_idle(at)) {
        place_[to_index(at)] = ++places;
    }
    switch (operation.verb) {
        case Verb::evict: return dropped_out_of_turn(pool, operation.count);
        case Verb::reset_cache: return dropped_out_of_turn(pool, Length{pool.blocks()});
        case Verb::uncache: return std::nullopt;  // what it unpins joins as cached, and is free only then
        default: break;
    }
    if (auto wrong = taken_out_of_turn(pool, operation, outcome, manager.config().block_size)) {
        return wrong;
    }
    if (auto wrong = joined_behind(manager, outcome)) {
        return wrong;
    }
    switch (operation.verb) {
        case Verb::admit: return lower_than_asked(manager, operation, made);
        case Verb::commit:
        case Verb::cancel:
        case Verb::truncate:
        case Verb::release: return shallow_first(pool);
        default: return std::nullopt;
    }
}

QueueWatch::Wrong QueueWatch::taken_out_of_turn(const BlockPool& pool, const Operation& operation,
                                                const Outcome& outcome, std::uint32_t block_size) const {
    const std::vector<BlockId> written = written_in(outcome, block_size);
    // A hit leaves the queue wherever it stands, and may be back already.
    const bool hits = operation.verb == Verb::admit && outcome.cached_tokens > 0;
    BlockId passed_over = null_block;
    for (const Queued& queued : queue_) {
        if (std::ranges::binary_search(written, queued.block)) {
            if (passed_over != null_block) {
                return text("block ", to_index(queued.block), " was taken, and block ", to_index(passed_over),
                            " stood before it in the queue");
            }
        } else if (passed_over == null_block && place(queued.block) != 0 &&
                   !(hits && (queued.was_known || is_known(pool, queued.block)))) {
            passed_over = queued.block;
        }
    }
    return std::nullopt;
}

QueueWatch::Wrong QueueWatch::joined_behind(const Manager& manager, const Outcome& outcome) const {
    if (!manager.config().prefix_cache.enabled) {
        return std::nullopt;  // everything joins at the end, see find_P3
    }
    const BlockPool& pool = manager.pool();
    const std::vector<BlockId> written = written_in(outcome, manager.config().block_size);
    BlockId stayed = null_block;
    for (BlockId at = pool.next_idle(null_block); at != null_block; at = pool.next_idle(at)) {
        if (place_before_[to_index(at)] != 0 && !std::ranges::binary_search(written, at)) {
            stayed = at;
        } else if (stayed != null_block && joined(at) && !is_known(pool, at)) {
            return text("block ", to_index(at), " has no content and joined the queue behind block ", to_index(stayed));
        }
    }
    return std::nullopt;
}

QueueWatch::Wrong QueueWatch::shallow_first(const BlockPool& pool) const {
    for (const std::vector<BlockId>& table : tables_) {
        BlockId deeper_free = null_block;
        BlockId deeper_known = null_block;
        for (auto block = table.rbegin(); block != table.rend(); ++block) {
            if (*block == null_block || !joined(*block)) {
                continue;
            }
            BlockId& deeper = is_known(pool, *block) ? deeper_known : deeper_free;
            const bool alike = deeper != null_block && pool.rank(deeper) == pool.rank(*block);
            if (deeper != null_block && (alike || !is_known(pool, *block)) && place(*block) < place(deeper)) {
                return text("block ", to_index(*block), " joined the queue before block ", to_index(deeper),
                            ", which stood deeper in the same table");
            }
            deeper = *block;
        }
    }
    return std::nullopt;
}

QueueWatch::Wrong QueueWatch::dropped_out_of_turn(const BlockPool& pool, Length most) const {
    for (const Queued& queued : queue_) {
        const bool is_due = queued.was_known && most > 0;
        most -= is_due ? 1 : 0;
        if (queued.was_known && is_due == is_known(pool, queued.block)) {
            return text("block ", to_index(queued.block), " should ", is_due ? "lose" : "keep",
                        " its content, for the place at which it stands in the queue");
        }
    }
    return std::nullopt;
}

QueueWatch::Wrong QueueWatch::lower_than_asked(const Manager& manager, const Operation& operation,
                                               SequenceHandle made) const {
    const BlockPool& pool = manager.pool();
    for (std::uint32_t group = 0; group < manager.groups() && manager.is_alive(made); ++group) {
        const TableView table = *manager.table(made, GroupId{group});
        for (std::uint32_t entry = 0; entry < table.size; ++entry) {
            const BlockId block = table[entry];
            if (is_known(pool, block) && pool.rank(block).priority < operation.priority) {
                return text("block ", to_index(block), " has the priority ", pool.rank(block).priority,
                            ", the request that holds it ", operation.priority);
            }
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants

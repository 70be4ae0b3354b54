// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/block_pool.h>

#include <algorithm>
#include <bit>

#include <kvpane/allocator/promise.h>

namespace kvpane {

BlockPool::BlockPool(std::uint32_t blocks, IdleOrder order)
    : records_(blocks + std::size_t{2}), fenced_until_(blocks + std::size_t{1}), pins_(blocks + std::size_t{1}),
      ranks_(blocks + std::size_t{1}), idle_since_(blocks + std::size_t{1}), fence_{blocks + 1}, blocks_(blocks),
      free_(blocks), order_(order) {
    for (std::uint32_t i = 0; i <= blocks; ++i) {
        records_[i].prev = BlockId{i == 0 ? blocks : i - 1};
        records_[i].next = BlockId{i == blocks ? 0 : i + 1};
    }
    at(fence_) = {0, fence_, fence_, no_content};
    make_rank({});
}

// The null block never has a reference: it is the sentinel of a list.
void BlockPool::require_owned(BlockId block) const noexcept {
    promise(to_index(block) <= blocks_ && at(block).refs > 0, "P2",
            "a block was shared, given back or named that nobody holds");
}

BlockPool::Taken BlockPool::take() noexcept {
    const BlockId block = next_idle(null_block);
    promise(block != null_block, "A1", "a plan said that there is room, and the queue is empty");
    unlink(block);
    Record& record = at(block);
    const ContentId evicted = record.content;
    --(evicted == no_content ? free_ : cached_);
    ++live_;
    record.refs = 1;
    record.content = no_content;
    return {block, evicted};
}

void BlockPool::share(BlockId block) noexcept {
    require_owned(block);
    ++at(block).refs;
}

void BlockPool::share(std::span<const BlockId> blocks) noexcept {
    std::ranges::for_each(blocks, [this](BlockId block) { share(block); });
}

void BlockPool::revive(BlockId block) noexcept {
    promise(at(block).refs == 0 && at(block).content != no_content, "P1", "a hit named a block that is not cached");
    if (is_fenced(block)) {
        unlink(block);
        fenced_until_[to_index(block)] = 0;
        --fenced_;
    } else {
        if (pins(block) > 0) {
            --idle_pinned_;
        } else {
            unlink(block);
        }
        --cached_;
        ++reuse_distances_[static_cast<std::size_t>(std::bit_width(became_idle_ - idle_since_[to_index(block)]))];
    }
    at(block).refs = 1;
    ++live_;
}

void BlockPool::give_back(Batch& batch, BlockId block) noexcept {
    require_owned(block);
    if (--at(block).refs > 0) {
        return;
    }
    --live_;
    if (fences_.any_open()) {
        fence(block);
    } else {
        enqueue(batch, block);
    }
}

void BlockPool::give_back(Batch& batch, std::span<const BlockId> blocks) noexcept {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        give_back(batch, *block);
    }
}

void BlockPool::set_content(BlockId block, ContentId content, Rank rank) noexcept {
    require_owned(block);
    promise(at(block).content == no_content, "X1", "a block was named twice");
    at(block).content = content;
    ranks_[to_index(block)] = rank;
}

void BlockPool::drop_content(BlockId block) noexcept {
    promise(at(block).content != no_content && pins(block) == 0, "X1",
            "a block without content, or a pinned one, was "
            "to lose it");
    if (state(block) == BlockState::cached) {
        --cached_;
        ++free_;
    }
    at(block).content = no_content;
}

void BlockPool::set_rank(BlockId block, Rank rank) noexcept {
    if (rank == ranks_[to_index(block)]) {
        return;
    }
    ranks_[to_index(block)] = rank;
    if (is_takeable(block)) {
        idle_since_[to_index(block)] = ++became_idle_;
        unlink(block);
        insert_after(at(list_of(rank)).prev, block);
    }
}

void BlockPool::make_rank(Rank rank) {
    const auto where = std::ranges::lower_bound(lists_, rank, {}, &RankList::rank);
    if (where != lists_.end() && where->rank == rank) {
        return;
    }
    const BlockId sentinel{static_cast<std::uint32_t>(records_.size())};
    const auto position = where - lists_.begin();
    lists_.reserve(lists_.size() + 1);
    records_.push_back({0, sentinel, sentinel, no_content});
    lists_.insert(lists_.begin() + position, {rank, sentinel});
}

void BlockPool::pin(BlockId block) noexcept {
    promise(at(block).content != no_content, "P2", "a block without content was to be pinned");
    if (pins_[to_index(block)]++ > 0) {
        return;
    }
    ++pinned_;
    if (at(block).refs == 0 && !is_fenced(block)) {
        unlink(block);
        ++idle_pinned_;
    }
}

void BlockPool::unpin(BlockId block) noexcept {
    promise(pins(block) > 0, "P2", "a block was unpinned more often than pinned");
    if (--pins_[to_index(block)] > 0) {
        return;
    }
    --pinned_;
    if (at(block).refs == 0 && !is_fenced(block)) {
        --idle_pinned_;
        idle_since_[to_index(block)] = ++became_idle_;
        insert_after(at(list_of(rank(block))).prev, block);
    }
}

expected<void> BlockPool::step_begin(StepId step) { return fences_.begin(step); }

expected<void> BlockPool::step_end(StepId step) noexcept {
    if (auto ended = fences_.end(step); !ended) {
        return ended;
    }
    Batch batch;
    for (BlockId block = at(fence_).next; block != fence_; block = at(fence_).next) {
        if (!fences_.passed(fenced_until_[to_index(block)])) {
            break;
        }
        unlink(block);
        fenced_until_[to_index(block)] = 0;
        --fenced_;
        enqueue(batch, block);
    }
    return {};
}

BlockState BlockPool::state(BlockId block) const noexcept {
    if (at(block).refs > 0) {
        return BlockState::live;
    }
    if (is_fenced(block)) {
        return BlockState::fenced;
    }
    return at(block).content == no_content ? BlockState::free : BlockState::cached;
}

BlockId BlockPool::next_idle(BlockId block) const noexcept {
    BlockId next = at(block).next;
    if (next == null_block) {
        return first_of_lists(0);
    }
    if (!is_sentinel(next)) {
        return next;
    }
    const auto list = std::ranges::find(lists_, next, &RankList::sentinel);
    return first_of_lists(static_cast<std::size_t>(list - lists_.begin()) + 1);
}

BlockId BlockPool::first_of_lists(std::size_t from) const noexcept {
    for (std::size_t i = from; i < lists_.size(); ++i) {
        if (const BlockId first = at(lists_[i].sentinel).next; first != lists_[i].sentinel) {
            return first;
        }
    }
    return null_block;
}

BlockId BlockPool::list_of(Rank rank) const noexcept {
    return std::ranges::lower_bound(lists_, rank, {}, &RankList::rank)->sentinel;
}

void BlockPool::add_to(Digest& digest) const noexcept {
    for (BlockId block = next_idle(null_block); block != null_block; block = next_idle(block)) {
        digest.add(to_index(block));
    }
    digest.add(idle_blocks());
    // A fenced block's remaining wait is relative to the epoch: two runs that differ only in how many steps they have
    // seen are in the same state.
    for (BlockId block = at(fence_).next; block != fence_; block = at(block).next) {
        digest.add(to_index(block));
        digest.add(fences_.current_epoch() - fenced_until_[to_index(block)]);
    }
    digest.add(fenced_);
    for (std::uint32_t i = 1; i <= blocks_; ++i) {
        digest.add((std::uint64_t{records_[i].refs} << 32U) | static_cast<std::uint32_t>(records_[i].content));
        if (records_[i].content != no_content) {
            digest.add(pins_[i]);
            digest.add(static_cast<std::uint64_t>(ranks_[i].priority));
            digest.add(ranks_[i].frequency);
        }
    }
    fences_.add_to(digest);
}

void BlockPool::insert_after(BlockId where, BlockId block) noexcept {
    const BlockId after = at(where).next;
    at(block).prev = where;
    at(block).next = after;
    at(where).next = block;
    at(after).prev = block;
}

void BlockPool::unlink(BlockId block) noexcept {
    const Record& record = at(block);
    at(record.prev).next = record.next;
    at(record.next).prev = record.prev;
}

void BlockPool::enqueue(Batch& batch, BlockId block) noexcept {
    idle_since_[to_index(block)] = ++became_idle_;
    if (at(block).content != no_content) {
        ++cached_;
        if (pins(block) > 0) {
            ++idle_pinned_;
        } else {
            insert_after(at(list_of(rank(block))).prev, block);
        }
        return;
    }
    ++free_;
    if (order_ == IdleOrder::contentless_to_front) {
        insert_after(batch.last_in_front, block);
        batch.last_in_front = block;
    } else {
        insert_after(at(null_block).prev, block);
    }
}

void BlockPool::fence(BlockId block) noexcept {
    fenced_until_[to_index(block)] = fences_.current_epoch();
    insert_after(at(fence_).prev, block);
    ++fenced_;
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/block_pool.h>

#include <kvpane/allocator/promise.h>

namespace kvpane {

BlockPool::BlockPool(std::uint32_t blocks, IdleOrder order)
    : records_(blocks + std::size_t{1}), fenced_until_(blocks + std::size_t{1}), blocks_(blocks), free_(blocks),
      order_(order) {
    for (std::uint32_t i = 0; i <= blocks; ++i) {
        records_[i].prev = BlockId{i == 0 ? blocks : i - 1};
        records_[i].next = BlockId{i == blocks ? 0 : i + 1};
    }
}

void BlockPool::require_owned(BlockId block) const noexcept {
    promise(block != null_block && to_index(block) <= blocks_ && at(block).refs > 0, "P2",
            "a block was shared, given back or named that nobody holds");
}

BlockPool::Taken BlockPool::take() noexcept {
    const BlockId block = at(null_block).next;
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

void BlockPool::revive(BlockId block) noexcept {
    promise(state(block) == BlockState::cached, "P1", "a hit named a block that is not cached");
    unlink(block);
    at(block).refs = 1;
    --cached_;
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

void BlockPool::set_content(BlockId block, ContentId content) noexcept {
    require_owned(block);
    promise(at(block).content == no_content, "X1", "a block was named twice");
    at(block).content = content;
}

void BlockPool::drop_content(BlockId block) noexcept {
    promise(at(block).content != no_content, "X1", "a block without content was to lose it");
    if (state(block) == BlockState::cached) {
        --cached_;
        ++free_;
    }
    at(block).content = no_content;
}

expected<void> BlockPool::step_begin(StepId step) { return fences_.begin(step); }

expected<void> BlockPool::step_end(StepId step) noexcept {
    if (auto ended = fences_.end(step); !ended) {
        return ended;
    }
    Batch batch;
    while (fenced_first_ != null_block && fences_.passed(fenced_until_[to_index(fenced_first_)])) {
        const BlockId block = fenced_first_;
        fenced_first_ = at(block).next;
        --fenced_;
        enqueue(batch, block);
    }
    if (fenced_first_ == null_block) {
        fenced_last_ = null_block;
    }
    return {};
}

BlockState BlockPool::state(BlockId block) const noexcept {
    const Record& record = at(block);
    if (record.refs > 0) {
        return BlockState::live;
    }
    if (record.prev == fence_mark) {
        return BlockState::fenced;
    }
    return record.content == no_content ? BlockState::free : BlockState::cached;
}

void BlockPool::add_to(Digest& digest) const noexcept {
    for (BlockId block = next_idle(null_block); block != null_block; block = next_idle(block)) {
        digest.add(to_index(block));
    }
    digest.add(idle_blocks());
    // A fenced block's remaining wait is relative to the epoch: two runs that differ only in how many steps they have
    // seen are in the same state.
    for (BlockId block = fenced_first_; block != null_block; block = at(block).next) {
        digest.add(to_index(block));
        digest.add(fences_.current_epoch() - fenced_until_[to_index(block)]);
    }
    digest.add(fenced_);
    for (std::uint32_t i = 1; i <= blocks_; ++i) {
        digest.add((std::uint64_t{records_[i].refs} << 32U) | static_cast<std::uint32_t>(records_[i].content));
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
    const bool contentless = at(block).content == no_content;
    ++(contentless ? free_ : cached_);
    if (contentless && order_ == IdleOrder::contentless_to_front) {
        insert_after(batch.last_in_front, block);
        batch.last_in_front = block;
    } else {
        insert_after(at(null_block).prev, block);
    }
}

void BlockPool::fence(BlockId block) noexcept {
    Record& record = at(block);
    record.prev = fence_mark;
    record.next = null_block;
    fenced_until_[to_index(block)] = fences_.current_epoch();
    if (fenced_last_ == null_block) {
        fenced_first_ = block;
    } else {
        at(fenced_last_).next = block;
    }
    fenced_last_ = block;
    ++fenced_;
}

}  // namespace kvpane

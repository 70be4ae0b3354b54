// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/error.h>
#include <kvpane/allocator/eviction.h>
#include <kvpane/allocator/fences.h>
#include <kvpane/allocator/ids.h>

namespace kvpane {

// What a block is at one moment; it is exactly one of these (invariant P1).
enum class BlockState : std::uint8_t {
    free,    // idle, nothing in it can be found
    cached,  // idle, but known by its content: a hit may take it back
    live,    // one reference or more
    fenced,  // given up while a device step that may still touch it is in flight
};

constexpr std::string_view to_string(BlockState state) noexcept {
    switch (state) {
        case BlockState::free: return "free";
        case BlockState::cached: return "cached";
        case BlockState::live: return "live";
        case BlockState::fenced: return "fenced";
    }
    return "";
}

// Where an idle block without content joins the queue. Blocks with content join at the end of those of their rank.
enum class IdleOrder : std::uint8_t {
    all_to_back,          // prefix cache off: first given up, first taken
    contentless_to_front  // prefix cache on: take what nobody can hit before anything that can be hit
};

// The physical blocks 1..blocks: reference counts, states, and the queue that says which idle block is taken next.
//
//   take() ----------> live  <--- share() ---+
//     ^                 | ^------------------+
//     |                 | give_back(): last reference
//     |                 |
//     |                 +-- no step open ----------> queue: free, or cached when the block has content
//     |                 +-- a step open --> fenced --(step_end of all that were open)--> queue
//     +---- front of the queue;  revive(): a block with content leaves queue or fence for a hit
//
// A pinned block is never taken: idle it is cached, but in no queue. Conservation, by construction and audited as P1:
//     free_blocks() + cached_blocks() + live_blocks() + fenced_blocks() == blocks()
//     queue length == idle_blocks() == free_blocks() + cached_blocks() - idle pinned blocks
//
// The queue is threaded through the block records (no nodes): first the list of blocks that came back without content,
// then one list for each rank, each around a sentinel record of its own.
//
// COST: every operation is O(1) per block, and O(log ranks) where a rank is looked up. Nothing is allocated after
// construction except for a rank that was never seen, and by step_begin when more than 64 steps are open at once.
class BlockPool {
public:
    // One batch of returns. Blocks without content that go to the front keep the order in which they were given.
    struct Batch {
        BlockId last_in_front = null_block;
    };

    struct Taken {
        BlockId block;
        ContentId evicted;  // what the block was known by until now, `no_content` if nothing
    };

    // REQUIRES 1 <= blocks <= 2^31 - 2. ENSURES all blocks free, queue = 1, 2, ..., blocks.
    BlockPool(std::uint32_t blocks, IdleOrder order);

    // --- blocks -----------------------------------------------------------------------------------------------------

    // Takes the block at the front of the queue, with one reference and no content. REQUIRES idle_blocks() > 0.
    Taken take() noexcept;

    // Adds a reference to a live block, or to each of several.
    void share(BlockId block) noexcept;
    void share(std::span<const BlockId> blocks) noexcept;

    // Takes an idle or fenced block with content back for a hit, with one reference; it keeps its content.
    void revive(BlockId block) noexcept;

    // Drops one reference of a live block. The last one sends the block to the queue, or behind the fence while a
    // device step is open.
    void give_back(Batch& batch, BlockId block) noexcept;

    // Gives back `blocks` (a piece of a block table, in logical order) deepest first.
    void give_back(Batch& batch, std::span<const BlockId> blocks) noexcept;

    // --- content ----------------------------------------------------------------------------------------------------

    // From now on the live block is known by `content`. REQUIRES it has none, and that make_rank(rank) was called.
    // Several blocks may share one content.
    void set_content(BlockId block, ContentId content, Rank rank) noexcept;

    // The block is no longer known by anything; an idle block keeps its place in the queue. REQUIRES it has content
    // and no pin.
    void drop_content(BlockId block) noexcept;

    // The rank of a block with content changes. A live one joins the list of the rank when it becomes idle; an idle one
    // joins it now, as if it had just become idle. REQUIRES make_rank(rank).
    void set_rank(BlockId block, Rank rank) noexcept;
    Rank rank(BlockId block) const noexcept { return ranks_[to_index(block)]; }

    // Makes the list of a rank; the only call here that may allocate for it.
    void make_rank(Rank rank);

    // Pins nest. REQUIRES a cached, live or fenced block with content.
    void pin(BlockId block) noexcept;
    void unpin(BlockId block) noexcept;

    // --- device steps -----------------------------------------------------------------------------------------------

    // Opens a step: blocks given up from now until it ends stay fenced. ERRORS invalid_argument: already open.
    expected<void> step_begin(StepId step);

    // Ends a step; what waits for no other step joins the queue as one batch, in the order in which it was given up.
    // COST O(open steps + blocks that join). ERRORS invalid_argument: not open.
    expected<void> step_end(StepId step) noexcept;

    bool step_is_open() const noexcept { return fences_.any_open(); }

    // --- questions --------------------------------------------------------------------------------------------------

    std::uint32_t blocks() const noexcept { return blocks_; }
    std::uint32_t free_blocks() const noexcept { return free_; }
    std::uint32_t cached_blocks() const noexcept { return cached_; }
    std::uint32_t live_blocks() const noexcept { return live_; }
    std::uint32_t fenced_blocks() const noexcept { return fenced_; }
    std::uint32_t pinned_blocks() const noexcept { return pinned_; }
    std::uint32_t idle_blocks() const noexcept { return free_ + cached_ - idle_pinned_; }

    BlockState state(BlockId block) const noexcept;
    std::uint32_t refs(BlockId block) const noexcept { return at(block).refs; }
    std::uint32_t pins(BlockId block) const noexcept { return pins_[to_index(block)]; }

    // Who must be asked before the block is written: its references, and its pins as one more holder.
    std::uint32_t holders(BlockId block) const noexcept { return refs(block) + (pins(block) > 0 ? 1 : 0); }
    ContentId content(BlockId block) const noexcept { return at(block).content; }

    // Whether the block is in the queue.
    bool is_takeable(BlockId block) const noexcept { return holders(block) == 0 && !is_fenced(block); }

    // Orders the idle blocks by the moment when they became idle.
    std::uint64_t idle_since(BlockId block) const noexcept { return idle_since_[to_index(block)]; }

    // How many blocks became idle between the moment when a block did and its hit, over all hits of idle blocks: entry
    // i counts the distances of i binary digits, 2^(i - 1) .. 2^i - 1.
    const std::array<std::uint64_t, 65>& reuse_distances() const noexcept { return reuse_distances_; }

    // Walks the queue from the block that is taken next: next_idle(null_block) is the front, null_block ends the walk.
    // COST O(1), and O(ranks) at the end of a rank.
    BlockId next_idle(BlockId block) const noexcept;

    // Walks the fenced blocks in the order in which they were given up, the same way. COST O(1).
    BlockId next_fenced(BlockId block) const noexcept {
        const BlockId next = at(block == null_block ? fence_ : block).next;
        return next == fence_ ? null_block : next;
    }

    // How many of the open steps, the oldest ones, a block waits for; 0 when it is not fenced. COST O(open steps).
    std::size_t waits_for(BlockId block) const noexcept { return fences_.open_at(fenced_until_[to_index(block)]); }

    // Adds everything that decides future behaviour. COST O(blocks).
    void add_to(Digest& digest) const noexcept;

private:
    friend struct Tamper;  // tests only: breaks a state on purpose to see it caught

    struct Record {
        std::uint32_t refs = 0;
        BlockId prev = null_block;
        BlockId next = null_block;
        ContentId content = no_content;
    };
    struct RankList {
        Rank rank;
        BlockId sentinel;
    };

    Record& at(BlockId block) noexcept { return records_[to_index(block)]; }
    const Record& at(BlockId block) const noexcept { return records_[to_index(block)]; }
    bool is_sentinel(BlockId block) const noexcept { return block == null_block || to_index(block) > blocks_; }
    bool is_fenced(BlockId block) const noexcept { return fenced_until_[to_index(block)] != 0; }
    BlockId first_of_lists(std::size_t from) const noexcept;
    BlockId list_of(Rank rank) const noexcept;
    void require_owned(BlockId block) const noexcept;
    void insert_after(BlockId where, BlockId block) noexcept;
    void unlink(BlockId block) noexcept;
    void enqueue(Batch& batch, BlockId block) noexcept;
    void fence(BlockId block) noexcept;

    // [blocks + 2 + ranks]: 0 is the sentinel of the blocks without content, blocks + 1 that of the fenced ones.
    std::vector<Record> records_;
    std::vector<std::uint64_t> fenced_until_;  // [blocks + 1] the epoch that must have passed; 0 when not fenced
    std::vector<std::uint32_t> pins_;          // [blocks + 1]
    std::vector<Rank> ranks_;                  // [blocks + 1]
    std::vector<RankList> lists_;              // ascending by rank
    std::vector<std::uint64_t> idle_since_;    // [blocks + 1] became_idle_ when the block became idle
    std::array<std::uint64_t, 65> reuse_distances_{};
    std::uint64_t became_idle_ = 0;
    Fences fences_;
    BlockId fence_{0};
    std::uint32_t blocks_;
    std::uint32_t free_;
    std::uint32_t cached_ = 0;
    std::uint32_t live_ = 0;
    std::uint32_t fenced_ = 0;
    std::uint32_t pinned_ = 0;
    std::uint32_t idle_pinned_ = 0;  // pinned and cached: in no queue
    IdleOrder order_;
};

}  // namespace kvpane

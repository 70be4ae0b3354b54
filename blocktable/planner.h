// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <kvpane/allocator/block_pool.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/block_shape.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/plan.h>
#include <kvpane/blocktable/prefix_search.h>
#include <kvpane/blocktable/sequences.h>

namespace kvpane {

// What one sequence asks for in a batch.
struct SequencePlan {
    std::uint32_t index = 0;   // slot of the sequence
    Length begin = 0;          // first position whose cell is asked for
    Length cells = 0;          // so many from there on
    Length cells_before = 0;   // of the batch: where this sequence's slots start
    bool is_quiet = false;     // the cells lie in its own tail blocks: nothing is dropped, copied or taken
    bool adopts = false;       // an admission: the blocks in its tables are hits that it does not hold yet
    bool copies_tail = false;  // an admission: its tail block is only the source of a copy
};

// What that means in one group.
struct GroupPlan {
    std::uint32_t first = 0;       // drop the blocks before this one: no query from here on sees them
    std::uint32_t end = 0;         // the table's size afterwards
    std::uint32_t copy_cells = 0;  // the tail block is shared: copy this many cells into a new one (0 = no copy)
    bool fills_hole = false;       // the tail's earlier cells are gone: a new block goes into the hole
};

// The one place that says what an operation takes. A plan is made completely before anything is applied, and applying
// it cannot fail.
//
// A batch is planned by playing it through in the order in which it will be applied (each sequence: first drop what
// left the windows, then take), on the counts alone: the room, and how many holders each shared block would have left.
class Planner {
public:
    // The references must outlive the planner.
    Planner(const Config& config, const BlockShape& shape, const BlockPool& pool, const Sequences& sequences);

    // Starts a batch. The vectors keep their capacity.
    void start() noexcept;

    // Adds `cells` cells for the living sequence in slot `index`.
    void ask(std::uint32_t index, Length cells);

    // A new sequence in slot `index`: its length and tables are those of the hits, none of which it holds yet. They
    // are no room for anybody. With `copies_tail` each table ends with the block to copy the tail's cells from.
    void ask_admission(std::uint32_t index, Length cells, bool copies_tail);

    // Decides about everything that was asked for. ENSURES with verdict ok, applying the sequence plans in order
    // takes exactly blocks_needed blocks and finds them in the queue.
    // COST O(batch + blocks dropped); with verdict `later` or `never` also O(blocks held by the batch).
    Plan decide();

    // The same for one admission. Were it alone it would have to compute `cold` tokens: no hits, but no others either.
    Plan decide_admission(Length cold, std::int64_t watermark);

    // A new sequence of `count` tokens in chunks of `chunk` (0 = all at once), the first `match` of which are cached;
    // `watermark` blocks of the room are left to others by the first chunk. `search` is that which found the match,
    // nullptr when nothing is cached. COST O(groups * (block_size + window / chunk)), however long the prompt.
    Plan prompt(Length count, Length chunk, std::int64_t watermark, const Match& match,
                const PrefixSearch* search) const;

    // The longest sequence that the configuration allows.
    Length limit() const noexcept;

    // Whether everything that was asked for lies in blocks that are held already: the verdict is ok, nothing is taken.
    bool is_all_quiet() const noexcept { return quiet_ == asked_.size() && !too_long_; }

    Length cells() const noexcept { return cells_; }  // of everything that was asked for
    std::span<const SequencePlan> sequence_plans() const noexcept { return asked_; }

    // [n_groups] REQUIRES decide() said ok, and the sequence is not quiet.
    std::span<const GroupPlan> group_plans(const SequencePlan& plan) const noexcept {
        const auto at = static_cast<std::size_t>(&plan - asked_.data());
        return std::span(groups_).subspan(at * sequences_.groups(), sequences_.groups());
    }

private:
    friend struct Tamper;

    // How many holders a block would have left, while a batch is played through. Only shared blocks are written down.
    class Holders {
    public:
        explicit Holders(std::uint32_t blocks) : words_(blocks + std::size_t{1}) {
            known_.reserve(std::min<std::size_t>(blocks, 65'536));  // more shared blocks in one batch: it grows
        }

        std::uint32_t left(BlockId block, const BlockPool& pool) const noexcept;
        void drop_one(BlockId block, const BlockPool& pool);
        void add_one(BlockId block);  // counts from zero: what the pool says is not asked
        void mark_source(BlockId block) noexcept { words_[to_index(block)] |= source_bit; }
        bool is_source(BlockId block) const noexcept { return (words_[to_index(block)] & source_bit) != 0; }
        std::size_t blocks() const noexcept { return known_.size(); }
        void clear() noexcept;

    private:
        static constexpr std::uint32_t known_bit = 1U << 31U;
        static constexpr std::uint32_t source_bit = 1U << 30U;
        static constexpr std::uint32_t count_mask = source_bit - 1;

        std::vector<std::uint32_t> words_;  // [blocks + 1] count and bits; 0 when not known
        std::vector<BlockId> known_;
    };

    // A batch while it is played through.
    struct Play {
        std::int64_t room = 0;
        bool dropped_is_room = true;  // false while a device step is open: what is dropped now is fenced
        std::int64_t taken = 0;
        std::int64_t copies = 0;
        bool fits = true;
    };

    bool is_quiet(std::uint32_t index, Length begin, Length cells) const noexcept;
    std::uint32_t first_kept(std::uint32_t index, std::uint32_t group) const noexcept;
    std::int64_t idle_hits() const noexcept;
    Play play(std::int64_t room, bool dropped_is_room);
    std::uint32_t plan_drop(const SequencePlan& plan, std::uint32_t group, Play& play);
    GroupPlan plan_take(const SequencePlan& plan, std::uint32_t group, std::uint32_t first, Play& play);
    bool fits_alone();
    std::int64_t new_blocks(Length begin, Length end, std::uint32_t hits) const noexcept;
    std::int64_t peak(Length cached, Length count, Length step) const noexcept;
    std::int64_t idle_hits(Length begin, const Match& match, const PrefixSearch& search, bool windowed) const noexcept;

    const Config& config_;
    const BlockShape& shape_;
    const BlockPool& pool_;
    const Sequences& sequences_;
    std::vector<SequencePlan> asked_;
    std::vector<GroupPlan> groups_;  // [asked, n_groups] those of quiet sequences are left as they were; only grows
    Holders holders_;
    Length cells_ = 0;
    std::size_t quiet_ = 0;  // of what was asked
    bool too_long_ = false;  // something asked for passes limit(), or the row that mirrors its table
};

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/allocator/block_pool.h>
#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/prefix_index.h>
#include <kvpane/blocktable/block_shape.h>
#include <kvpane/blocktable/block_table.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/histories.h>
#include <kvpane/blocktable/observer.h>
#include <kvpane/blocktable/plan.h>
#include <kvpane/blocktable/planner.h>
#include <kvpane/blocktable/prefix_search.h>
#include <kvpane/blocktable/sequences.h>
#include <kvpane/blocktable/statistics.h>
#include <kvpane/blocktable/step.h>

namespace kvpane {

struct Admission {
    SequenceHandle sequence;
    Length cached_tokens = 0;  // length of the reused prefix
    Step step;                 // for the tokens that were committed
};

// A read-only view of one block table; valid until the next non-const call of the Manager.
struct TableView {
    std::span<const BlockId> sinks;  // logical blocks [0, sinks.size())
    std::span<const BlockId> run;    // logical blocks [run_begin, size)
    std::uint32_t run_begin = 0;
    std::uint32_t size = 0;     // logical blocks, holes included
    Length first_resident = 0;  // start of the unbroken run of cells that ends at the tail
    Length cells = 0;           // where that run ends: committed tokens and reserved cells

    // The block at a logical index; null_block for holes and beyond the end.
    BlockId operator[](std::size_t entry) const {
        if (entry < sinks.size()) {
            return sinks[entry];
        }
        return entry >= run_begin && entry < size ? run[entry - run_begin] : null_block;
    }
    std::size_t held() const { return sinks.size() + run.size(); }
};

// Entries of a bound row that were written since the last take; empty when begin == end.
struct RowChange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

// The memory manager that an engine embeds: block tables for sequences in several attention groups over one pool.
//
// One object per device, owned by the scheduling thread: non-const members need external synchronisation, const members
// may run in parallel with each other. Nothing reads a clock, a global or a random source: equal calls give equal ids.
// After construction no operation allocates in steady state (see Config::expected_sequences).
//
// ERRORS. Every operation is all or nothing: an Error leaves digest() as it was. Those that take a handle report
// unknown_sequence for a stale or foreign one; this is not repeated below. `slots`, `cells`, `copies`: see Step.
class Manager {
public:
    // REQUIRES validate(config) finds nothing; else throws std::invalid_argument with its sentence.
    explicit Manager(Config config);

    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    // Becomes what `other` is: from here on equal calls give equal results in both, and a handle of the one names the
    // same sequence in the other. For who wants to look ahead, or to come back to a state. Rows stay bound to `other`
    // alone, and so does its observer. REQUIRES both were made from equal configs.
    // COST O(pool + tables + index); nothing is allocated where this one has been as large before.
    void assign(const Manager& other);

    // From now on `observer` sees every operation (not the plans and questions, nor bound rows); nullptr ends that. It
    // must outlive the Manager or its attachment. COST without one: a test an operation.
    void attach(Observer* observer) noexcept {
        observer_ = observer;
        unseen_ = observer == nullptr ? never_seen : 0;
    }

    // --- operations -------------------------------------------------------------------------------------------------

    // Creates a sequence that shares the longest cached prefix of the prompt, reserves and commits the rest (its first
    // `compute` tokens; compute 0: nothing). At least one token is left to compute.
    // COST O(tokens). ERRORS later, never, invalid_argument (empty prompt, negative token or compute, `extra` not in
    // order or not within the tokens).
    expected<Admission> admit(const Prompt& prompt);

    // Hands out cells for the next positions of each sequence, in order; they are not history until commit(). First
    // gives back the blocks that no query from here on sees; a shared tail block is replaced by a copy.
    // COST O(batch + cells + blocks dropped). ERRORS later, never, invalid_argument (an empty
    // batch, cells < 1, a sequence twice).
    expected<Step> reserve(std::span<const Reservation> batch);

    // The first tokens.size() reserved cells now hold these tokens. An empty commit does nothing.
    // COST O(tokens). ERRORS not_reserved, invalid_argument (negative token).
    expected<void> commit(SequenceHandle sequence, std::span<const Token> tokens);

    // Gives back what is reserved and not committed; nothing when nothing is.
    expected<void> cancel(SequenceHandle sequence);

    // reserve() and commit() in one call. ERRORS later, never, busy, invalid_argument (no tokens, negative token).
    expected<Step> append(SequenceHandle sequence, std::span<const Token> tokens);

    // One token for each sequence: reserves for all in order, then commits in order.
    // ERRORS as append(); invalid_argument also for an empty batch, a sequence twice, another number of tokens.
    expected<Step> append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens);

    // A child with the same history, or its first `at` tokens; it shares every block, nothing is copied now.
    // COST O(blocks shared). ERRORS busy, window_evicted, invalid_argument (at < 0 or beyond the length).
    expected<SequenceHandle> fork(SequenceHandle parent, std::optional<Length> at = std::nullopt);

    // Forgets everything from position `length` on, and what is reserved.
    // COST O(blocks dropped). ERRORS window_evicted, invalid_argument (length < 0 or beyond the length).
    expected<void> truncate(SequenceHandle sequence, Length length);

    // Ends the sequence. What the index knows stays behind for others; with keep_cached = false the blocks that the
    // sequence filled itself (not its hits) are forgotten. COST O(blocks held).
    expected<void> release(SequenceHandle sequence, bool keep_cached = true);

    // A device step is in flight: what is given up until it ends stays fenced. ERRORS invalid_argument (already open).
    expected<void> step_begin(StepId step);

    // ERRORS invalid_argument (not open).
    expected<void> step_end(StepId step);

    // --- the prefix cache; all of it does nothing while Config::prefix_cache is off --------------------------------

    // How many tokens of the prompt a new sequence would find. Changes nothing, not even recency. Not const: it uses
    // the Manager's scratch memory. ERRORS as admit(), later and never aside.
    expected<Length> probe(const Prompt& prompt);

    // Drops up to `blocks` idle cached blocks in policy order and says how many; pinned ones stay.
    // COST O(blocks + idle blocks without content on the way). ERRORS invalid_argument (blocks < 0).
    expected<Length> evict(Length blocks);

    // Takes logical blocks of the sequence out of the index, in all groups, pins and all (their load failed, say).
    // ERRORS invalid_argument (an entry beyond the tables).
    expected<void> uncache(SequenceHandle sequence, std::span<const Length> entries);

    // Keeps the longest cached prefix of tokens (up to all of them) from being evicted; pins nest. Returns the blocks
    // that it pinned, 0 without a match. ERRORS as probe(); later (more than most_pinned).
    expected<Length> pin(const Prompt& prompt);

    // Takes one pin back from what pin() would find now. ERRORS as probe(); invalid_argument (a block has no pin).
    expected<Length> unpin(const Prompt& prompt);

    // Forgets every idle cached block that is not pinned; they keep their places in the queue.
    // COST O(idle blocks).
    void reset_cache();

    // What can be hit, and the changes of it.
    std::uint32_t index_entries() const noexcept { return index_ ? index_->entries() : 0; }
    CacheEvents::Totals cache_totals() const noexcept {
        return index_ ? index_->events().totals() : CacheEvents::Totals{};
    }
    const PrefixIndex* index() const noexcept { return index_ ? &*index_ : nullptr; }

    // --- plans: the same function that the operations use; they change nothing -------------------------------------

    // A new sequence of `count` tokens that finds nothing cached, fed in chunks of `chunk` (0 = all at once), now: while
    // a device step is open, what its windows drop is fenced and no room. COST O(groups * block_size).
    // ERRORS invalid_argument (count < 1, chunk < 0).
    expected<Plan> plan_prompt(Length count, Length chunk = 0) const;

    // The same for a prompt that may find a prefix. Not const: it uses the Manager's scratch memory.
    expected<Plan> plan_prompt(const Prompt& prompt, Length chunk = 0);

    // What reserve(batch) would need. Not const: it uses the Manager's scratch memory.
    // ERRORS as reserve(), later and never aside: these are the verdict.
    expected<Plan> plan(std::span<const Reservation> batch);

    // --- questions --------------------------------------------------------------------------------------------------

    const Config& config() const noexcept { return config_; }
    const BlockPool& pool() const noexcept { return pool_; }
    const Statistics& statistics() const noexcept { return statistics_; }
    std::uint32_t groups() const noexcept { return sequences_.groups(); }
    std::uint32_t sequences() const noexcept { return sequences_.alive(); }
    bool is_alive(SequenceHandle sequence) const noexcept { return sequences_.find(sequence) != nullptr; }
    std::vector<SequenceHandle> living() const;  // COST O(slots)

    expected<Length> length(SequenceHandle sequence) const;    // committed tokens
    expected<Length> reserved(SequenceHandle sequence) const;  // cells handed out and not committed

    // ERRORS invalid_argument (no such group).
    expected<TableView> table(SequenceHandle sequence, GroupId group) const;

    // A digest of everything that decides future behaviour (statistics aside). COST O(pool + tables).
    std::uint64_t digest() const;

    // --- bound rows -------------------------------------------------------------------------------------------------

    // From now on `row` (the caller's memory, int32 block ids by logical block, 0 for holes and behind the end) mirrors
    // the sequence's table in `group`, until unbind_row() or the end of the sequence; the memory must live as long.
    // The whole row counts as changed. An operation that would outgrow the row is Error::never.
    // COST O(row). ERRORS invalid_argument (no such group, or the row is shorter than the table is now).
    expected<void> bind_row(SequenceHandle sequence, GroupId group, std::span<std::int32_t> row);
    expected<void> unbind_row(SequenceHandle sequence, GroupId group);

    // The entries to upload; taking them starts a new list. ERRORS invalid_argument (no such group, no row bound).
    expected<RowChange> take_row_change(SequenceHandle sequence, GroupId group);

private:
    friend struct Tamper;  // tests only: breaks a state on purpose to see it caught

    // Runs an operation; the observer sees it if it wants to. `describe` makes the Call only then.
    template <class Describe, class Run, class... Arguments>
    auto observed(Describe describe, Run run, Arguments... arguments);
    template <class Describe, class Run, class... Arguments>
    auto reported(Describe describe, Run run, Arguments... arguments);

    // The operations, unobserved.
    expected<Admission> do_admit(const Prompt& prompt);
    expected<Step> do_reserve(std::span<const Reservation> batch);
    expected<void> do_commit(SequenceHandle sequence, std::span<const Token> tokens);
    expected<void> do_cancel(SequenceHandle sequence);
    expected<Step> do_append(SequenceHandle sequence, std::span<const Token> tokens);
    expected<Step> do_append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens);
    expected<SequenceHandle> do_fork(SequenceHandle parent, std::optional<Length> at);
    expected<void> do_truncate(SequenceHandle sequence, Length length);
    expected<void> do_release(SequenceHandle sequence, bool keep_cached);
    expected<void> do_step_end(StepId step);
    expected<Length> do_evict(Length blocks);
    expected<void> do_uncache(SequenceHandle sequence, std::span<const Length> entries);
    expected<Length> do_pin(const Prompt& prompt);
    expected<Length> do_unpin(const Prompt& prompt);
    void do_reset_cache();

    // Starts a call: what the last one handed out is gone. end_call() gives back the sources of its copies, last.
    void begin_call() noexcept;
    void end_call() noexcept;

    expected<void> ask(std::span<const Reservation> batch);
    expected<void> ask(SequenceHandle handle, Length cells);
    expected<void> take_what_was_asked();
    void make_room(const Plan& plan);
    void make_room_for_slots();
    void apply(const SequencePlan& plan) noexcept;
    void hand_out(const SequencePlan& plan) noexcept;
    void take_blocks(const SequencePlan& plan, GroupId group, const GroupPlan& planned) noexcept;
    void write_slots(const SequencePlan& plan, GroupId group) noexcept;
    void commit_cells(std::uint32_t index, std::span<const Token> tokens) noexcept;
    void drop_before(BlockTable& table, std::uint32_t first) noexcept;
    void shrink(std::uint32_t index, Length length) noexcept;
    BlockId take() noexcept;
    Step step() const noexcept;
    unexpected<Error> refuse(Verdict verdict) noexcept;
    Sequence* find(SequenceHandle handle) noexcept {
        return sequences_.find(handle) == nullptr ? nullptr : &sequences_[handle.index];
    }
    std::int64_t watermark() const noexcept { return sequences() > 0 ? config_.watermark : 0; }

    // Admission and the prefix cache.
    bool is_sound(const Prompt& prompt) const noexcept;
    Match search(const Prompt& prompt, Length most);
    void adopt(std::uint32_t index, const Match& match);
    void prepare(std::uint32_t index, const Prompt& prompt, const Match& match, Length computed);
    void hold_hits(std::uint32_t index, const Prompt& prompt);
    void note_expiry(BlockId block, std::int64_t priority, std::uint64_t steps) noexcept;
    void make_room_to_expire();
    void expire_priorities() noexcept;
    template <class F>
    void for_each_held(std::uint32_t index, F visit) const;
    void make_room_to_commit(std::uint32_t index, Length cells);
    void make_room_to_publish(std::uint32_t index, std::size_t blocks);
    std::size_t blocks_completed(std::uint32_t index, Length cells) const noexcept;
    void make_room_for_expiries(std::size_t more);
    void publish_new(std::uint32_t index, std::span<const Token> tokens);
    void publish(std::uint32_t index, ContentId node, Length entry);
    void publish_tail(std::uint32_t index);
    void withdraw(BlockId block);
    void forget(std::uint32_t index);
    expected<void> collect_hits(const Prompt& prompt);

    bool is_group(GroupId group) const noexcept { return to_index(group) < groups(); }

    Config config_;
    BlockShape shape_;
    BlockPool pool_;
    Sequences sequences_;
    std::optional<PrefixIndex> index_;  // only while the prefix cache is on, like the next two
    std::optional<Histories> histories_;
    std::optional<PrefixSearch> search_;
    const Ranking* ranking_ = nullptr;
    Planner planner_;
    Statistics statistics_;
    Observer* observer_ = nullptr;
    static constexpr std::int64_t never_seen = std::numeric_limits<std::int64_t>::max();
    std::int64_t unseen_ = never_seen;  // operations until the observer wants to see one
    std::uint64_t batch_mark_ = 0;  // of the current call; see Sequence::batch_mark

    // What the current call hands out; kept so that a Step can point into it and nothing is allocated anew.
    std::vector<Slot> slots_;  // [n_groups, cells_]; only grows
    std::vector<BlockCopy> copies_;
    std::vector<BlockId> blocks_;  // scratch

    // Priorities that end. A heap with stale entries in it: the latest due of a block is the one that counts.
    struct Expiry {
        std::uint64_t due = 0;  // in ended steps
        BlockId block = null_block;
        bool operator<(const Expiry& other) const noexcept { return due > other.due; }
        bool operator==(const Expiry&) const = default;
    };
    std::vector<Expiry> expiries_;
    std::vector<std::uint64_t> due_;  // [blocks + 1] 0 = never
    std::uint64_t steps_ended_ = 0;
    Length cells_ = 0;
    std::int64_t blocks_taken_ = 0;
};

// Inlined, so that who looks at many tables pays only for the fields that it reads.
inline expected<TableView> Manager::table(SequenceHandle sequence, GroupId group) const {
    const Sequence* found = sequences_.find(sequence);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (!is_group(group)) {
        return unexpected(Error::invalid_argument);
    }
    const BlockTable& table = sequences_.table(sequence.index, group);
    return TableView{table.sink_part(), table.run_part(), table.first(), table.size(),
                     table.first_resident(shape_, found->length), found->length + found->reserved};
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <kvpane/allocator/block_pool.h>
#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/plan.h>

// The contract once more, as naively as it can be said: every cell that is held is an element of a set, every operation
// is played through on a copy, `never` is found by sending everybody else away and trying again. What a block is known
// by is the whole list of tokens up to its end, compared one by one; a prefix is searched by trying every length. It
// shares nothing with the library but ids, Config, Rank and the names of errors, and predicts exact block ids.
namespace kvpane::testing {

// Sequences are named by numbers that are never used twice.
using Name = int;

// One token with what it stands for: cell `skipped` of the external content `image`, 0 = of none.
struct ModelCell {
    Token token = 0;
    int image = 0;
    Length skipped = 0;

    friend bool operator==(const ModelCell&, const ModelCell&) = default;
};

// Positions [at, at + count) of a prompt stand for `image`.
struct Picture {
    Length at = 0;
    Length count = 0;
    int image = 0;
};

struct ModelPrompt {
    std::vector<Token> tokens;
    std::optional<Length> compute{};
    int scope = 0;  // whatever differs, differs
    std::vector<Picture> pictures{};
    std::int64_t priority = 0;
    std::uint64_t priority_steps = 0;  // 0 = the priority stays
};

// What a block is known by: everything from position 0 to its end.
struct ModelContent {
    int scope = 0;
    std::uint32_t group = 0;
    std::vector<ModelCell> cells;

    friend bool operator==(const ModelContent&, const ModelContent&) = default;
};

struct ModelBlock {
    std::shared_ptr<const ModelContent> content;  // nullptr: nothing can be found in it
    std::uint64_t age = 0;                        // since when, as a number that grows
    Rank rank;
    std::optional<std::uint64_t> due;  // the number of ended steps at which its priority becomes 0
    std::uint32_t pins = 0;
    std::optional<Rank> place;  // in the queue; nothing: before all ranks
};

// The longest prefix that is found.
struct ModelMatch {
    Length cut = 0;
    std::vector<std::vector<std::uint32_t>> whole;  // [n_groups][cut / block_size] 0 where none is needed
    std::vector<std::uint32_t> sources;             // [n_groups] to copy the last cells from, 0 = none

    std::vector<std::uint32_t> blocks() const;  // group by group, deepest first
};

struct ModelTable {
    std::vector<std::uint32_t> ids;            // by logical block, 0 where nothing is held
    std::set<Length> cells;                    // the positions that are held
    std::optional<std::uint32_t> row_entries;  // of a bound row
};

struct ModelSequence {
    std::vector<ModelCell> history;
    int scope = 0;
    std::vector<Picture> pictures;
    std::int64_t priority = 0;
    std::uint64_t priority_steps = 0;
    Length own_from = 0;  // the cells from here on it filled itself
    Length reserved = 0;
    std::vector<ModelTable> tables;  // [n_groups]

    Length length() const { return static_cast<Length>(history.size()); }
    Length covered() const { return length() + reserved; }
};

struct ModelCopy {
    std::uint32_t group = 0;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    Length cells = 0;

    friend bool operator==(const ModelCopy&, const ModelCopy&) = default;
};

// What an operation answers.
struct Answer {
    std::optional<Error> error;
    std::vector<std::vector<Slot>> slots;  // [n_groups][cells]
    std::vector<ModelCopy> copies;
    Length cells = 0;
    std::int64_t taken = 0;
    Length cached = 0;  // tokens found by an admission or a probe; blocks that a cache operation worked on
};

// Running totals.
struct ModelTotals {
    std::uint64_t queried = 0;
    std::uint64_t hit = 0;
    std::uint64_t evicted = 0;
    std::uint64_t stored = 0;
    std::uint64_t removed = 0;
    std::uint64_t cleared = 0;
    std::uint64_t replaced_tails = 0;
    std::uint64_t withdrawn_by_writer = 0;
    std::uint64_t fenced_hits = 0;
    std::uint64_t ended_priorities = 0;
};

struct Ask {
    Name name = 0;
    Length cells = 0;
};

class Model {
public:
    explicit Model(const Config& config);

    Answer admit(Name name, const ModelPrompt& prompt);
    Answer reserve(const std::vector<Ask>& batch);
    Answer commit(Name name, std::span<const Token> tokens);
    Answer cancel(Name name);
    Answer append(Name name, std::span<const Token> tokens);
    Answer append_batch(const std::vector<Name>& names, std::span<const Token> tokens);
    Answer fork(Name parent, Name child, std::optional<Length> at);
    Answer truncate(Name name, Length length);
    Answer release(Name name, bool keep_cached = true);
    Answer step_begin(std::uint64_t step);
    Answer step_end(std::uint64_t step);
    Answer bind_row(Name name, std::uint32_t group, std::uint32_t entries);
    void unbind_row(Name name, std::uint32_t group);

    Answer probe(const ModelPrompt& prompt) const;
    Answer evict(Length blocks);
    Answer uncache(Name name, const std::vector<Length>& entries);
    Answer pin(const ModelPrompt& prompt);
    Answer unpin(const ModelPrompt& prompt);
    void reset_cache();

    // A prompt that finds nothing, and one that may.
    Plan plan_prompt(Length count, Length chunk) const;
    Plan plan_prompt(const ModelPrompt& prompt, Length chunk) const;
    // What reserve(batch) would need; an error other than later and never is not a plan. How many blocks a call would
    // need that passes max_length or a bound row, the contract does not say.
    static constexpr std::int64_t not_said = -1;
    std::pair<Plan, std::optional<Error>> plan(const std::vector<Ask>& batch) const;

    const std::map<Name, ModelSequence>& sequences() const { return sequences_; }
    const std::deque<std::uint32_t>& queue() const { return queue_; }
    std::uint32_t refs(std::uint32_t block) const { return refs_.at(block); }
    std::size_t fenced() const { return fenced_.size(); }
    std::size_t live() const;
    std::size_t cached() const;  // idle, and known by something
    std::size_t pinned() const;
    std::size_t entries() const;
    const ModelBlock& block(std::uint32_t block) const { return blocks_.at(block); }
    const ModelTotals& totals() const { return totals_; }
    const std::set<std::uint64_t>& open_steps() const { return open_; }
    std::uint32_t groups() const { return static_cast<std::uint32_t>(config_.groups.size()); }

    // The start of the unbroken run of cells that ends at the tail.
    Length first_resident(Name name, std::uint32_t group) const;

private:
    struct NoRoom {};
    struct Fenced {
        std::uint32_t block;
        std::set<std::uint64_t> waits_for;
    };

    Length size() const { return Length{config_.block_size}; }
    Length blocks_for(Length cells) const { return (cells + size() - 1) / size(); }
    Length need(std::uint32_t group, Length n) const;
    std::optional<Error> refused(const std::vector<Ask>& batch) const;
    bool passes_a_limit(const std::vector<Ask>& batch) const;
    bool needs_are_held(const ModelSequence& sequence, Length length) const;
    static std::optional<Error> unsound(const ModelPrompt& prompt);

    // The prefix cache.
    ModelMatch find(const ModelPrompt& prompt, Length most) const;
    std::optional<ModelMatch> serve(int scope, const std::vector<ModelCell>& prefix) const;
    std::uint32_t oldest(const ModelContent& content) const;
    std::size_t copies_of(const ModelContent& content) const;
    void adopt(ModelSequence& sequence, const ModelMatch& match, const ModelPrompt& prompt);
    void hold(std::uint32_t block, const ModelPrompt& prompt);
    void end_priorities();
    std::optional<std::uint64_t> due(std::int64_t priority, std::uint64_t steps) const;
    void publish(const ModelSequence& sequence, std::uint32_t group, std::size_t entry);
    void publish_tails(const ModelSequence& sequence);
    static ModelCell cell(Token token, Length position, const std::vector<Picture>& pictures);
    static void forget(ModelSequence& sequence, Length length);
    void withdraw(std::uint32_t block);
    void withdraw_own(const ModelSequence& sequence);
    void empty_cache();
    bool is_idle(std::uint32_t block) const;

    std::uint32_t take();
    void give_back(const std::vector<std::uint32_t>& batch);
    void join_queue(const std::vector<std::uint32_t>& batch);
    void leave_queue(std::uint32_t block);
    void add_blocks(Length more);
    void drop_below(ModelSequence& sequence, std::uint32_t group, Length position);
    void cut(ModelSequence& sequence, Length length);
    void leave_only(const std::set<Name>& names);
    std::size_t holders(std::uint32_t block) const;

    void hand_out(ModelSequence& sequence, Length cells, Answer& answer, const ModelMatch* match = nullptr);
    void take_in_group(ModelSequence& sequence, std::uint32_t group, Length cells, Answer& answer);
    void copy_tail(ModelSequence& sequence, std::uint32_t group, std::uint32_t source, Answer& answer);
    void write(ModelSequence& sequence, std::span<const Token> tokens);
    Answer play_admission(Name name, const ModelPrompt& prompt, const ModelMatch& match);
    std::int64_t feed(const ModelPrompt& prompt, const ModelMatch& match, Length chunk);
    Answer reserve_all(const std::vector<Ask>& batch);
    void end_call();

    template <class Play>
    Answer attempt(const std::set<Name>& names, Play play);

    Config config_;
    std::map<Name, ModelSequence> sequences_;
    std::vector<std::uint32_t> refs_;  // [blocks + 1]
    std::vector<ModelBlock> blocks_;   // [blocks + 1]
    std::deque<std::uint32_t> queue_;
    std::vector<Fenced> fenced_;  // in the order in which they were given up
    std::set<std::uint64_t> open_;
    std::vector<std::uint32_t> sources_;  // of this call's copies: given back when it ends
    std::uint64_t next_age_ = 1;
    std::uint64_t steps_ended_ = 0;
    ModelTotals totals_;
};

}  // namespace kvpane::testing

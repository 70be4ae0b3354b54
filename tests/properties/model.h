// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/plan.h>

// The contract once more, as naively as it can be said: every cell that is held is an element of a set, every operation
// is played through on a copy, `never` is found by sending everybody else away and trying again. It shares nothing with
// the library but ids, Config and the names of errors, and predicts exact block ids.
namespace kvpane::testing {

struct ModelTable {
    std::vector<std::uint32_t> ids;            // by logical block, 0 where nothing is held
    std::set<Length> cells;                    // the positions that are held
    std::optional<std::uint32_t> row_entries;  // of a bound row
};

struct ModelSequence {
    std::vector<Token> history;
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
};

// Sequences are named by numbers that are never used twice.
using Name = int;

struct Ask {
    Name name = 0;
    Length cells = 0;
};

class Model {
public:
    explicit Model(const Config& config);

    Answer admit(Name name, std::span<const Token> prompt, std::optional<Length> compute);
    Answer reserve(const std::vector<Ask>& batch);
    Answer commit(Name name, std::span<const Token> tokens);
    Answer cancel(Name name);
    Answer append(Name name, std::span<const Token> tokens);
    Answer append_batch(const std::vector<Name>& names, std::span<const Token> tokens);
    Answer fork(Name parent, Name child, std::optional<Length> at);
    Answer truncate(Name name, Length length);
    Answer release(Name name);
    Answer step_begin(std::uint64_t step);
    Answer step_end(std::uint64_t step);
    Answer bind_row(Name name, std::uint32_t group, std::uint32_t entries);
    void unbind_row(Name name, std::uint32_t group);

    Plan plan_prompt(Length count, Length chunk) const;
    // What reserve(batch) would need; an error other than later and never is not a plan. How many blocks a call would
    // need that passes max_length or a bound row, the contract does not say.
    static constexpr std::int64_t not_said = -1;
    std::pair<Plan, std::optional<Error>> plan(const std::vector<Ask>& batch) const;

    const std::map<Name, ModelSequence>& sequences() const { return sequences_; }
    const std::deque<std::uint32_t>& queue() const { return queue_; }
    std::uint32_t refs(std::uint32_t block) const { return refs_.at(block); }
    std::size_t fenced() const { return fenced_.size(); }
    std::size_t live() const;
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

    std::uint32_t take();
    void give_back(const std::vector<std::uint32_t>& batch);
    void join_queue(const std::vector<std::uint32_t>& batch);
    void drop_below(ModelSequence& sequence, std::uint32_t group, Length position);
    void cut(ModelSequence& sequence, Length length);
    void leave_only(const std::set<Name>& names);
    std::size_t holders(std::uint32_t block) const;

    void hand_out(ModelSequence& sequence, Length cells, Answer& answer);
    void take_in_group(ModelSequence& sequence, std::uint32_t group, Length cells, Answer& answer);
    void write(ModelSequence& sequence, std::span<const Token> tokens);
    std::int64_t feed(Length count, Length chunk);
    Answer reserve_all(const std::vector<Ask>& batch);
    void end_call();

    template <class Play>
    Answer attempt(const std::set<Name>& names, Play play);

    Config config_;
    std::map<Name, ModelSequence> sequences_;
    std::vector<std::uint32_t> refs_;  // [blocks + 1]
    std::deque<std::uint32_t> queue_;
    std::vector<Fenced> fenced_;  // in the order in which they were given up
    std::set<std::uint64_t> open_;
    std::vector<std::uint32_t> sources_;  // of this call's copies: given back when it ends
};

}  // namespace kvpane::testing

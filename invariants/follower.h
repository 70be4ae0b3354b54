// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/block_history.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/record.h>
#include <kvpane/invariants/shadow_cells.h>
#include <kvpane/invariants/spec.h>

namespace kvpane::invariants {

// Plays the engine's part of successful operations on shadow cells (copies at once and in order, committed tokens
// through the slots that were handed out), and keeps the history of each sequence as the operations tell it. Of the
// Manager it takes what an engine takes: slots, copies, cuts.
class Follower {
public:
    // Throws std::invalid_argument when the shadow would be too large.
    explicit Follower(const Config& config);

    // --- what happened, in the order in which the Manager does it ---------------------------------------------------

    // First of all for each operation. T3: a copy that leaves the pool, or reads what another one writes.
    Found copied(std::span<const BlockCopy> copies);

    // A new sequence with the first `cut` tokens cached, and the cells of the step committed. REQUIRES the name is free.
    Found admitted(Name name, SequenceHandle handle, const Scope& scope, std::span<const Token> tokens,
                   std::vector<ExternalContent> extra, Length cut, const Step& step);

    // Cells [first, first + cells) of the step are the sequence's next positions. They hold nothing until committed.
    // T5: too few of them, or outside the pool.
    Found handed_out(Name name, const Step& step, Length first, Length cells);

    void committed(Name name, std::span<const Token> tokens);
    void forked(Name parent, Name child, SequenceHandle handle, std::optional<Length> at);

    // Everything from `length` on is forgotten, and what is reserved.
    void shortened(Name name, Length length, const Manager& manager);
    void released(Name name);

    // Logical blocks of the sequence were taken out of the index: for the history of the blocks alone.
    void withdrawn(Name name, std::span<const Length> entries, const Manager& manager);

    // What nobody refers to and nobody can hit must not be read any more. COST O(blocks).
    void poison_idle_blocks(const BlockPool& pool);
    void poison_if_idle(BlockId block, const BlockPool& pool);

    // How messages call the sequences: spellings[name]; without, and beyond, #name.
    void spell(std::vector<std::string> spellings) { spellings_ = std::move(spellings); }

    // --- questions --------------------------------------------------------------------------------------------------

    const std::vector<spec::Rule>& rules() const noexcept { return rules_; }  // [groups]
    ShadowCells& shadow() noexcept { return shadow_; }
    BlockHistory& history() noexcept { return history_; }
    const BlockHistory& history() const noexcept { return history_; }
    const ShadowCells& shadow() const noexcept { return shadow_; }
    const std::deque<Record>& records() const noexcept { return records_; }  // by Name
    // REQUIRES the name was told of.
    const Record& record(Name name) const noexcept { return records_[name]; }
    std::span<const Record* const> living() const noexcept { return living_; }

    Scene scene(const Manager& manager) const { return {manager, shadow_, living_, spellings_}; }
    std::string label(Name name) const { return label_of(name, spellings_); }

    // Scopes count from 0, in the order in which they appear.
    std::uint32_t number_of(const Scope& scope);

private:
    Record& new_record(Name name);
    void note_written(Name name, std::uint32_t group, std::span<const Slot> slots) noexcept;
    static void adopt(Record& record, std::span<const Token> tokens, Length cut);

    std::vector<spec::Rule> rules_;
    WindowRelease release_;
    ShadowCells shadow_;
    BlockHistory history_;
    std::size_t expected_length_;
    std::deque<Record> records_;  // by Name; addresses stay
    std::vector<const Record*> living_;
    std::map<Scope, std::uint32_t> scopes_;
    std::vector<std::string> spellings_;
};

}  // namespace kvpane::invariants

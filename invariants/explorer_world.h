// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/explorer_limits.h>
#include <kvpane/invariants/explorer_snapshot.h>
#include <kvpane/invariants/explorer_spelling.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/spec.h>

namespace kvpane::invariants::explorer {

// What stays the same during an exploration.
struct Setting {
    explicit Setting(const ExploreConfig& config);

    // The first `to` tokens of a prefix of `from`.
    Prefix beginning(Prefix prefix, Length from, Length to) const {
        return prefix / power[static_cast<std::size_t>(from - to)];
    }
    Prefix digit(Prefix prefix, Length from, Length at) const { return beginning(prefix, from, at + 1) % spelling.base; }
    Token token(Prefix prefix, Length from, Length at) const {
        return static_cast<Token>(digit(prefix, from, at) % spelling.alphabet);
    }
    // The number of the external content behind a token, 0 for none.
    Prefix content(Prefix prefix, Length from, Length at) const { return digit(prefix, from, at) / spelling.alphabet; }
    Length length_of(Prefix prefix) const;

    Spelling spelling;
    std::array<Prefix, most_length + 1> power{};  // of the base
    std::array<spec::Rule, most_groups> rules{};
    // [group][cut]: a bit for each logical block that a hit of `cut` tokens needs whole.
    std::array<std::array<std::uint32_t, most_length + 1>, most_groups> hit_needs{};
    std::uint32_t sequences;
    std::uint32_t groups;
    std::uint32_t blocks;
    Length block_size;
    Length limit;  // of a sequence's length
    std::int64_t watermark;
    std::int64_t most_pinned;
    std::uint8_t priority_steps;
    bool has_contents;  // prompts may have external contents
    bool is_cached;  // the prefix cache is on
    bool by_token;
    bool releases_at_commit;
};

// One operation in 8 bytes. What a field means depends on the verb, see to_operation().
struct Move {
    Verb verb = Verb::check;
    std::uint8_t sequence = 0;
    std::uint8_t other = 0;   // fork: the child; append_batch: the second sequence; admit: the priority
    std::uint8_t number = 0;  // admit: 1 + compute, 0 = all; fork: 1 + at, 0 = all; release: keep_cached; plan: chunk;
                              // else the count, length, logical block or step
    Prefix tokens = 1;
};

Operation to_operation(const Move& move, const Setting& setting);

// What an operation gave back. `step` points into the Manager.
struct Result {
    std::optional<Error> error;
    std::optional<Plan> plan;  // verb plan
    Length value = 0;          // admit, probe: cached tokens; evict, pin, unpin: blocks
    Step step;
    SequenceHandle handle;  // admit, fork
};

// What the judge knows beside the Manager: histories, what stands in the cells, and the past that decides the future.
// All of it follows from the operations and the specification. Plain bytes, so that a copy is cheap.
struct Shadow {
    struct Sequence {
        std::array<spec::Holding, most_groups> holdings{};
        std::array<std::array<std::uint8_t, most_length>, most_groups> slots{};  // handed out, not committed
        Prefix prefix = 1;
        std::uint8_t length = 0;
        std::uint8_t reserved = 0;
        std::uint8_t own_from = 0;  // tokens before it were hit or inherited
        std::uint8_t priority = 0;
        bool is_alive = false;
        std::array<std::uint8_t, most_length> contents{};  // external ones, of the prompt, whatever stands there now
    };
    // What a block is known for: how dear, and for how many steps to come; 0 steps = for good.
    struct Rank {
        std::uint8_t priority = 0;
        std::uint8_t steps = 0;
    };
    // A prefix and, in the highest byte, a group; 0 is poison.
    using Cell = std::uint32_t;
    static Cell cell(Prefix prefix, std::uint32_t group) { return prefix | (group << 24U); }

    std::array<Sequence, most_sequences> sequences{};
    Handles handles{};
    std::array<std::array<Cell, most_block_size>, most_blocks + 1> cells{};
    std::array<std::uint32_t, most_blocks + 1> stamps{};  // of an indexed block: grows with the time of its entry
    std::uint32_t last_stamp = 0;
    std::array<Rank, most_blocks + 1> ranks{};  // of an idle block that lost its content: where in the queue it stayed
    std::array<std::uint8_t, most_open_steps> open{};  // steps by the time when they began
    std::uint8_t n_open = 0;
};

// A Manager with its shadow: one node of the graph, ready for operations.
class World {
public:
    World(const ExploreConfig& config, const Setting& setting);

    void assign(const World& other);

    // Makes the call. REQUIRES that follow() was called after the last one that succeeded.
    Result apply(const Move& move);

    // Plays the engine's part of an operation that succeeded, and looks at the Manager anew. The slots and copies that
    // it handed out may be wrong, which is found here.
    Found follow(const Move& move, const Result& result);

    const Manager& manager() const { return manager_; }
    Manager& manager() { return manager_; }
    const Shadow& shadow() const { return shadow_; }
    const Snapshot& seen() const { return seen_; }
    // Of the operation that was followed last: the blocks in which it handed out cells, one bit each, and the prefixes
    // that ended a block whose first cell is held.
    std::uint32_t handed_out() const { return handed_out_; }
    const std::array<Prefix, most_blocks + 1>& completed() const { return completed_; }
    // After a call that must have changed nothing.
    Snapshot look_again() const { return look(manager_, shadow_.handles, setting_.sequences, setting_.spelling); }

    // The prompt of an `admit`, `probe`, `plan`, `pin` or `unpin`. It points into this World, until the next call.
    Prompt prompt(const Move& move);

private:
    Found run_copies(std::span<const BlockCopy> copies);
    Found hand_out(std::size_t index, const Step& step, Length first, Length cells);
    void commit(std::size_t index, Prefix tokens, Length first, Length count);
    Found follow_admit(const Move& move, const Result& result);
    void cut(Shadow::Sequence& sequence, Length length) const;
    void stamp_new_entries(const Snapshot& before);
    void end_priorities();
    void raise_priorities(const Move& move);
    void poison_what_nobody_reads();

    const Setting& setting_;
    Manager manager_;
    Shadow shadow_;
    Snapshot seen_;
    std::array<Token, most_length> tokens_{};  // of the current call
    std::array<kvpane::ExternalContent, most_length> contents_{};
    std::array<std::uint8_t, most_groups * most_length> written_{};  // blocks, by the time when a cell was committed
    std::size_t n_written_ = 0;
    std::array<std::uint8_t, most_blocks + 1> published_for_{};  // the priority that an entry made now would have
    std::uint32_t handed_out_ = 0;
    std::array<Prefix, most_blocks + 1> completed_{};
};

}  // namespace kvpane::invariants::explorer

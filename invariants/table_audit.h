// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/audit_memory.h>
#include <kvpane/invariants/audit_texts.h>
#include <kvpane/invariants/catalogue.h>
#include <kvpane/invariants/engine_log.h>

namespace kvpane::invariants {

// A cell as messages tell of it.
struct ToldCell {
    enum class Kind : std::uint8_t { cell, never_written, given_up, no_block, no_token };

    Kind kind = Kind::cell;
    Token token = 0;         // cell, given_up
    Length position = 0;     // cell, given_up
    std::string sequence{};  // who wrote it; empty for what is expected
    std::int64_t line = 0;   // the event that wrote it
    std::string note{};      // how it differs where token and position do not say it
};
std::string describe(const ToldCell& cell);

// The first thing that is wrong.
struct AuditFinding {
    Invariant invariant;
    std::int64_t line = 0;   // the event's number, as it was given
    std::string what{};      // one sentence without the cells
    std::string sequence{};  // empty: none in particular
    std::string group{};
    std::optional<Length> position{};
    std::optional<ToldCell> expected{};
    std::optional<ToldCell> found{};
    std::optional<engine_log::Block> block{};
    std::vector<std::string> block_history{};  // "line 7: ...", what last happened to the block, oldest first
};

// Why an event cannot follow those before it: then the log is wrong, whatever the tables are.
struct Refusal {
    std::string field{};  // of the event, as engine_log.h calls it
    std::optional<std::size_t> index{};
    std::string sentence{};
};

struct AuditCounts {
    std::int64_t events = 0;
    std::int64_t tables = 0;
    std::int64_t cells = 0;  // compared
};

// Judges the block tables of a manager that is not ours, from what its engine logs. It keeps the history of each
// sequence and a shadow cell for each slot of the blocks that were written. For each event: refusal(), and if there is
// none, follow(). Whenever a table is exported, each cell that the next query sees is read back through it and compared
// with the history: token, position, scope, group, and the whole causal past.
//
//   T1  a position has no block, or a block stands twice in what is read   when the table is exported
//   T2  a cell that the query sees is a hole, or was given up              when the table is exported
//   T3  a cell holds something else, or the table is longer than the text  when the table is exported
//   T4  a cell was written for another position                            when the table is exported
//   X2  the same of a prefix hit, in the first table that shows it         when the table is exported
//   T5  a write or copy changes a cell that another living table needs     at once
//   P1  a block is allocated of which a living table needs a cell          at once
//   P3  a block is freed twice; where its allocations are logged           at once
//
// COST memory: 40 bytes a slot of each block that was written, 16 bytes a token of a living sequence. Time: a table
// costs the cells that its query sees, every other event what it names.
class TableAudit {
public:
    static constexpr std::int64_t most_cells = std::int64_t{1} << 26U;   // 2.5 GiB of shadow
    static constexpr std::int64_t most_tokens = std::int64_t{1} << 27U;  // 2 GiB of living histories

    // REQUIRES 1 <= block_size <= largest_block_size, 1 <= blocks <= most_blocks, one group or more.
    explicit TableAudit(engine_log::Header header, std::int64_t tokens_kept = most_tokens);

    // What is wrong with the event itself, here and now. COST O(its entries), more only when memory runs out.
    std::optional<Refusal> refusal(const engine_log::Event& event) const;

    // REQUIRES no refusal, and no finding before. `line` is the event's number in messages: ascending, from 1.
    std::optional<AuditFinding> follow(const engine_log::Event& event, std::int64_t line);

    const engine_log::Header& header() const noexcept { return header_; }
    const AuditCounts& counts() const noexcept { return counts_; }

private:
    using Found = std::optional<AuditFinding>;

    // What the next query reads through a table, in positions.
    struct Reading {
        Length sink_end = 0;  // [0, sink_end)
        Length begin = 0;     // [begin, end)
        Length end = 0;
        Length reserved_begin = 0;  // [reserved_begin, reserved_end): blocks only
        Length reserved_end = 0;

        bool has_block(Length logical, Length size) const noexcept;
    };

    // The last exported table of a sequence in a group.
    struct Exported {
        Length first = 0;
        std::vector<engine_log::Block> blocks;
        Length length = 0;
        Reading reading{};       // only its blocks have this table among their holders
        bool was_sound = false;  // what the prefix hit gave has been read back once
    };

    Found on(const engine_log::Start& event);
    Found on(const engine_log::Append& event);
    Found on(const engine_log::Fork& event);
    Found on(const engine_log::Truncate& event);
    Found on(const engine_log::End& event);
    Found on(const engine_log::Write& event);
    Found on(const engine_log::Copy& event);
    Found on(const engine_log::Alloc& event);
    Found on(const engine_log::Free& event);
    Found on(const engine_log::Table& event);

    BlockKey key_of(std::uint32_t group, engine_log::Block block) const {
        return {header_.groups[group].pool, static_cast<std::uint32_t>(block)};
    }
    engine_log::Block block_at(const Exported& table, Length logical) const;
    Reading reading_of(const engine_log::Table& event) const;

    void give_tables(Name name) { tables_.resize(std::max(tables_.size(), std::size_t{name} + 1)); }
    void hold(const engine_log::Table& event, Name name);
    void let_go(Name name, std::uint32_t group, const Exported& next);

    // Whether the next query of the holder sees this cell, as far as the log has told. Never wrongly yes: the table may
    // be older than the history.
    bool needs(const Holder& holder, Length offset) const;
    // Whom it harms when `cell` replaces what stands in the slot; a writer may harm itself until it exports a table.
    Found find_harm(BlockKey key, Length offset, const AuditCell& cell, std::optional<Name> writer) const;
    Found find_reuse(BlockKey key) const;
    Found read_back(const engine_log::Table& event, Name name);
    Found read_range(const engine_log::Table& event, Name name, Length begin, Length end);
    Found find_no_block(const engine_log::Table& event, Name name, Length position) const;
    Found find_wrong_cell(const engine_log::Table& event, Name name, Length position, const AuditCell& found) const;

    // In words: table_audit_text.cpp.
    AuditFinding finding(Invariant invariant, BlockKey key, std::string what) const;
    AuditFinding finding(Invariant invariant, const engine_log::Table& event, Length position, std::string what) const;
    AuditFinding finding(Invariant invariant, const Holder& holder, BlockKey key, Length position,
                         std::string what) const;
    ToldCell told(const AuditCell& cell) const;
    ToldCell told(const AuditCell& found, const AuditCell& expected) const;
    std::string told(const BlockTouch& touch) const;
    std::string told(const Scope& scope) const;
    std::string reader(const engine_log::Table& event) const;
    std::string in_group(std::uint32_t group) const;  // nothing when there is only one
    std::vector<std::string> history_of(BlockKey key) const;

    engine_log::Header header_;
    AuditMemory memory_;
    AuditTexts texts_;
    std::vector<std::vector<Exported>> tables_;  // [names][groups]
    std::vector<AuditToken> written_;            // scratch
    AuditCounts counts_;
    std::int64_t line_ = 0;  // of the event that is followed
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/proof/oracle/oracle_cells.h>
#include <kvpane/invariants/proof/oracle/oracle_machine.h>

namespace kvpane::invariants::oracle {

// A Manager that is judged: what its sequences are called, and what the C++ interpreter reads through its tables.
class Subject {
public:
    virtual ~Subject() = default;
    virtual const Manager& manager() const = 0;
    virtual std::optional<SequenceHandle> handle(Name name) const = 0;  // nothing when it is not alive
    // The cells that are held of the last W (all of them for full attention), positions ascending.
    virtual CheckedManager::WindowContents window(Name name, GroupId group) const = 0;
};

// What was done, and what the machine has no word for; by name, for reports.
struct OracleCounts {
    std::int64_t operations = 0;
    std::map<std::string, std::int64_t> outside;
};

// Follows a Manager, operation by operation, with the machine that was proven: the same operation, the blocks that the
// Manager took and hit as choices. Verdict, tables, references, states of blocks, entries of the index, hits and
// windows must come out alike. What is policy is the Manager's, and checked for being legal alone: which block is
// taken, which copy is hit, when an entry leaves the index. A copy goes its own way from there, for who comes back.
//
// Not modelled, and left to the judge: the order of the queue and of priorities (P3, A2), how many blocks a plan names
// (A1), which pins are refused, events, exports, bound rows. OracleCounts names what of it occurred.
class OracleCheck {
public:
    // `all_windows_every`: the windows of sequences that an operation does not touch are read back so rarely.
    explicit OracleCheck(const Config& config, std::int64_t all_windows_every = 1);

    // For each operation: before(), the operation itself, after(). The first difference, in one sentence.
    void before(const Operation& operation, const Subject& subject);
    std::optional<std::string> after(const Operation& operation, const Outcome& outcome, const Subject& subject);

    // Of this one and all its copies.
    const OracleCounts& counts() const noexcept { return *counts_; }

private:
    // A sequence as the machine calls it.
    struct Named {
        std::int64_t slot = -1;  // -1: not alive
        std::int64_t scope = 0;
        std::shared_ptr<const std::vector<ExternalContent>> extra;
    };
    // What a sequence was before the operation.
    struct Before {
        Name name;
        Length length = 0;
        Length end = 0;                // reserved cells included
        std::vector<BlockId> tails{};  // [groups] the block of position `end`, null_block where there is none yet
    };
    // What a prompt would find.
    struct Hits {
        Length cut = 0;
        Numbers blocks;  // [groups, entries] -1 = hole
    };
    // An entry of the C++ index as it was last read, and found to be the machine's.
    struct Entry {
        ContentId content = no_content;
        std::uint64_t serial = 0;
        std::int64_t stamp = 0;  // the machine's
    };
    using Difference = std::optional<std::string>;

    // The machine's part of an operation; oracle_mirror.cpp.
    Difference mirror(const Operation& operation, const Outcome& outcome, const Subject& subject);
    Difference mirror_admit(const Operation& operation, const Outcome& outcome);
    Difference mirror_probe(const Operation& operation, const Outcome& outcome);
    Difference mirror_plan(const Operation& operation, const Outcome& outcome);
    static KvOracleVerdict feed(const Machine& machine, std::int64_t at, const Numbers& query, const Hits& hits,
                                Length chunk);
    Difference mirror_reserve(const Operation& operation, const Outcome& outcome);
    Difference mirror_append(const Operation& operation, const Outcome& outcome);
    Difference mirror_fork(const Operation& operation, const Outcome& outcome);
    Difference mirror_release(const Operation& operation, const Outcome& outcome);
    Difference mirror_step(const Operation& operation, const Outcome& outcome);
    Difference mirror_pins(const Operation& operation, const Outcome& outcome, const BlockPool& pool);

    // What it is made of; oracle_translate.cpp.
    static Difference must_be_refused(const Outcome& outcome);
    static Difference verdicts_differ(KvOracleVerdict verdict, const Outcome& outcome);
    static bool is_expressible(const Operation& operation);
    // Numbers beyond it are refused alike, whatever they are; the machine's are of 63 bits, and it adds them up.
    static std::int64_t bounded(Length number) { return std::min(number, Length{1} << 40U); }
    std::int64_t slot(Name name) const;
    std::int64_t vacant_slot();
    void start(Name name, std::int64_t slot, std::int64_t scope,
               std::shared_ptr<const std::vector<ExternalContent>> extra);
    Numbers cells_of(const Operation& operation);
    Numbers cells_behind(const Before& before, std::span<const Token> tokens);
    Hits find_hits(const Operation& operation, const Manager& manager) const;
    Difference choose(const Outcome& outcome, const Before& before, Length first, Length cells, Numbers& choices);
    void count_outside(const char* what) { ++counts_->outside[what]; }

    // The comparison of all that both show; oracle_compare.cpp.
    Difference compare(const Operation& operation, const Subject& subject);
    void look_at_blocks();
    void tell_what_was_forgotten(const Manager& manager);
    Difference compare_blocks(const BlockPool& pool);
    Difference compare_entries(const Manager& manager);
    Difference compare_entry(BlockId block, const Manager& manager, std::int64_t stamp);
    Difference compare_sequence(Name name, const Subject& subject);
    Difference compare_table(Name name, std::uint32_t group, const TableView& view, KvOracleList table,
                             std::size_t& at);
    Difference compare_window(Name name, std::uint32_t group, const Subject& subject);
    std::string label(Name name) const { return "#" + std::to_string(name); }

    Config config_;
    Machine machine_;
    std::shared_ptr<CellNumbers> cells_;
    std::vector<Named> names_;                     // by Name
    std::vector<bool> slots_;                      // [slots] taken
    std::map<std::uint64_t, std::int64_t> steps_;  // open device steps, as the machine calls them
    std::int64_t next_step_ = 0;
    std::vector<Entry> entries_;  // [blocks + 1]
    std::int64_t all_windows_every_;
    std::shared_ptr<OracleCounts> counts_;

    // Between before() and after().
    std::vector<Before> before_;
    Hits hits_;
    Numbers pins_;    // [blocks + 1] pin, unpin
    Numbers blocks_;  // as kv_oracle_blocks() told them
};

}  // namespace kvpane::invariants::oracle

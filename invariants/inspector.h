// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/blocktable/observer.h>
#include <kvpane/invariants/audit_index.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/follower.h>
#include <kvpane/invariants/table_mirror.h>

namespace kvpane::invariants {

struct InspectorOptions {
    CheckMode mode = CheckMode::every;
    // Called at the first violation. Without it the process stops there, with all of the report on stderr.
    std::function<void(const Violation&)> on_violation;
    // Operations between two walks over the whole state. 0: as often as the walks take less than a tenth of the time.
    std::int64_t walk_every = 0;
};

// Check mode: the judge, as an engine attaches it to its Manager.
//
//     kvpane::Manager kv(config);
//     kvpane::invariants::Inspector inspector(kv);   // from here on every call is checked
//
// every    Looks at what each operation touched: the references that its blocks must have (P2), the shape of the tables
//          (T1, T2), exclusive writes and slots (T5), hits cell by cell (X2), that an error changed nothing that is
//          counted (F2). It plays the engine's part on shadow cells, and reads a whole sequence back (T3, T4) when it is
//          hit, when its length has doubled since it was last read, and when it ends. Now and then it walks: everything
//          in the catalogue, A2 aside, and that its own books equal the recount. Memory: 32 bytes a cell of the pool and 264 a block.
// sampled  Sees every 64th operation and looks at the shape of the tables that it touched; now and then it walks over
//          pool, references, queue and index (P1-P3, X3). It knows no cells: wrong contents are for `every`.
// off      Not attached at all.
//
// Sequences are called #slot in reports. After the first violation nothing is looked at any more.
class Inspector final : public Observer {
public:
    // Attaches itself. With `every` it throws std::invalid_argument when sequences are alive or blocks cached already
    // (nobody knows what they must hold), or when the shadow would be too large. The Manager must outlive the Inspector.
    explicit Inspector(Manager& manager, InspectorOptions options = {});
    ~Inspector() override;

    void before(const Manager& manager, const Call& call) override;
    std::uint32_t after(const Manager& manager, const Call& call, const CallResult& result) override;

    // Walks now.
    void walk();

    const std::optional<Violation>& violation() const noexcept { return violation_; }
    std::int64_t operations() const noexcept { return operations_; }
    std::int64_t walks() const noexcept { return walks_; }

private:
    // What an operation that fails must leave as it was; O(1) to look at.
    struct Counts {
        std::uint32_t free = 0;
        std::uint32_t cached = 0;
        std::uint32_t live = 0;
        std::uint32_t fenced = 0;
        std::uint32_t pinned = 0;
        std::uint32_t sequences = 0;
        std::uint32_t entries = 0;
        std::uint64_t blocks_taken = 0;

        friend bool operator==(const Counts&, const Counts&) = default;
    };

    // What a step handed out to one sequence.
    struct Cells {
        const Step* step = nullptr;
        Length first = 0;
        Length count = 0;
    };

    // What `every` keeps beside the Follower.
    struct Books {
        Books(const Config& config, std::uint32_t groups);

        Follower follower;
        TableMirror mirror;  // behind the follower: it notes what it sees in its history
        IndexWatch events;
        std::vector<Length> read_at;  // by Name: the length when the sequence was last read back
    };

    static void count(const Manager& manager, Counts& counts) noexcept;
    static Name name_of(SequenceHandle handle) noexcept { return handle.index; }

    void look_at_shape(const Call& call, const CallResult& result);
    Found find_wrong_shape(SequenceHandle handle) const;

    Found check(const Call& call, const CallResult& result);
    Found follow(const Call& call, const CallResult& result);
    Found reserved(std::span<const Reservation> batch, const Step& step);
    Found appended(std::span<const Reservation> batch, std::span<const Token> tokens, const Step& step);
    Found handed_out(std::span<const Reservation> batch, const Step& step);
    Found touched(SequenceHandle handle, const Cells& got);
    Found touched(std::span<const Reservation> batch, const Step& step);
    Found find_wrong_blocks(const Record& record, std::uint32_t group, const TableView& table) const;
    Found find_wrong_refs();
    Found find_wrong_slot(const Record& record, const Cells& got) const;
    Found find_wrong_slot(const Record& record, std::uint32_t group, const TableView& table,
                          std::span<const Slot> slots) const;
    bool is_private(BlockId block, bool may_be_indexed) const;
    Found read_if_due(const Record& record);
    Found read_all(const Record& record);
    Found walk_over_everything();
    Found walk_over_structure();
    bool walk_is_due();
    void note(Found finding);

    using Clock = std::chrono::steady_clock;

    Manager& manager_;
    InspectorOptions options_;
    std::optional<Books> books_;      // every
    std::vector<Reservation> batch_;  // scratch
    Counts before_;
    std::optional<Violation> violation_;
    std::int64_t operations_ = 0;
    std::int64_t walks_ = 0;
    std::int64_t next_chance_ = 0;  // to walk
    Clock::time_point next_walk_;
};

}  // namespace kvpane::invariants

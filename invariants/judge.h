// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/audit_index.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/driver.h>
#include <kvpane/invariants/fence_watch.h>
#include <kvpane/invariants/follower.h>
#include <kvpane/invariants/forecast.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/queue_watch.h>
#include <kvpane/invariants/table_mirror.h>
#include <kvpane/invariants/violation.h>

namespace kvpane::invariants {

// How closely one operation is looked at.
enum class Depth : std::uint8_t {
    follow,   // shadow cells and histories are kept, nothing is compared
    touched,  // its plan and errors, and what it touched is read back
    all,      // and everything else, too
};

// Follows the operations of a Driver, and says when the Manager breaks an invariant. For each operation: before(), the
// operation itself, after(). What it compares with is the Follower's: shadow cells and histories.
class Judge {
public:
    // With `has_twin` a second Manager receives the same calls and must stay equal (A2), and fences and the order of the
    // queue are watched; then every operation is looked at in full depth. With a `payload` real cells are kept beside the
    // shadow, and read back where that is.
    // Throws std::invalid_argument when the shadow or the payload would be too large.
    Judge(const Config& config, bool has_twin, const std::optional<PayloadOptions>& payload = std::nullopt);

    // `number` counts the operations, from 1.
    void before(const Operation& operation, std::int64_t number, Driver& driver, Depth depth);
    Found after(const Operation& operation, const Outcome& outcome, const Driver& driver, Depth depth);

    // The error that the last operation had to end with by the contract (one of them, where it allows several); nothing
    // when that is success, or open.
    std::optional<Error> due() const;

    // The whole state; a sequence that `last` did not touch and that reads back wrong is F1.
    Found audit(const Driver& driver, const Operation* last = nullptr);

    // The report of what was found at an operation.
    Violation report(Finding finding, std::int64_t operation, const Manager& manager) const {
        return invariants::report(std::move(finding), operation, scene(manager), &follower_.history());
    }

    // Tokens and positions that are read back of the last W cells of a living sequence.
    CheckedManager::WindowContents window(Name name, GroupId group, const Manager& manager) const;

    // How messages call the sequences.
    void spell(std::vector<std::string> spellings) { follower_.spell(std::move(spellings)); }

private:
    friend struct kvpane::Tamper;

    // The comparisons of after(), each one invariant.
    Found find_F2(const Operation& operation, const Outcome& outcome, const Manager& manager) const;
    Found find_A1(const Operation& operation, const Outcome& outcome, const Manager& manager) const;
    Found find_blind_digest(const Operation& operation, const Outcome& outcome, const Manager& manager) const;
    Found find_A2(const Operation& operation, const Outcome& outcome, const Driver& driver);
    Found find_X2(const Operation& operation, const Outcome& outcome) const;
    Found find_wrong_fence(const Operation& operation, const Outcome& outcome, const BlockPool& pool);
    Found find_wrong_order(const Operation& operation, const Outcome& outcome, const Driver& driver);
    void note_hits(const Operation& operation, const Driver& driver);
    Found find_forgotten_hit(const Operation& operation, const Manager& manager) const;
    static Found find_wrong_event_order(const Operation& operation, const Outcome& outcome, const Driver& driver);
    Found audit_index(const Manager& manager);
    Found read_back(const Scene& look, const Record& record) const;
    Found audit_touched(const Operation& operation, const Manager& manager) const;

    Found follow(const Operation& operation, const Outcome& outcome, const Driver& driver);
    Found follow_batch(const Operation& reserve, const Step& step);
    void look_at_tables(const Operation& operation, const Driver& driver);

    Known known() const { return {follower_.records(), open_steps_}; }
    Scene scene(const Manager& manager) const { return follower_.scene(manager); }
    std::string label(Name name) const { return follower_.label(name); }

    Follower follower_;
    TableMirror mirror_;  // for the history of the blocks
    std::set<std::uint64_t> open_steps_;
    IndexWatch events_;
    std::unique_ptr<Driver> twin_;  // null without
    FenceWatch fences_;
    QueueWatch queue_;

    // Between before() and after().
    std::uint64_t digest_before_ = 0;
    std::uint64_t taken_before_ = 0;
    std::optional<Driver::Foresight> foresight_;
    std::optional<Length> longest_hit_;  // admit, probe: what the hit must be
    Forecast forecast_;
    std::vector<BlockId> hits_;  // release: indexed blocks that the sequence did not fill itself
};

}  // namespace kvpane::invariants

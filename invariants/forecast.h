// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>

#include <kvpane/allocator/error.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/record.h>

// What the contract says of an operation before it runs: which errors it may end with, and what it takes. Worked out
// from the records and the references that blocks have, not by asking the Manager's planner.
namespace kvpane::invariants {

// What an operation takes when it succeeds.
struct Taking {
    std::int64_t blocks = 0;  // destinations of copies included
    std::int64_t copies = 0;
    std::int64_t copied_cells = 0;
    Length cells = 0;

    friend bool operator==(const Taking&, const Taking&) = default;
};

struct Forecast {
    bool is_silent = false;      // the contract leaves this call open: nothing below holds
    bool takes_room = false;     // it may also end with later or never
    std::set<Error> refusals;    // it must end with one of these, or for want of room; empty: nothing stands against it
    bool is_too_long = false;    // it passes max_length: never
    std::optional<Taking> taking;       // when nothing stands against it
    std::int64_t room = 0;              // admit: idle blocks that it may use
    bool has_room = false;              // all that it takes is there
    std::int64_t room_alone = 0;        // blocks that would be there without the other sequences, at least
    std::int64_t held_alone = 0;        // blocks that would be held afterwards without the others, at least
    std::optional<Error> lack;          // later or never, where it is sure that there is no room
    std::optional<std::int64_t> peak;   // plan: blocks at the peak
};

// The records by Name, and the device steps that are open.
struct Known {
    const std::deque<Record>& records;
    const std::set<std::uint64_t>& open_steps;

    const Record* find(Name name) const {
        return name < records.size() && records[name].alive ? &records[name] : nullptr;
    }
};

// `hit`: the longest cached prefix of its tokens, when somebody looked.
Forecast forecast(const Operation& operation, const Known& known, const Manager& manager,
                  std::span<const spec::Rule> rules, std::optional<Length> hit);

// What is wrong with the way the operation ended, as one sentence; nothing when it is as forecast. The pool has
// `blocks` blocks.
std::optional<std::string> contradiction(const Forecast& forecast, const Outcome& outcome, std::int64_t blocks);

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/stress.h>

namespace kvpane::invariants {

// An operation that came out otherwise than the journal says.
struct JournalDifference {
    std::int64_t operation = 0;  // its number, from 1
    std::string what;            // "commit: recorded success, got error later"
};

struct JournalReplay {
    std::int64_t operations = 0;  // that were applied
    std::int64_t checks = 0;
    double seconds = 0;
    std::optional<JournalDifference> difference;
    std::optional<Violation> violation;
    bool ended_within = false;  // the last operation has no answer: the recorded process ended within it
    std::uint64_t digest = 0;   // of the state at the end
};

// Runs a journal through `kv`, from the start, until its end, the first violation, the first difference, or `until`
// operations are done (0 = all); then audits once more, unless kv is in mode off. `kv` shows the state at that point.
// Whatever the operations are, the replay is total: what does not apply is refused by the Manager.
// `progress`, when given, is called about every 50 ms, with an estimate of all operations.
// REQUIRES a fresh `kv` of reader.header().config, a reader at its start. Faults of the journal are reader.error().
JournalReplay replay(JournalReader& reader, CheckedManager& kv, std::int64_t until = 0,
                     const std::function<void(const StressProgress&)>& progress = {});

// What is different, in words; nothing when the answers agree. A digest that was not recorded is not compared.
std::optional<std::string> difference(const Answer& recorded, const Answer& got);

}  // namespace kvpane::invariants

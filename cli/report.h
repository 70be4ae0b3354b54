// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/attention/cell_store.h>
#include <kvpane/cli/stress_config.h>
#include <kvpane/invariants/length_replay.h>
#include <kvpane/invariants/stress.h>

// The results of a run, as text (here) and as JSON (json_report.h).
namespace kvpane::cli {

// What a run was made from, and how to make it again.
struct RunHeader {
    std::string command;  // "stress", "trace"
    std::string config_file;
    std::uint64_t config_digest = 0;
    std::uint64_t seed = 0;
    std::int64_t steps = 0;  // stress only
    invariants::CheckMode check = invariants::CheckMode::every;
    std::string trace_file;  // trace only, as the two below
    std::uint64_t trace_digest = 0;
    std::uint32_t samples = 1;
    std::uint32_t alive = 1;
    std::string journal_file;                                // stress only; empty = none was written
    std::optional<invariants::PayloadOptions> payload = {};  // nothing = no real cells were kept
};

std::string first_line(const RunHeader& header);

// The command that runs into the violation again, with all checks on.
std::string reproduce(const RunHeader& header, const invariants::Violation& violation);

// Three lines: the broken invariant, what was found, the command that reproduces it.
std::string violation_text(const invariants::Violation& violation, const std::string& reproducing);
std::string violation_text(const RunHeader& header, const invariants::Violation& violation);

// The command that runs the operations up to the violation again: from the journal, or one that writes a journal.
std::string replaying(const RunHeader& header, const invariants::Violation& violation);

// The last block: one "name  value" a line.
std::string stress_text(const RunHeader& header, const invariants::StressReport& report);
std::string replay_text(const RunHeader& header, const invariants::ReplayReport& report);

double per_second(std::int64_t operations, double seconds) noexcept;
// part / whole; 0 when there is nothing.
double share(std::int64_t part, std::int64_t whole) noexcept;
std::string hex(std::uint64_t value);
// An argument as a POSIX shell takes it.
std::string quoted(const std::string& argument);
// As [payload] calls it.
std::string_view layout_word(CellOrder order) noexcept;
// One "name  value" of the last block.
std::string row(std::string_view name, const std::string& value);

}  // namespace kvpane::cli

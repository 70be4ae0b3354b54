// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/prefix_replay.h>

// The results of replaying a prefix trace, as text (here) and as JSON (json_report.h).
namespace kvpane::cli {

// One pass over the trace.
struct PrefixRun {
    EvictionPolicy policy = EvictionPolicy::lru;
    std::int64_t capacity = 0;  // [blocks] 0 = unlimited
    invariants::PrefixReplayReport report;
};

struct PrefixReport {
    std::string trace_file;
    std::uint64_t trace_digest = 0;
    invariants::CheckMode check = invariants::CheckMode::off;
    bool full_blocks = false;
    std::int64_t requests = 0;  // of the trace, as the three below
    std::int64_t blocks = 0;
    std::int64_t distinct_blocks = 0;
    std::int64_t input_tokens = 0;
    std::vector<PrefixRun> runs;
};

std::string_view to_string(EvictionPolicy policy) noexcept;

std::string first_line(const PrefixReport& report);
std::string table_head();
std::string table_row(const PrefixRun& run);
std::string totals_text(const PrefixReport& report);

// The command that runs into the run's violation again.
std::string reproduce(const PrefixReport& report, const PrefixRun& run);

// Over all runs.
std::int64_t operations(const PrefixReport& report) noexcept;
std::int64_t checks(const PrefixReport& report) noexcept;
std::int64_t violations(const PrefixReport& report) noexcept;
double seconds(const PrefixReport& report) noexcept;

}  // namespace kvpane::cli

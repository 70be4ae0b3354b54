// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/cli/payload_flag.h>
#include <kvpane/invariants/checked_manager.h>

// What the program does, one function a command. They write results to stdout, and progress to stderr when that is a
// terminal. ERRORS InputError, before anything is written, for what is wrong with the input.
namespace kvpane::cli {

enum ExitCode : int {
    exit_ok = 0,
    exit_broken = 1,  // an invariant broke, a scenario failed, or a number of the article is off
    exit_bad_input = 2,
    exit_internal = 3,
};

// What the command line says over the configuration file.
struct StressOptions {
    std::string config;
    std::optional<std::uint64_t> seed;
    std::optional<std::int64_t> steps;
    std::optional<invariants::CheckMode> check;
    std::string json;      // empty = none
    std::string journal;   // empty = none
    bool digests = false;  // in the journal
};
ExitCode run_stress(const StressOptions& options);

// A trace of lengths (CSV) needs a configuration; a trace of prefixes (JSON lines) makes its own managers. Options of
// the other kind are refused.
struct TraceOptions {
    std::string trace;
    std::string config;                    // CSV; empty = not given
    std::optional<std::uint32_t> samples;  // CSV
    std::vector<std::int64_t> capacities;  // JSON lines: [blocks] 0 = unlimited; empty = not given
    std::vector<EvictionPolicy> policies;  // JSON lines; empty = not given
    bool full_blocks = false;              // JSON lines
    std::optional<invariants::CheckMode> check;
    std::string json;
};
ExitCode run_trace(const TraceOptions& options);

// The log of an engine with a manager of its own (docs/audit-log.md); "-" is the standard input. It is judged while it
// is read: an InputError behind sound lines comes after what is said about them.
struct AuditOptions {
    std::string log;
    std::string json;
};
ExitCode run_audit(const AuditOptions& options);

// The table of the article on prefix reuse, and those of its predecessors, against the reference data in a folder;
// docs/article.md. exit_broken when a number is off.
struct ArticleOptions {
    std::string folder;
    std::string json;
};
ExitCode run_article(const ArticleOptions& options);

// Every state that a small configuration can reach; docs/exploring.md.
struct ExploreOptions {
    std::string config;
    std::optional<std::int64_t> limit;
    std::optional<std::uint32_t> threads;  // nothing = one for each core
    std::string scenario;                  // where the trace of a violation goes; empty = none
    std::string json;
};
ExitCode run_explore(const ExploreOptions& options);

// Files, and folders for all the .toml files below them. A malformed file is said on stderr; the others still run.
struct ScenarioOptions {
    std::vector<std::string> paths;
    PayloadFlag payload;  // on real cells, too
};
ExitCode run_scenarios(const ScenarioOptions& options);

// Runs a journal again. A journal that is cut off is said on stderr and used up to there; any other fault of it ends
// with exit_bad_input, after what stands before it has been run.
struct ReplayOptions {
    std::string journal;
    std::int64_t until = 0;                      // [operations] 0 = all
    std::optional<std::uint32_t> dump;           // a sequence to show at the end
    std::optional<invariants::CheckMode> check;  // nothing = as recorded
    PayloadFlag payload;                         // on real cells, too
};
ExitCode run_replay(const ReplayOptions& options);

// Runs a journal beside the proven machine (docs/oracle.md); of the options `journal` and `until` alone are looked at.
// exit_broken at a difference. ERRORS InputError where the program was built without the oracle.
ExitCode run_replay_against_oracle(const ReplayOptions& options);

// Prints the operations of a journal, one JSON object a line. Faults as run_replay().
struct JournalOptions {
    std::string journal;
};
ExitCode run_journal(const JournalOptions& options);

// Shrinks a journal in which an invariant breaks, or a promise, to a scenario. With a payload it is the run on real cells
// that has to fail, and so does the scenario's. Nothing to shrink is exit_bad_input.
struct ShrinkOptions {
    std::string journal;
    std::string output;
    std::optional<std::int64_t> candidates;  // tried at most
    PayloadFlag payload;                     // on real cells, too
};
ExitCode run_shrink(const ShrinkOptions& options);

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>
#include <kvpane/cli/input.h>

#ifdef KVPANE_WITH_ORACLE
#    include <cstdio>

#    include <fmt/format.h>

#    include <kvpane/cli/journal_file.h>
#    include <kvpane/cli/progress.h>
#    include <kvpane/cli/report.h>
#    include <kvpane/invariants/proof/oracle/oracle_runs.h>
#    include <kvpane/version.h>
#endif

namespace kvpane::cli {

#ifdef KVPANE_WITH_ORACLE

using namespace invariants;

ExitCode run_replay_against_oracle(const ReplayOptions& options) {
    const JournalFile journal(options.journal);
    fmt::print("kvpane {} seed={} config={} against=oracle\n", version, journal.header().seed,
               hex(journal.header().source_digest));
    std::fflush(stdout);  // a broken promise ends the process
    JournalReader reader = journal.reader();
    const oracle::OracleReport report = [&] {
        ProgressLine line;
        return oracle::replay(reader, options.until, [&](const StressProgress& progress) { line.show(progress); });
    }();
    if (report.difference) {
        fmt::print("DIFFERENCE at {}\n", *report.difference);
    }
    for (const auto& [what, times] : report.counts.outside) {
        fmt::print("outside the machine, {} times: {}\n", times, what);
    }
    fmt::print("{}", row("operations", fmt::format("{}", report.counts.operations)));
    fmt::print("{}", row("operations per second",
                         fmt::format("{:.0f}", per_second(report.counts.operations, report.seconds))));
    fmt::print("{}", row("differences", report.difference ? "1" : "0"));
    const bool readable = journal.tell(reader);
    if (report.difference) {
        return exit_broken;
    }
    return readable ? exit_ok : exit_bad_input;
}

#else

ExitCode run_replay_against_oracle(const ReplayOptions&) {
    throw InputError("--against oracle: this kvpane was built without the oracle; configure with -DKVPANE_ORACLE=ON");
}

#endif

}  // namespace kvpane::cli

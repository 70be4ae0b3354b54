// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/journal_file.h>
#include <kvpane/cli/json_report.h>
#include <kvpane/cli/progress.h>
#include <kvpane/cli/report.h>
#include <kvpane/cli/stress_config.h>

namespace kvpane::cli {

ExitCode run_stress(const StressOptions& options) {
    RunConfig config = read_run_config(options.config);
    if (!config.has_workload) {
        throw InputError(options.config, {}, "[workload] is missing: this file serves 'kvpane trace' only");
    }
    invariants::StressConfig& stress = config.stress;
    stress.seed = options.seed.value_or(stress.seed);
    stress.steps = options.steps.value_or(stress.steps);
    stress.check = options.check.value_or(stress.check);
    if (options.digests && options.journal.empty()) {
        throw InputError("--digests goes with --journal");
    }
    const OutputFile json(options.json, {options.config, options.journal});
    std::optional<JournalRecording> recording;
    if (!options.journal.empty()) {
        recording.emplace(options.journal, invariants::JournalHeader{stress.manager, stress.check, options.digests,
                                                                     config.digest, stress.seed});
    }

    RunHeader header;
    header.command = "stress";
    header.config_file = options.config;
    header.config_digest = config.digest;
    header.seed = stress.seed;
    header.steps = stress.steps;
    header.check = stress.check;
    header.journal_file = options.journal;
    if (stress.check != invariants::CheckMode::off) {  // then nothing is kept
        header.payload = stress.payload;
    }
    fmt::print("{}", first_line(header));

    const invariants::StressReport report = [&] {
        ProgressLine line;
        return invariants::stress(
            stress, [&](const invariants::StressProgress& progress) { line.show(progress); },
            recording ? &recording->writer() : nullptr);
    }();
    if (report.violation) {
        fmt::print("{}", violation_text(header, *report.violation));
    }
    fmt::print("{}", stress_text(header, report));
    if (recording) {
        fmt::print("{}", row("journal", recording->finish()));
    }
    if (report.violation) {
        fmt::print("{}", row("replay", replaying(header, *report.violation)));
    }
    if (json.wanted()) {
        json.write(stress_json(header, report));
    }
    return report.violation ? exit_broken : exit_ok;
}

}  // namespace kvpane::cli

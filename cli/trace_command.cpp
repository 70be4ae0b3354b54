// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <fmt/format.h>

#include <kvpane/cli/csv_trace.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/json_report.h>
#include <kvpane/cli/jsonl_trace.h>
#include <kvpane/cli/prefix_trace_command.h>
#include <kvpane/cli/progress.h>
#include <kvpane/cli/report.h>
#include <kvpane/cli/stress_config.h>

namespace kvpane::cli {

namespace {

// Every operation of a long trace is dear to check: unless the file or the command line asks, the judge samples.
invariants::CheckMode check_of(const TraceOptions& options, const RunConfig& config) {
    const auto fallback = config.says_check ? config.stress.check : invariants::CheckMode::sampled;
    return options.check.value_or(fallback);
}

void check_options_of_length_traces(const TraceOptions& options) {
    const char* given = !options.capacities.empty() ? "--capacity"
                        : !options.policies.empty() ? "--policy"
                        : options.full_blocks       ? "--full-blocks"
                                                    : nullptr;
    if (given != nullptr) {
        throw InputError(fmt::format("trace: {} is for traces of prefixes (JSON lines); {} is a trace of lengths (CSV)",
                                     given, options.trace));
    }
    if (options.config.empty()) {
        throw InputError("trace: --config is required for a trace of lengths (CSV)");
    }
}

ExitCode run_length_trace(const TraceOptions& options, std::string_view text) {
    check_options_of_length_traces(options);
    const RunConfig config = read_run_config(options.config);
    const LengthTrace trace = parse_trace(options.trace, text);
    const OutputFile json(options.json, {options.trace, options.config});

    invariants::ReplayConfig replay;
    replay.manager = config.stress.manager;
    replay.seed = config.stress.seed;
    replay.check = check_of(options, config);
    replay.sampling = config.stress.sampling;
    replay.payload = config.stress.payload;
    replay.samples = options.samples.value_or(config.samples);
    replay.alive = config.alive;

    RunHeader header;
    header.command = "trace";
    header.config_file = options.config;
    header.config_digest = config.digest;
    header.seed = replay.seed;
    header.check = replay.check;
    header.trace_file = options.trace;
    header.trace_digest = trace.digest;
    header.samples = replay.samples;
    header.alive = replay.alive;
    if (replay.check != invariants::CheckMode::off) {  // then nothing is kept
        header.payload = replay.payload;
    }
    fmt::print("{}", first_line(header));

    const invariants::ReplayReport report = [&] {
        ProgressLine line;
        return invariants::replay_lengths(replay, trace.requests,
                                          [&](const invariants::StressProgress& progress) { line.show(progress); });
    }();
    if (report.violation) {
        fmt::print("{}", violation_text(header, *report.violation));
    }
    fmt::print("{}", replay_text(header, report));
    if (json.wanted()) {
        json.write(replay_json(header, report));
    }
    return report.violation ? exit_broken : exit_ok;
}

}  // namespace

ExitCode run_trace(const TraceOptions& options) {
    const std::string text = read_text(options.trace, most_trace_bytes);
    return is_prefix_trace(options.trace, text) ? run_prefix_trace(options, text) : run_length_trace(options, text);
}

}  // namespace kvpane::cli

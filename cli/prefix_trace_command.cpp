// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/prefix_trace_command.h>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/json_report.h>
#include <kvpane/cli/jsonl_trace.h>
#include <kvpane/cli/prefix_report.h>
#include <kvpane/cli/progress.h>
#include <kvpane/cli/report.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

void refuse_options_of_length_traces(const TraceOptions& options) {
    const char* given = !options.config.empty() ? "--config" : options.samples ? "--samples" : nullptr;
    if (given != nullptr) {
        throw InputError(fmt::format("trace: {} is for traces of lengths (CSV); {} is a trace of prefixes (JSON lines)",
                                     given, options.trace));
    }
}

// Each policy with each capacity.
std::vector<PrefixRun> runs_of(const TraceOptions& options) {
    std::vector<std::int64_t> capacities = options.capacities;
    std::vector<EvictionPolicy> policies = options.policies;
    if (capacities.empty()) {
        capacities = {1'000, 10'000, 30'000, 50'000, 0};
    }
    if (policies.empty()) {
        policies = {EvictionPolicy::lru, EvictionPolicy::lfu};
    }
    std::vector<PrefixRun> runs;
    for (const EvictionPolicy policy : policies) {
        for (const std::int64_t capacity : capacities) {
            runs.push_back({policy, capacity, {}});
        }
    }
    return runs;
}

PrefixReport report_of(const TraceOptions& options, const PrefixTrace& trace) {
    PrefixReport report;
    report.trace_file = options.trace;
    report.trace_digest = trace.digest;
    report.check = options.check.value_or(CheckMode::off);
    report.full_blocks = options.full_blocks;
    report.requests = static_cast<std::int64_t>(trace.requests.size());
    report.distinct_blocks = trace.distinct_blocks;
    for (const PrefixRequest& request : trace.requests) {
        report.blocks += static_cast<std::int64_t>(request.blocks.size());
        report.input_tokens += request.input;
    }
    return report;
}

}  // namespace

ExitCode run_prefix_trace(const TraceOptions& options, std::string_view text) {
    refuse_options_of_length_traces(options);
    const PrefixTrace trace = parse_prefix_trace(options.trace, text);
    const OutputFile json(options.json, {options.trace, options.config});
    PrefixReport report = report_of(options, trace);
    fmt::print("{}{}", first_line(report), table_head());

    for (PrefixRun run : runs_of(options)) {
        const PrefixReplayConfig replay{.capacity = run.capacity,
                                        .policy = run.policy,
                                        .tokens_per_block = prefix_block_tokens,
                                        .full_blocks_only = options.full_blocks,
                                        .check = report.check,
                                        .sampling = {}};
        {
            ProgressLine line;
            run.report =
                replay_prefixes(replay, trace.requests, [&](const StressProgress& progress) { line.show(progress); });
        }
        report.runs.push_back(run);
        fmt::print("{}", table_row(run));
        if (run.report.violation) {
            fmt::print("{}", violation_text(*run.report.violation, reproduce(report, run)));
            break;
        }
    }
    fmt::print("{}", totals_text(report));
    if (json.wanted()) {
        json.write(prefix_json(report));
    }
    return violations(report) > 0 ? exit_broken : exit_ok;
}

}  // namespace kvpane::cli

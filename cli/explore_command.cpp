// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kvpane/cli/commands.h>
#include <kvpane/cli/explore_config.h>
#include <kvpane/cli/explore_scenario.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/json_report.h>
#include <kvpane/cli/report.h>
#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants;
using Json = nlohmann::ordered_json;

namespace {

double rate(const ExploreReport& report) { return per_second(report.transitions, report.seconds); }

const char* end_of(const ExploreReport& report) {
    if (report.violation) {
        return "no, an invariant broke";
    }
    return report.is_exhausted ? "yes" : "no, the limit was reached";
}

// "12 succeeded, later 3, never 1"
std::string spelled(const VerbCount& count) {
    std::string text = fmt::format("{} succeeded", count.succeeded);
    for (std::size_t error = 0; error < errors; ++error) {
        if (count.refused[error] > 0) {
            text += fmt::format(", {} {}", to_string(static_cast<Error>(error)), count.refused[error]);
        }
    }
    return text;
}

bool was_tried(const VerbCount& count) { return count != VerbCount{}; }

std::string report_text(const ExploreReport& report) {
    std::string text = row("states", fmt::format("{}", report.states));
    text += row("transitions", fmt::format("{}", report.transitions));
    text += row("transitions per second", fmt::format("{:.0f}", rate(report)));
    text += row("depth", fmt::format("{}", report.depth));
    text += row("exhausted", end_of(report));
    for (std::size_t verb = 0; verb < verbs; ++verb) {
        if (was_tried(report.counts[verb])) {
            text += row(to_string(static_cast<Verb>(verb)), spelled(report.counts[verb]));
        }
    }
    text += row("digest of the states", hex(report.digest));
    return text + row("violations", report.violation ? "1" : "0");
}

std::string violation_text(const ExploreViolation& violation, const std::string& scenario) {
    std::string text = fmt::format("VIOLATION {} behind {} operations: {}\n  {}\n", number(violation.invariant),
                                   violation.trace.size(), sentence(violation.invariant), violation.what);
    return text + (scenario.empty() ? "  write the trace with --scenario FILE\n"
                                    : fmt::format("  reproduce: kvpane scenario {}\n", quoted(scenario)));
}

std::string report_json(const ExploreOptions& options, const ExploreFile& file, const ExploreReport& report) {
    Json json;
    json["version"] = version;
    json["command"] = "explore";
    json["config"] = {{"file", options.config}, {"digest", hex(file.digest)}};
    json["states"] = report.states;
    json["transitions"] = report.transitions;
    json["seconds"] = report.seconds;
    json["transitions_per_second"] = rate(report);
    json["depth"] = report.depth;
    json["exhausted"] = report.is_exhausted;
    json["operations"] = Json::object();
    for (std::size_t verb = 0; verb < verbs; ++verb) {
        const VerbCount& count = report.counts[verb];
        if (!was_tried(count)) {
            continue;
        }
        Json& of_verb = json["operations"][std::string(to_string(static_cast<Verb>(verb)))];
        of_verb["succeeded"] = count.succeeded;
        for (std::size_t error = 0; error < errors; ++error) {
            if (count.refused[error] > 0) {
                of_verb[std::string(to_string(static_cast<Error>(error)))] = count.refused[error];
            }
        }
    }
    json["states_digest"] = hex(report.digest);
    json["violation"] = nullptr;
    if (report.violation) {
        json["violation"] = {{"invariant", number(report.violation->invariant)},
                             {"sentence", sentence(report.violation->invariant)},
                             {"operations", report.violation->trace.size()},
                             {"what", report.violation->what}};
    }
    constexpr int indent = 2;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

// What to say when a promise of the library breaks, which ends the program. Set while an exploration runs.
struct Explored {
    const ExploreOptions& options;
    const ExploreFile& file;
    const OutputFile& scenario;
};
const Explored* explored = nullptr;

// The library has printed its sentence, and called abort() on the thread that explores: no lock of ours and no
// allocation is under way, so the trace can be written as usual.
void say_where_it_stopped(int) {
    ExploreViolation violation;
    violation.trace = operations_under_way();
    if (explored == nullptr || violation.trace.empty()) {
        std::_Exit(exit_internal);
    }
    violation.what = "a promise of the library broke";
    fmt::print("VIOLATION behind {} operations: {}\n", violation.trace.size(), violation.what);
    if (explored->scenario.wanted()) {
        explored->scenario.write(scenario_text(explored->file.explore.manager, violation));
        fmt::print("  reproduce: kvpane scenario {}\n", quoted(explored->options.scenario));
    }
    std::fflush(stdout);
    std::_Exit(exit_broken);
}

// One line on a terminal, drawn anew behind each level.
class Levels {
public:
    ~Levels() {
        if (is_drawn_) {
            fmt::print(stderr, "\r\033[K");
        }
    }
    void show(const ExploreProgress& progress) {
        if (on_terminal_) {
            fmt::print(stderr, "\r\033[Kdepth {}: {} states, {} transitions", progress.depth, progress.states,
                       progress.transitions);
            is_drawn_ = true;
        }
    }

private:
    bool on_terminal_ = isatty(STDERR_FILENO) != 0;
    bool is_drawn_ = false;
};

}  // namespace

ExitCode run_explore(const ExploreOptions& options) {
    ExploreFile file = read_explore_config(options.config);
    file.explore.limit = options.limit.value_or(file.explore.limit);
    file.explore.threads = options.threads.value_or(std::clamp(std::thread::hardware_concurrency(), 1U, most_threads));
    const OutputFile json(options.json, {options.config, options.scenario});
    const OutputFile scenario(options.scenario, {options.config}, "--scenario");
    fmt::print("kvpane {} explore config={} threads={} limit={}\n", version, hex(file.digest), file.explore.threads,
               file.explore.limit);

    const Explored context{options, file, scenario};
    explored = &context;
    const auto usual = std::signal(SIGABRT, say_where_it_stopped);
    const ExploreReport report = [&] {
        Levels levels;
        return explore(file.explore, [&](const ExploreProgress& progress) { levels.show(progress); });
    }();
    std::signal(SIGABRT, usual);
    explored = nullptr;
    if (report.violation) {
        fmt::print("{}", violation_text(*report.violation, options.scenario));
        if (scenario.wanted()) {
            scenario.write(scenario_text(file.explore.manager, *report.violation));
        }
    }
    fmt::print("{}", report_text(report));
    if (json.wanted()) {
        json.write(report_json(options, file, report));
    }
    return report.violation ? exit_broken : exit_ok;
}

}  // namespace kvpane::cli

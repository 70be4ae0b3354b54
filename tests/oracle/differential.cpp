// SPDX-License-Identifier: Apache-2.0
// Loads, run through the Manager and the proven machine side by side: explorations, stress runs, scenarios. Prints one
// line a load, and what was done in all; ends with 1 at the first difference.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <kvpane/cli/explore_config.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/scenario_file.h>
#include <kvpane/cli/stress_config.h>
#include <kvpane/invariants/proof/oracle/oracle_runs.h>

namespace {

using namespace kvpane::invariants;

struct Options {
    std::vector<std::string> explore, stress, scenarios;
    std::int64_t edges = 0;
    std::int64_t steps = 0;
    std::uint64_t seeds = 1;
    std::int64_t at_least = 0;
};

class Totals {
public:
    // False when the machine and the Manager differ.
    bool add(const std::string& load, const oracle::OracleReport& report) {
        operations_ += report.counts.operations;
        seconds_ += report.seconds;
        for (const auto& [what, times] : report.counts.outside) {
            outside_[what] += times;
        }
        fmt::print("{:<56} {:>9} operations {:>8.0f} a second{}\n", load, report.counts.operations,
                   static_cast<double>(report.counts.operations) / std::max(report.seconds, 1e-9),
                   report.counts.outside.empty() ? "" : "; partly outside the machine");
        loads_ += 1;
        loads_outside_ += report.counts.outside.empty() ? 0 : 1;
        if (report.difference) {
            fmt::print("DIFFERENCE in {} at {}\n", load, *report.difference);
        }
        std::fflush(stdout);
        return !report.difference;
    }

    // Whether enough was done.
    bool tell(std::int64_t at_least) const {
        fmt::print("\n{} operations in {:.0f} s, {:.0f} a second, 0 differences\n", operations_, seconds_,
                   static_cast<double>(operations_) / std::max(seconds_, 1e-9));
        fmt::print("{} loads, {} of them partly outside the machine\n", loads_, loads_outside_);
        for (const auto& [what, times] : outside_) {
            fmt::print("outside the machine, {} times: {}\n", times, what);
        }
        if (operations_ < at_least) {
            fmt::print("these are fewer than {} operations\n", at_least);
        }
        return operations_ >= at_least;
    }

private:
    std::int64_t operations_ = 0;
    int loads_ = 0;
    int loads_outside_ = 0;
    double seconds_ = 0;
    std::map<std::string, std::int64_t> outside_;
};

// All scenario files below the paths, sorted.
std::vector<std::string> files_below(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!std::filesystem::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
            if (entry.path().extension() == ".toml") {
                files.push_back(entry.path().string());
            }
        }
    }
    std::ranges::sort(files);
    return files;
}

int differential(const Options& options) {
    Totals totals;
    for (const std::string& file : files_below(options.scenarios)) {
        if (!totals.add(file, oracle::run(kvpane::cli::read_scenario(file)))) {
            return 1;
        }
    }
    for (const std::string& file : options.explore) {
        const ExploreConfig config = kvpane::cli::read_explore_config(file).explore;
        if (!totals.add(file, oracle::explore(config, options.edges))) {
            return 1;
        }
    }
    for (const std::string& file : options.stress) {
        StressConfig config = kvpane::cli::read_run_config(file).stress;
        config.steps = options.steps > 0 ? options.steps : config.steps;
        for (std::uint64_t i = 0; i < options.seeds; ++i, ++config.seed) {
            if (!totals.add(fmt::format("{} seed {}", file, config.seed), oracle::stress(config))) {
                return 1;
            }
        }
    }
    return totals.tell(options.at_least) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("The Manager and the proven machine, side by side");
    app.add_option("--scenarios", options.scenarios, "scenario files, and folders of them");
    app.add_option("--explore", options.explore, "configurations of explorations");
    app.add_option("--edges", options.edges, "most transitions of each exploration; 0 = all");
    app.add_option("--stress", options.stress, "configurations of stress runs");
    app.add_option("--steps", options.steps, "steps of each stress run; 0 = as configured");
    app.add_option("--seeds", options.seeds, "seeds that each of them is run with, from the configured one on");
    app.add_option("--at-least", options.at_least, "operations that must be done in all");
    CLI11_PARSE(app, argc, argv);
    try {
        return differential(options);
    } catch (const kvpane::cli::InputError& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}

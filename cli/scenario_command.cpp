// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/printable.h>
#include <kvpane/cli/scenario_file.h>

namespace kvpane::cli {

namespace {

// The path itself, or all .toml files below it, by name.
std::vector<std::string> files_at(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
        return {path};
    }
    std::vector<std::string> files;
    auto entry = std::filesystem::recursive_directory_iterator(path, error);
    while (!error && entry != std::filesystem::recursive_directory_iterator()) {
        if (entry->path().extension() == ".toml" && !entry->is_directory()) {
            files.push_back(entry->path().string());
        }
        entry.increment(error);
    }
    if (error) {
        throw InputError(path, {}, fmt::format("cannot be read: {}", error.message()));
    }
    if (files.empty()) {
        throw InputError(path, {}, "holds no .toml file");
    }
    std::ranges::sort(files);
    return files;
}

struct Totals {
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    bool malformed = false;
};

void run_file(const std::string& file, const std::optional<invariants::PayloadOptions>& payload, Totals& totals) {
    const invariants::Scenario scenario = read_scenario(file);
    const auto failure = invariants::run(scenario, fitting(payload, file, scenario.config));
    if (failure) {
        totals.failed += 1;
        fmt::print("FAIL {}:{} step {}: {}\n", file, failure->line, failure->step,
                   printable(failure->what));
    } else {
        totals.passed += 1;
        fmt::print("ok   {}\n", file);
    }
}

// Calls `work`; what is malformed counts as failed, and the rest goes on.
template <class Work>
void surviving(Totals& totals, Work work) {
    try {
        work();
    } catch (const InputError& error) {
        totals.failed += 1;
        totals.malformed = true;
        std::fflush(stdout);
        fmt::print(stderr, "{}\n", error.what());
    }
}

}  // namespace

ExitCode run_scenarios(const ScenarioOptions& options) {
    const auto payload = options.payload.options();
    Totals totals;
    for (const std::string& path : options.paths) {
        surviving(totals, [&] {
            for (const std::string& file : files_at(path)) {
                surviving(totals, [&] { run_file(file, payload, totals); });
            }
        });
    }
    fmt::print("{} passed, {} failed\n", totals.passed, totals.failed);
    if (totals.malformed) {
        return exit_bad_input;
    }
    return totals.failed > 0 ? exit_broken : exit_ok;
}

}  // namespace kvpane::cli

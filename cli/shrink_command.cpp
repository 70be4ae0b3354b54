// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <cstdio>
#include <stdexcept>

#include <unistd.h>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/isolated.h>
#include <kvpane/cli/journal_file.h>
#include <kvpane/cli/json_report.h>
#include <kvpane/cli/printable.h>
#include <kvpane/cli/report.h>
#include <kvpane/cli/scenario_writer.h>
#include <kvpane/invariants/shrinker.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

Case read_case(const JournalFile& journal) {
    JournalReader reader = journal.reader();
    Case one{reader.header().config, {}};
    while (const JournalEntry* entry = reader.next()) {
        one.operations.push_back(entry->operation);
    }
    journal.tell(reader);
    return one;
}

bool is_text(const std::string& word) { return find_what_is_not_text(word).sentence.empty(); }

// Names that no scenario can say are replaced: nothing depends on them.
void spell_groups(Config& config) {
    for (std::size_t i = 0; i < config.groups.size(); ++i) {
        if (!is_text(config.groups[i].name)) {
            config.groups[i].name = fmt::format("group {}", i);
        }
    }
}

Scenario scenario_of(const Case& one, const IsolatedRun& run) {
    Scenario scenario;
    scenario.title = fmt::format("{} breaks at step {}", run.failure->kind, run.failure->operation);
    scenario.config = one.config;
    for (std::size_t i = 0; i < one.operations.size(); ++i) {
        ScenarioStep step;
        step.operation = one.operations[i];
        const bool fails = static_cast<std::int64_t>(i) + 1 == run.failure->operation;
        step.expect.error = fails ? run.failure->due : i < run.errors.size() ? run.errors[i] : std::nullopt;
        scenario.steps.push_back(std::move(step));
    }
    return scenario;
}

void show(const ShrinkProgress& progress) {
    fmt::print(stderr, "\r\033[K{} candidates tried, {} operations with {} tokens left", progress.candidates,
               progress.operations, progress.tokens);
    std::fflush(stderr);
}

}  // namespace

ExitCode run_shrink(const ShrinkOptions& options) {
    const JournalFile journal(options.journal);
    const OutputFile output(options.output, {options.journal}, "-o");
    const auto payload = fitting(options.payload.options(), options.journal, journal.header().config);
    const RunCase run_case = [&](const Case& one, const std::function<void(const Outcome&)>& each) {
        return judge(one, each, payload);
    };
    Case failing = read_case(journal);
    spell_groups(failing.config);
    const IsolatedRun original = run_isolated(failing, run_case);
    if (!original.failure) {
        throw InputError(fmt::format("{} has nothing to shrink: its {} operations break no invariant", options.journal,
                                     failing.operations.size()));
    }
    fmt::print("{} breaks at operation {} of {}: {}\n", original.failure->kind, original.failure->operation,
               failing.operations.size(), original.failure->what);
    const StillFails still_fails = [&](const Case& candidate) {
        const IsolatedRun run = run_isolated(candidate, run_case);
        return run.failure && run.failure->kind == original.failure->kind;
    };
    if (!still_fails(in_order(failing))) {
        throw InputError(fmt::format("{}: the failure needs operations that no scenario can say", options.journal));
    }
    ShrinkLimits limits;
    limits.candidates = options.candidates.value_or(limits.candidates);
    const bool on_terminal = isatty(STDERR_FILENO) == 1;
    if (on_terminal) {
        limits.progress = show;
    }
    const Shrunk shrunk = shrink(failing, still_fails, limits);
    if (on_terminal) {
        std::fputs("\r\033[K", stderr);
    }
    const IsolatedRun smallest = run_isolated(shrunk.smallest, run_case);
    if (!smallest.failure) {
        throw std::runtime_error("the smallest case does not fail when it is run again");
    }
    const std::string running = fmt::format("kvpane scenario {}{}", quoted(options.output), options.payload.words());
    const std::string comment =
        fmt::format("# {} at step {}: {}\n{}", smallest.failure->kind, smallest.failure->operation,
                    smallest.failure->what, payload ? fmt::format("# It shows on real cells: {}\n", printable(running)) : "");
    output.write(comment + scenario_text(scenario_of(shrunk.smallest, smallest)));
    fmt::print("{}{}", row("operations", fmt::format("{}", shrunk.smallest.operations.size())),
               row("tokens", fmt::format("{}", tokens_of(shrunk.smallest.operations))));
    fmt::print("{}", row("candidates tried",
                         fmt::format("{}{}", shrunk.candidates, shrunk.is_finished ? "" : " (the limit)")));
    fmt::print("{}", row("run it", running));
    return exit_ok;
}

}  // namespace kvpane::cli

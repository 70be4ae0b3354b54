// SPDX-License-Identifier: Apache-2.0
// Scenario files: what parses can be written and parses to the same, and small ones run without a broken invariant.
#include <kvpane/cli/scenario_file.h>
#include <kvpane/cli/scenario_writer.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/scenario.h>

#include "fuzz/places.h"
#include "fuzz/small.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

// The Manager and the operations as the bytes of a journal: equal for equal ones, whatever fields a verb has.
std::vector<std::byte> bytes_of(const Scenario& scenario) {
    MemorySink sink;
    JournalWriter writer(sink, {scenario.config, CheckMode::every, false, 0, 0});
    for (const ScenarioStep& step : scenario.steps) {
        writer.record(step.operation, {step.expect.error, step.expect.cached_tokens.value_or(-1), step.repeat,
                                       std::nullopt, step.expect.index_entries.value_or(-1)});
    }
    writer.flush();
    return sink.bytes();
}

Scenario written_and_read(const Scenario& scenario) {
    const std::string written = cli::scenario_text(scenario);
    try {
        return cli::parse_scenario("written", written);
    } catch (const cli::InputError& error) {
        throw Broken(text("what was written is refused: ", error.what(), "\n", written));
    }
}

bool is_quick(const Scenario& scenario) {
    std::int64_t operations = 0;
    for (const ScenarioStep& step : scenario.steps) {
        operations += step.repeat;
        if (step.operation.tokens.size() > most_small_tokens) {
            return false;
        }
    }
    return operations <= most_small_operations && is_small(scenario.config);
}

}  // namespace

void scenarios(Input input) {
    Scenario scenario;
    const std::string_view text = as_text(input);
    if (!is_text(text) || !reads(text, [&] { scenario = cli::parse_scenario(input_name, text); })) {
        return;
    }
    const Scenario again = written_and_read(scenario);
    require(again.title == scenario.title, "the title changed from '", scenario.title, "' to '", again.title, "'");
    require(again.names == scenario.names, "the names of the sequences changed");
    require(bytes_of(again) == bytes_of(scenario), "the Manager or the steps changed:\n", cli::scenario_text(scenario));
    if (is_quick(scenario)) {
        const auto failure = run(scenario);
        require(!failure || !failure->what.starts_with("invariant "), "line ", failure ? failure->line : 0, ": ",
                failure ? failure->what : "");
    }
}

}  // namespace kvpane::fuzz

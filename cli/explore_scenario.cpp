// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/explore_scenario.h>

#include <algorithm>

#include <fmt/format.h>

#include <kvpane/cli/scenario_writer.h>

namespace kvpane::cli {

using namespace invariants;

std::string scenario_text(const Config& config, const ExploreViolation& violation) {
    Scenario scenario;
    scenario.title = fmt::format("{}: {}", number(violation.invariant), sentence(violation.invariant));
    scenario.config = config;
    const auto add = [&](const Operation& operation) {
        scenario.steps.emplace_back().operation = operation;
    };
    std::ranges::for_each(violation.trace, add);
    if (scenario.steps.empty()) {
        scenario.steps.emplace_back();
    }
    Expectation& due = scenario.steps.back().expect;
    const Verb last = scenario.steps.back().operation.verb;
    if (violation.due) {
        due.error = violation.due;
    } else if (last == Verb::admit || last == Verb::probe) {
        due.cached_tokens = violation.cached_tokens;
    }
    due.index_entries = violation.index_entries;
    std::ranges::for_each(violation.coda, add);
    return fmt::format("# Found by an exploration, no shorter way leads there: {}\n{}", violation.what,
                       scenario_text(scenario));
}

}  // namespace kvpane::cli

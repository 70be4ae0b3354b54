// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/scenario.h>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/scenario_compare.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

// All repetitions of a step; the copies, events and slots of the successful ones add up.
StepResult run_step(CheckedManager& checked, const ScenarioStep& step) {
    StepResult result;
    result.slots.resize(checked.manager().groups());
    for (std::int64_t i = 0; i < step.repeat && !checked.violation(); ++i) {
        const Outcome outcome = checked.apply(step.operation, true);
        result.error = outcome.error;
        if (outcome.error && outcome.error != step.expect.error) {
            break;  // not the refusal that was expected: nothing after it makes it right
        }
        result.plan = outcome.plan;
        result.cached_tokens = outcome.cached_tokens;
        for (const BlockCopy& copy : outcome.step.copies) {
            ++result.copies;
            result.copied_cells += copy.cells;
        }
        for (std::uint32_t group = 0; group < checked.manager().groups(); ++group) {
            const auto slots = outcome.step.slots_of(GroupId{group});
            result.slots[group].insert(result.slots[group].end(), slots.begin(), slots.end());
        }
        result.events.stored += outcome.events.stored;
        result.events.removed += outcome.events.removed;
        result.events.cleared += outcome.events.cleared;
    }
    return result;
}

std::string spell(const std::optional<Error>& error) {
    return error ? text("error ", to_string(*error)) : "success";
}

}  // namespace

std::optional<ScenarioFailure> run(const Scenario& scenario, const std::optional<PayloadOptions>& payload) {
    CheckedManager checked(scenario.config, CheckMode::every, {}, payload);
    checked.spell(scenario.names);
    std::int64_t number = 0;
    for (const ScenarioStep& step : scenario.steps) {
        ++number;
        const StepResult result = run_step(checked, step);
        std::optional<std::string> what;
        if (const auto& violation = checked.violation()) {
            what = text("invariant ", kvpane::invariants::number(violation->invariant), " broken: ",
                        sentence(violation->invariant), ": ", violation->what);
        } else if (result.error != step.expect.error) {
            what = text("expected ", spell(step.expect.error), ", got ", spell(result.error));
        } else {
            what = difference(step, result, checked, scenario.names);
        }
        if (what) {
            return ScenarioFailure{step.line, number, *what};
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants

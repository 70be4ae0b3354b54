// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/scenario.h>

namespace kvpane::invariants {

// What the repetitions of one step gave together.
struct StepResult {
    std::optional<Error> error;  // of the last one
    std::optional<Plan> plan;
    Length cached_tokens = 0;
    std::int64_t copies = 0;
    std::int64_t copied_cells = 0;
    EventCounts events;
    std::vector<Ints> slots;  // [n_groups]
};

// The first expectation of the step that does not hold, as "expected pool.free = 5, got 4".
std::optional<std::string> difference(const ScenarioStep& step, const StepResult& result,
                                      const CheckedManager& checked, const std::vector<std::string>& names);

}  // namespace kvpane::invariants

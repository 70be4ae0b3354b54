// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/cli/scenario_names.h>
#include <kvpane/cli/toml_reader.h>
#include <kvpane/invariants/scenario.h>

namespace kvpane::cli {

// The `expect` table of one step. ERRORS InputError with the place.
invariants::Expectation read_expectation(Table& expect, invariants::Verb verb, const Config& config,
                                         const ScenarioNames& names);

}  // namespace kvpane::cli

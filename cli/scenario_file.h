// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <kvpane/invariants/scenario.h>

namespace kvpane::cli {

// Reads a scenario (docs/scenario-format.md). ERRORS InputError with the place: no TOML, an unknown key, op, sequence
// or error name, a wrong type, a value out of range, an op that is not supported yet.
invariants::Scenario read_scenario(const std::string& file);
invariants::Scenario parse_scenario(const std::string& file, std::string_view text);

}  // namespace kvpane::cli

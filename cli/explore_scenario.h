// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/explorer.h>

namespace kvpane::cli {

// The trace of a violation as a scenario file that `kvpane scenario` reads, and that fails by itself. Sequences are
// called s0, s1, ...; what an exploration cannot use (scopes, external contents, priorities) is not written.
std::string scenario_text(const Config& config, const invariants::ExploreViolation& violation);

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/blocktable/config.h>
#include <kvpane/cli/toml_reader.h>

namespace kvpane::cli {

// The library takes more, but a run keeps shadow cells and recounts every block: a pool beyond this would not fit into
// the memory of a common machine.
inline constexpr std::int64_t most_run_blocks = 16'777'216;
inline constexpr std::int64_t most_run_cells = 134'217'728;

// The tables [pool], [manager], [prefix_cache] and [[group]] of a scenario or a run, as the Manager's Config.
// ENSURES validate(config) finds nothing. ERRORS InputError with the place.
Config read_manager_config(Table& file);

}  // namespace kvpane::cli

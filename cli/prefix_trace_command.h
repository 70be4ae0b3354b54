// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <kvpane/cli/commands.h>

namespace kvpane::cli {

// The part of run_trace() for traces of prefixes: replays `text`, that of options.trace, once for each policy and
// capacity. ERRORS as run_trace().
ExitCode run_prefix_trace(const TraceOptions& options, std::string_view text);

}  // namespace kvpane::cli

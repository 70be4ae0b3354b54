// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/payload_options.h>

namespace CLI {
class App;
}

namespace kvpane::cli {

// How a command line asks for real K and V beside the judge's books: --payload, or --payload-of CONFIG.
struct PayloadFlag {
    bool is_usual = false;                   // of the default shape
    std::optional<std::string> config = {};  // as the [payload] of this configuration has them

    // Adds both options, which exclude each other. This must live until the command line is parsed.
    void add_to(CLI::App& command);

    // What is asked for. ERRORS InputError: as read_run_config(); the configuration has no [payload], or it is switched off.
    std::optional<invariants::PayloadOptions> options() const;

    // The words that say the same to another command: "", " --payload" or " --payload-of FILE".
    std::string words() const;
};

// The options. ERRORS InputError: too large for the Manager that `file` describes.
const std::optional<invariants::PayloadOptions>& fitting(const std::optional<invariants::PayloadOptions>& options,
                                                         const std::string& file, const Config& config);

}  // namespace kvpane::cli

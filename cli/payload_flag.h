// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <kvpane/blocktable/config.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/stress_config.h>
#include <kvpane/invariants/payload_options.h>

namespace kvpane::cli {

inline constexpr auto payload_text =
    "Keep real K and V beside the judge's books, too, and compare what is gathered byte by byte";

// The options. ERRORS InputError: too large for the Manager that a file describes.
inline const invariants::PayloadOptions& fitting(const invariants::PayloadOptions& options, const std::string& file,
                                                 const Config& config) {
    if (const auto what = find_wrong(config, options)) {
        throw InputError(file, {}, *what);
    }
    return options;
}

// What --payload asks for, of the Manager that a file describes. ERRORS InputError: too large for one.
inline std::optional<invariants::PayloadOptions> payload_of(bool is_given, const std::string& file,
                                                            const Config& config) {
    if (!is_given) {
        return std::nullopt;
    }
    return fitting({}, file, config);
}

// The [payload] of a configuration, for the Manager that another file describes. ERRORS InputError as
// read_run_config(); there is none, or it is switched off; too large for the Manager.
inline invariants::PayloadOptions payload_of_config(const std::string& config_file, const std::string& file,
                                                    const Config& config) {
    const std::optional<invariants::PayloadOptions> options = read_run_config(config_file).stress.payload;
    if (!options) {
        throw InputError(config_file, {}, "[payload] is missing, or switched off");
    }
    return fitting(*options, file, config);
}

}  // namespace kvpane::cli

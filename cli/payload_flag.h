// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <kvpane/blocktable/config.h>
#include <kvpane/cli/input.h>
#include <kvpane/invariants/payload_options.h>

namespace kvpane::cli {

inline constexpr auto payload_text =
    "Keep real K and V beside the judge's books, too, and compare what is gathered byte by byte";

// What --payload asks for, of the Manager that a file describes. ERRORS InputError: too large for one.
inline std::optional<invariants::PayloadOptions> payload_of(bool is_given, const std::string& file,
                                                            const Config& config) {
    if (!is_given) {
        return std::nullopt;
    }
    const invariants::PayloadOptions options;
    if (const auto what = find_wrong(config, options)) {
        throw InputError(file, {}, *what);
    }
    return options;
}

}  // namespace kvpane::cli

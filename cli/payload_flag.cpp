// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/payload_flag.h>

#include <CLI/CLI.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/cli/report.h>
#include <kvpane/cli/stress_config.h>

namespace kvpane::cli {

using invariants::PayloadOptions;

void PayloadFlag::add_to(CLI::App& command) {
    CLI::Option* usual = command.add_flag(
        "--payload", is_usual,
        "Keep real K and V beside the judge's books, too, and compare what is gathered byte by byte");
    command
        .add_option("--payload-of", config, "The same with cells as the [payload] of this configuration has them")
        ->excludes(usual);
}

std::optional<PayloadOptions> PayloadFlag::options() const {
    if (!config) {
        return is_usual ? std::optional(PayloadOptions{}) : std::nullopt;
    }
    const std::optional<PayloadOptions> found = read_run_config(*config).stress.payload;
    if (!found) {
        throw InputError(*config, {}, "[payload] is missing, or switched off");
    }
    return found;
}

std::string PayloadFlag::words() const {
    if (config) {
        return " --payload-of " + quoted(*config);
    }
    return is_usual ? " --payload" : "";
}

const std::optional<PayloadOptions>& fitting(const std::optional<PayloadOptions>& options, const std::string& file,
                                             const Config& config) {
    if (const auto what = options ? find_wrong(config, *options) : std::nullopt) {
        throw InputError(file, {}, *what);
    }
    return options;
}

}  // namespace kvpane::cli

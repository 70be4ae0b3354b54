// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kvpane/invariants/length_replay.h>
#include <kvpane/invariants/stress.h>

namespace kvpane::cli {

// What a configuration file says (docs/configuration.md); `kvpane stress` and `kvpane trace` read the same files.
struct RunConfig {
    invariants::StressConfig stress;
    bool has_workload = false;  // without [workload] the file serves `kvpane trace` only
    bool says_check = false;    // the file chose stress.check itself
    std::uint32_t samples = 1;  // [trace]
    std::uint32_t alive = 1;
    std::uint64_t digest = 0;  // of the file's bytes
};

// ERRORS InputError with the place, those of a trace that a distribution names included.
RunConfig read_run_config(const std::string& file);
RunConfig parse_run_config(const std::string& file, std::string_view text);

// How often the judge looks, by name. Nothing for another word.
std::optional<invariants::CheckMode> check_mode(std::string_view word);
std::string_view to_string(invariants::CheckMode mode) noexcept;

inline constexpr std::int64_t most_steps = 1'000'000'000'000;
inline constexpr std::uint32_t most_samples = 1024;
inline constexpr std::int64_t most_kv_heads = 128;

}  // namespace kvpane::cli

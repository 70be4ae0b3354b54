// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::cli {

// What a configuration file says of an exploration: docs/exploring.md.
struct ExploreFile {
    std::string title;
    invariants::ExploreConfig explore;
    std::uint64_t digest = 0;  // of the file's bytes
};

// ERRORS InputError with the place, for what is too large to be explored too.
ExploreFile read_explore_config(const std::string& file);
ExploreFile parse_explore_config(const std::string& file, std::string_view text);

inline constexpr std::int64_t most_states = 1'000'000'000;
inline constexpr std::uint32_t most_threads = 64;

}  // namespace kvpane::cli

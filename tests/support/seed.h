// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace kvpane::testing {

/// The seed of every random test: KVPANE_SEED from the environment, else a fixed number, so that a run can be repeated.
/// Throws std::invalid_argument or std::out_of_range when KVPANE_SEED is not a number.
inline std::uint64_t seed() {
    const char* text = std::getenv("KVPANE_SEED");
    return text == nullptr ? 20'260'101U : std::stoull(text);
}

}  // namespace kvpane::testing

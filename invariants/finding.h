// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kvpane/invariants/catalogue.h>
#include <kvpane/invariants/shadow_cells.h>

namespace kvpane::invariants {

// Where a finding is, as far as it has a place.
struct Site {
    std::optional<Name> sequence = {};
    std::optional<std::uint32_t> group = {};
    std::optional<Length> position = {};
    std::optional<BlockId> block = {};
    std::optional<ShadowCell> expected = {};
    std::optional<ShadowCell> found = {};
};

// A sentence of the catalogue that does not hold.
struct Finding {
    Invariant invariant;
    std::string what;  // one sentence: where, expected, found
    Site site = {};
};
using Found = std::optional<Finding>;

}  // namespace kvpane::invariants

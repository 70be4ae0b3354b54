// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <kvpane/invariants/explorer_world.h>

// What the contract says an operation must end with, worked out from the state before it. It asks no planner and no
// index: references are read from the tables, hits are searched in the contents of all blocks.
namespace kvpane::invariants::explorer {

// The blocks that a prompt finds.
struct Hit {
    Length tokens = 0;
    // [group][logical block] 0 where nothing is taken over; the block that matches in part, if any, stands last.
    std::array<std::array<std::uint8_t, most_length>, most_groups> blocks{};
};

// The longest prefix of a prompt, at most `most` tokens, that a new sequence may take over, and its oldest copies.
// COST O(most * groups * blocks).
Hit longest_hit(const Setting& setting, const World& world, Prefix prompt, Length length, Length most);

struct Due {
    static constexpr std::uint8_t bit(Error error) {
        return static_cast<std::uint8_t>(1U << static_cast<std::uint8_t>(error));
    }

    std::uint8_t errors = 0;  // it ends with one of these; none: it succeeds
    bool takes = false;       // the next four hold when it succeeds
    std::int64_t blocks = 0;
    std::int64_t copies = 0;
    std::int64_t copied_cells = 0;
    Length cells = 0;
    std::optional<Length> value;  // Result::value
    Hit hit;                      // admit
};

Due due(const Setting& setting, const World& world, const Move& move);

}  // namespace kvpane::invariants::explorer

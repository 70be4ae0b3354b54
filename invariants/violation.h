// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/allocator/error.h>
#include <kvpane/invariants/catalogue.h>
#include <kvpane/invariants/shadow_cells.h>

namespace kvpane::invariants {

class BlockHistory;
struct Finding;
struct Scene;

// A broken invariant, as it is reported. What has no place, or is not known, is empty.
struct Violation {
    Invariant invariant;
    std::int64_t operation = 0;     // its number, from 1
    std::string what;               // one sentence: sequence, group, position, expected and found cell
    std::optional<Error> due = {};  // what the contract wants the operation to end with; nothing = success

    std::string sequence = {};
    std::string group = {};
    std::optional<Length> position = {};
    std::optional<ShadowCell> expected = {};
    std::optional<ShadowCell> found = {};
    std::optional<BlockId> block = {};
    std::vector<std::string> block_history = {};  // the last operations that touched the block, oldest first; its state
};

// The report of a finding at an operation. The block of a position is looked up in the tables; `history` may be null.
Violation report(Finding finding, std::int64_t operation, const Scene& scene, const BlockHistory* history);

// "VIOLATION T3 at operation 19: ...", what was found, and what last happened to the block; ends with a line feed.
std::string text_of(const Violation& violation);

}  // namespace kvpane::invariants

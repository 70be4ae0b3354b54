// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "benchmarks/bench.h"

namespace kvpane::bench {

// One line for each row: "ours" and "floor" in ns per unit, their ratio, the goal ("!" where it is missed), and what the
// work gave. Values that must come out and did not are listed behind the table.
std::string table(std::span<const Row> rows);

// The same for programs, with every check.
std::string json(std::span<const Row> rows, std::size_t rounds);

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/report.h"

#include <fmt/format.h>

namespace kvpane::bench {

namespace {

std::string goal(const Row& row) {
    return row.goal > 0 ? fmt::format("{:g}{}", row.goal, row.misses_its_goal() ? " !" : "") : "-";
}

std::string first_check(const Row& row) {
    return row.checks.empty() ? "-" : fmt::format("{} {:#x}", row.checks.front().name, row.checks.front().value);
}

}  // namespace

std::string table(std::span<const Row> rows) {
    constexpr auto line = "{:<8} {:<24} {:>10} {:>10} {:>8} {:>6}  {:<5} {:<8} {}\n";
    std::string out = fmt::format(line, "", "", "ours ns", "floor ns", "ratio", "goal", "right", "per", "checksum");
    std::string wrong;
    for (const Row& row : rows) {
        out += fmt::format(line, row.workload, row.variant, fmt::format("{:.2f}", row.ours),
                           fmt::format("{:.2f}", row.floor), fmt::format("{:.2f}", row.ratio), goal(row),
                           row.is_right() ? "yes" : "NO", row.unit, first_check(row));
        for (const Check& check : row.checks) {
            if (!check.holds()) {
                wrong += fmt::format("WRONG: {}, {}: {} is {:#x}, must be {:#x}\n", row.workload, row.variant,
                                     check.name, check.value, check.expected);
            }
        }
    }
    return out + wrong;
}

}  // namespace kvpane::bench

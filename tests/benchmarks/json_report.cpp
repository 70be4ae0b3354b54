// SPDX-License-Identifier: Apache-2.0
// The only file here that pays for the JSON library's headers.
#include <nlohmann/json.hpp>

#include <kvpane/version.h>

#include "benchmarks/report.h"

namespace kvpane::bench {

using Json = nlohmann::ordered_json;

std::string json(std::span<const Row> rows, std::size_t rounds) {
    Json out{{"version", version}, {"rounds", rounds}, {"rows", Json::array()}};
    for (const Row& row : rows) {
        Json checks = Json::array();
        for (const Check& check : row.checks) {
            checks.push_back({{"name", check.name}, {"value", check.value}, {"expected", check.expected}});
        }
        out["rows"].push_back({{"workload", row.workload},
                               {"variant", row.variant},
                               {"unit", row.unit},
                               {"ours_ns", row.ours},
                               {"floor_ns", row.floor},
                               {"ratio", row.ratio},
                               {"goal", row.goal > 0 ? Json(row.goal) : Json()},
                               {"right", row.is_right()},
                               {"checks", std::move(checks)}});
    }
    return out.dump(2) + '\n';
}

}  // namespace kvpane::bench

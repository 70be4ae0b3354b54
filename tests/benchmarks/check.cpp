// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <kvpane/invariants/inspector.h>

#include "benchmarks/workload_list.h"
#include "support/recorded_workloads.h"

// What check mode costs: the decode steps of workload B on an inspected Manager, against the same on a plain one. Walks
// are too rare to fall into the 30 ms of a round; they are paced to a twentieth of the time (sampled: a fiftieth).
namespace kvpane::bench {

namespace {

using invariants::CheckMode;
using invariants::Inspector;
using B = testing::DecodeWorkload;

constexpr double tokens = static_cast<double>(B::sequences) * static_cast<double>(B::steps);

Sample plain() {
    B b(true);
    return {time([&] { b.decode(); }), tokens};
}

Sample inspected(CheckMode mode) {
    std::optional<invariants::Violation> violation;
    std::unique_ptr<Inspector> inspector;
    B b(true, [&](Manager& kv) {
        inspector = std::make_unique<Inspector>(
            kv, invariants::InspectorOptions{mode, [&](const invariants::Violation& found) { violation = found; }, 0});
    });
    Sample sample{time([&] { b.decode(); }), tokens};
    sample.checks = {{"tables", b.hash_of_tables(), B::tables}, {"violations", violation ? 1U : 0U, 0U}};
    inspector.reset();  // before its Manager
    return sample;
}

}  // namespace

void check_mode(Bench& bench) {
    struct Mode {
        CheckMode mode;
        const char* name;
        double goal;
    };
    for (const auto& [mode, name, goal] :
         {Mode{CheckMode::off, "off", 1.02}, Mode{CheckMode::sampled, "sampled", 1.1}, Mode{CheckMode::every, "every", 4}}) {
        bench.measure({.workload = "check", .variant = name, .unit = "token", .goal = goal},
                      [m = mode] { return inspected(m); }, plain);
    }
}

}  // namespace kvpane::bench

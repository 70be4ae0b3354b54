// SPDX-License-Identifier: Apache-2.0
// Configurations: whatever can be read can be run, and no invariant breaks on the way.
#include <algorithm>

#include <kvpane/cli/explore_config.h>
#include <kvpane/cli/stress_config.h>

#include "fuzz/places.h"
#include "fuzz/small.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

void require_none(const std::optional<Violation>& violation, std::string_view where) {
    require(!violation, where, ": invariant ", violation ? number(violation->invariant) : "",
            " broken: ", violation ? violation->what : "");
}

// A few steps of it.
StressConfig cut_down(StressConfig config) {
    constexpr std::int64_t most_steps = 40;
    constexpr Length longest = 40;
    config.steps = std::min(config.steps, most_steps);
    config.manager = made_small(std::move(config.manager));
    config.most_sequences = std::min(config.most_sequences, 8U);
    config.sharing.count = std::min(config.sharing.count, 8U);
    if (config.payload) {
        config.payload->kv_heads = std::min(config.payload->kv_heads, 2U);
        config.payload->head_dim = std::min(config.payload->head_dim, 16U);
    }
    for (LengthDistribution* lengths :
         {&config.prompt, &config.chunk, &config.draft, &config.rewind, &config.sharing.length}) {
        lengths->min = std::min(lengths->min, longest);
        lengths->max = std::min(lengths->max, longest);
    }
    return config;
}

void run(StressConfig config) {
    config.check = CheckMode::every;
    const StressReport checked = stress(config);
    require_none(checked.violation, "stress");
    config.check = CheckMode::off;
    const StressReport plain = stress(config);
    require(plain.digest == checked.digest && plain.operations == checked.operations,
            "a run without checks does something else");
}

// A few states of it, and few ways on from each.
ExploreConfig cut_down(ExploreConfig config) {
    config.longest = std::min(config.longest, Length{5});
    config.longest_prompt = std::min(config.longest_prompt, Length{4});
    config.alphabet = 2;
    config.reserve = std::min(config.reserve, Length{2});
    config.partial = std::min(config.partial, 1U);
    config.limit = std::min(config.limit, std::int64_t{20});
    return config;
}

void run(const ExploreConfig& config) {
    const ExploreReport report = explore(config);
    require(!report.violation, "explore: invariant ", report.violation ? number(report.violation->invariant) : "",
            " broken: ", report.violation ? report.violation->what : "");
}

}  // namespace

void configs(Input input) {
    const std::string_view text = as_text(input);
    // With a column it names a trace: then it is not only this input that is read.
    if (!is_text(text) || text.find("column") != std::string_view::npos) {
        return;
    }
    cli::RunConfig config;
    if (reads(text, [&] { config = cli::parse_run_config(input_name, text); }) && config.has_workload) {
        run(cut_down(std::move(config.stress)));
    }
    cli::ExploreFile file;
    if (reads(text, [&] { file = cli::parse_explore_config(input_name, text); })) {
        run(cut_down(std::move(file.explore)));
    }
}

}  // namespace kvpane::fuzz

// SPDX-License-Identifier: Apache-2.0
// Identity never depends on the hash: where every block hashes alike, every table, hit and event is the same.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <kvpane/cli/scenario_file.h>
#include <kvpane/cli/stress_config.h>
#include <kvpane/invariants/scenario.h>
#include <kvpane/invariants/stress.h>

#include "support/runs.h"

using namespace kvpane;
using namespace kvpane::invariants;

namespace {

std::vector<std::string> toml_files(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(KVPANE_SOURCE_DIR "/" + folder)) {
        if (entry.path().extension() == ".toml") {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    return files;
}

StressReport run_with(bool constant_hash, StressConfig config) {
    config.manager.prefix_cache.constant_hash = constant_hash;
    return stress(config);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constant_hash)

BOOST_AUTO_TEST_CASE(every_scenario_passes_with_it) {
    const std::vector<std::string> files = toml_files("tests/scenarios");
    BOOST_TEST(files.size() > 100U);
    for (const std::string& file : files) {
        Scenario scenario = cli::read_scenario(file);
        scenario.config.prefix_cache.constant_hash = true;
        const auto failure = run(scenario);
        BOOST_TEST(!failure.has_value(), file << ": " << (failure ? failure->what : ""));
    }
}

BOOST_AUTO_TEST_CASE(every_configuration_gives_the_same_tables_hits_and_events_with_it,
                     *boost::unit_test::precondition(testing::has_time)) {
    for (const std::string& file : toml_files("configs")) {
        if (file.find("configs/explore/") != std::string::npos) {
            continue;  // no workloads: explorer_test.cpp explores with and without it
        }
        cli::RunConfig config = cli::read_run_config(file);
        if (!config.has_workload) {
            continue;
        }
        config.stress.check = CheckMode::off;
        config.stress.steps = 2000;
        const StressReport usual = run_with(false, config.stress);
        const StressReport constant = run_with(true, config.stress);
        BOOST_TEST(constant.digest == usual.digest, file);
        BOOST_TEST(constant.operations == usual.operations, file);
        BOOST_TEST(constant.statistics.hit_tokens == usual.statistics.hit_tokens, file);
        BOOST_TEST(constant.events.stored == usual.events.stored, file);
        BOOST_TEST(constant.events.removed == usual.events.removed, file);
        BOOST_TEST(constant.index_entries == usual.index_entries, file);
    }
}

BOOST_AUTO_TEST_SUITE_END()

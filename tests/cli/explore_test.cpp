// SPDX-License-Identifier: Apache-2.0
// kvpane explore: its configurations, its report, and the scenario that it writes.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include <kvpane/cli/explore_config.h>
#include <kvpane/cli/explore_scenario.h>
#include <kvpane/cli/scenario_file.h>

#include "cli/program.h"

using namespace kvpane;
using cli::parse_explore_config;
using invariants::ExploreConfig;
using invariants::ExploreViolation;
using invariants::Operation;
using invariants::Verb;
using testing::Folder;
using testing::Ran;
using testing::refusal_of;
using testing::run_kvpane;

namespace {

const std::string pool = "[pool]\nblock_size = 1\nblocks = 2\n";
const std::string explore = "[explore]\nsequences = 2\nlongest = 2\n";

ExploreConfig parse(const std::string& text) { return parse_explore_config("c.toml", text).explore; }
std::string refused(const std::string& text) {
    return refusal_of([&] { parse(text); });
}
bool tries(const ExploreConfig& config, Verb verb) { return config.tries[static_cast<std::size_t>(verb)]; }
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(explore_config)

BOOST_AUTO_TEST_CASE(every_key_arrives) {
    const ExploreConfig config = parse(pool +
                                       "[explore]\nsequences = 3\nlongest = 5\nprompt = 4\nalphabet = 3\nreserve = 2\n"
                                       "partial = 0\nopen_steps = 1\npins = 2\nlimit = 77\nwithout = [\"fork\"]\n"
                                       "scopes = 2\ncontents = 1\npriorities = 3\npriority_steps = 2\n");
    BOOST_TEST(config.sequences == 3U);
    BOOST_TEST(config.longest == 5);
    BOOST_TEST(config.longest_prompt == 4);
    BOOST_TEST(config.alphabet == 3U);
    BOOST_TEST(config.reserve == 2);
    BOOST_TEST(config.partial == 0U);
    BOOST_TEST(config.open_steps == 1U);
    BOOST_TEST(config.pins == 2U);
    BOOST_TEST(config.scopes == 2U);
    BOOST_TEST(config.contents == 1U);
    BOOST_TEST(config.priorities == 3U);
    BOOST_TEST(config.priority_steps == 2U);
    BOOST_TEST(config.limit == 77);
    BOOST_TEST(!tries(config, Verb::fork));
    BOOST_TEST(tries(config, Verb::pin));
    BOOST_TEST(tries(config, Verb::step_end));
}

BOOST_AUTO_TEST_CASE(what_has_no_bound_is_not_tried) {
    const ExploreConfig config = parse(pool + explore);
    BOOST_TEST(!tries(config, Verb::pin));
    BOOST_TEST(!tries(config, Verb::step_begin));
    BOOST_TEST(tries(config, Verb::admit));
    BOOST_TEST(config.longest_prompt == 2);
}

BOOST_AUTO_TEST_CASE(every_exploration_of_the_repository_can_be_read) {
    int read = 0;
    for (const auto& entry : std::filesystem::directory_iterator(KVPANE_SOURCE_DIR "/configs/explore")) {
        BOOST_TEST_CONTEXT(entry.path()) { BOOST_TEST(cli::read_explore_config(entry.path().string()).title != ""); }
        ++read;
    }
    BOOST_TEST(read >= 10);
}

BOOST_AUTO_TEST_CASE(nothing_is_ignored_and_each_slip_has_its_place) {
    BOOST_TEST(contains(refused(pool + explore + "steps = 3\n"), "c.toml:7:1:"));
    BOOST_TEST(contains(refused(pool + explore + "without = [\"admit\", \"forc\"]\n"), "c.toml:7:21:"));
    BOOST_TEST(contains(refused(pool + explore + "without = [\"admit\", \"forc\"]\n"), "did you mean 'fork'?"));
    BOOST_TEST(contains(refused(pool + "[explore]\nlongest = 2\n"), "sequences"));
    BOOST_TEST(contains(refused(pool + "[explore]\nsequences = 9\nlongest = 2\n"), "c.toml:5:13:"));
    BOOST_TEST(contains(refused(pool), "'explore' is missing in the file"));
    BOOST_TEST(contains(refused("[pool]\nblock_size = 1\nblocks = 40\n" + explore),
                        "c.toml:4:1: this cannot be explored: blocks is 40; at most 12 can be explored"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(explore_scenario)

// Everything that a trace may hold.
BOOST_AUTO_TEST_CASE(a_trace_is_a_scenario_that_the_reader_takes) {
    ExploreViolation violation;
    violation.what = "\"quoted\"";
    const auto add = [&](Verb verb, auto change) {
        Operation operation;
        operation.verb = verb;
        change(operation);
        violation.trace.push_back(operation);
    };
    const auto tokens = [](Operation& o) { o.tokens = {0, 1}; };
    add(Verb::admit, [](Operation& o) { o.tokens = {0, 1}; o.compute = 1; });
    add(Verb::append, [](Operation& o) { o.tokens = {1}; });
    add(Verb::fork, [](Operation& o) { o.child = 1; o.at = 1; });
    add(Verb::append_batch, [](Operation& o) { o.sequences = {0, 1}; o.tokens = {0, 0}; });
    add(Verb::reserve, [](Operation& o) { o.count = 2; });
    add(Verb::commit, [](Operation& o) { o.tokens = {1}; });
    add(Verb::cancel, [](Operation&) {});
    add(Verb::truncate, [](Operation& o) { o.length = 1; });
    add(Verb::step_begin, [](Operation& o) { o.step = 2; });
    add(Verb::release, [](Operation& o) { o.keep_cached = false; });
    add(Verb::step_end, [](Operation& o) { o.step = 2; });
    for (const Verb verb : {Verb::probe, Verb::plan, Verb::pin}) {
        add(verb, tokens);
    }
    add(Verb::uncache, [](Operation& o) { o.sequence = 1; o.blocks = {0}; });
    add(Verb::evict, [](Operation& o) { o.count = 1; });
    add(Verb::reset_cache, [](Operation&) {});
    Config config;
    config.block_size = 2;
    config.blocks = 8;
    config.groups = {{"a", 0, 0}, {"b", 2, 1}};
    const invariants::Scenario read = cli::parse_scenario("s.toml", cli::scenario_text(config, violation));
    BOOST_TEST_REQUIRE(read.steps.size() == violation.trace.size());
    for (std::size_t i = 0; i < read.steps.size(); ++i) {
        BOOST_TEST((read.steps[i].operation.verb == violation.trace[i].verb));
        BOOST_TEST(read.steps[i].operation.tokens == violation.trace[i].tokens, boost::test_tools::per_element());
    }
    BOOST_TEST(!run(read).has_value());  // a sound Manager does all of it
    // The last step says what is due: here it fails by itself.
    violation.due = Error::later;
    const auto failure = run(cli::parse_scenario("s.toml", cli::scenario_text(config, violation)));
    BOOST_TEST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->step == static_cast<std::int64_t>(violation.trace.size()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(explore_program)

BOOST_AUTO_TEST_CASE(an_exhausted_exploration_says_so_and_ends_with_0) {
    const Folder folder;
    const std::string json = folder.path("e.json");
    const Ran ran = run_kvpane({"explore", folder.write("c.toml", pool + explore), "--json", json});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.err == "");
    BOOST_TEST(contains(ran.out, "\nexhausted               yes\n"));
    BOOST_TEST(contains(ran.out, "\nviolations              0\n"));
    const auto report = nlohmann::json::parse(testing::text_of(json));
    BOOST_TEST(report["exhausted"].get<bool>());
    BOOST_TEST(report["states"].get<int>() > 100);
    BOOST_TEST(report["operations"]["fork"]["succeeded"].get<int>() > 0);
    BOOST_TEST(report["violation"].is_null());
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_reached_is_said_and_ends_with_0) {
    const Folder folder;
    const Ran ran = run_kvpane({"explore", folder.write("c.toml", pool + explore), "--limit", "50", "--threads", "1"});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(contains(ran.out, "\nexhausted               no, the limit was reached\n"));
}

BOOST_AUTO_TEST_CASE(bad_input_ends_with_2) {
    const Folder folder;
    const std::string file = folder.write("c.toml", pool + explore + "pin = 1\n");
    const Ran ran = run_kvpane({"explore", file});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.out == "");
    BOOST_TEST(contains(ran.err, "c.toml:7:1: "));
    BOOST_TEST(run_kvpane({"explore", file, "--limit", "0"}).code == 2);
    BOOST_TEST(run_kvpane({"explore", file, "--threads", "x"}).code == 2);
    BOOST_TEST(run_kvpane({"explore", folder.path("none.toml")}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: Apache-2.0
// What the writer writes, the reader reads back to the same operations.
#include <kvpane/cli/scenario_writer.h>

#include <boost/test/unit_test.hpp>

#include <kvpane/cli/scenario_file.h>
#include <kvpane/cli/tokens.h>
#include <kvpane/invariants/recorder.h>
#include <kvpane/invariants/shrinker.h>

#include "cli/program.h"
#include "invariants/journals.h"
#include "invariants/operations.h"
#include "support/seed.h"

namespace kvpane::cli {

using namespace invariants;

namespace {

Scenario scenario_of(const Case& one) {
    Scenario scenario;
    scenario.title = "t";
    scenario.config = one.config;
    for (const Operation& operation : one.operations) {
        scenario.steps.emplace_back();
        scenario.steps.back().operation = operation;
    }
    return scenario;
}

void expect_same(const Config& a, const Config& b) {
    BOOST_TEST(a.block_size == b.block_size);
    BOOST_TEST(a.blocks == b.blocks);
    BOOST_TEST(a.watermark == b.watermark);
    BOOST_TEST(a.max_length == b.max_length);
    BOOST_TEST((a.window_release == b.window_release));
    BOOST_TEST(a.rewind_slack == b.rewind_slack);
    BOOST_TEST(a.prefix_cache.enabled == b.prefix_cache.enabled);
    BOOST_TEST((a.prefix_cache.granularity == b.prefix_cache.granularity));
    BOOST_TEST((a.prefix_cache.policy == b.prefix_cache.policy));
    BOOST_TEST(a.prefix_cache.constant_hash == b.prefix_cache.constant_hash);
    BOOST_TEST(a.prefix_cache.most_pinned == b.prefix_cache.most_pinned);
    BOOST_TEST_REQUIRE(a.groups.size() == b.groups.size());
    for (std::size_t i = 0; i < a.groups.size(); ++i) {
        BOOST_TEST(a.groups[i].name == b.groups[i].name);
        BOOST_TEST(a.groups[i].window == b.groups[i].window);
        BOOST_TEST(a.groups[i].sinks == b.groups[i].sinks);
    }
}

void expect_round_trip(const Case& one) {
    const std::string text = scenario_text(scenario_of(one));
    const Scenario read = parse_scenario("written.toml", text);
    expect_same(read.config, one.config);
    BOOST_TEST_REQUIRE(read.steps.size() == one.operations.size());
    for (std::size_t i = 0; i < one.operations.size(); ++i) {
        BOOST_TEST((read.steps[i].operation == one.operations[i]),
                   "step " << i + 1 << ": " << to_string(one.operations[i].verb));
    }
    BOOST_TEST(scenario_text(read) != "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_writer)

BOOST_AUTO_TEST_CASE(random_operations_are_read_back_as_they_were) {
    for (std::uint64_t seed = testing::seed(); seed < testing::seed() + 5; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed) {
            StressConfig config = every_kind(seed, 600);
            config.batched_percent = 50;
            expect_round_trip(in_order({config.manager, read_all(journal_of(config)).operations}));
        }
    }
}

BOOST_AUTO_TEST_CASE(every_part_of_an_operation_is_read_back) {
    invariants::Scope scope = scope_of("tenant \"quoted\"", "back\\slash\t\x01\x7f", 3);
    scope.model = "m\xc3\xa9";
    scope.lora = "l";
    Operation full =
        invariants::with({{1, 2, "image"}, {5, 1, ""}}, invariants::in(scope, admit(0, {1, 2, 3, 9, 9, 9, 9, 4}, 4)));
    full.priority = INT64_MIN;
    full.priority_steps = INT64_MAX;
    Operation forgetting = release(0);
    forgetting.keep_cached = false;
    Operation planning = invariants::with({{0, 1, "x"}}, plan(Tokens{1, 2}, 3));
    Operation looking = check();
    looking.sequences = {1, 0};
    Case one{testing::plain(4, 8),
             {admit(0, {}), full, planning, plan(5), fork(0, 1, 2), fork(0, 2), looking, check(),
              invariants::with({{0, 1, "x"}}, pin({5})), uncache(1, {0, -1}), reserve(1, 2), reserve_batch({1, 0}, {3, -1}),
              reserve_batch({}, {}), forgetting, step_begin(INT64_MAX),
              truncate(1, -3)}};
    one.config.window_release = WindowRelease::reserve;
    one.config.max_length = 9;
    one.config.watermark = 2;
    one.config.rewind_slack = 1;
    one.config.prefix_cache = {true, Granularity::token, EvictionPolicy::lfu, nullptr, true, 3, 4096};
    one.config.groups = {{"a \"group\"", 5, 2}, {"b", 0, 0}};
    expect_round_trip(one);
}

BOOST_AUTO_TEST_CASE(names_repetitions_and_errors_are_kept) {
    Scenario scenario = scenario_of({testing::plain(4, 8), {admit(0, {1}), append(0, {2})}});
    scenario.names = {"chat"};
    scenario.steps[1].repeat = 3;
    scenario.steps[1].expect.error = Error::never;
    const Scenario read = parse_scenario("written.toml", scenario_text(scenario));
    BOOST_TEST(read.names == scenario.names, boost::test_tools::per_element());
    BOOST_TEST(read.steps[1].repeat == 3);
    BOOST_TEST((read.steps[1].expect.error == Error::never));
    BOOST_TEST(!read.steps[0].expect.error.has_value());
}

BOOST_AUTO_TEST_CASE(what_an_engine_did_becomes_a_scenario_that_passes) {
    MemorySink sink;
    Manager kv(testing::plain(4, 32));
    Recorder recorder(kv, sink);
    std::vector<Reservation> batch;
    for (Length i = 1; i <= 4; ++i) {
        batch.push_back({testing::admit(kv, 5 * i), i});
    }
    BOOST_TEST_REQUIRE(kv.reserve(batch).has_value());
    recorder.writer().flush();
    // What is looked for: a batch that is granted, and gives 3 cells at least to a sequence behind another one.
    const StillFails still_happens = [](const Case& one) {
        bool happened = false;
        auto operation = one.operations.begin();
        judge(one, [&](const Outcome& outcome) {
            happened |= operation->counts.size() >= 2 && operation->counts[1] >= 3 && !outcome.error;
            ++operation;
        });
        return happened;
    };
    const Shrunk shrunk = shrink({kv.config(), read_all(sink.bytes()).operations}, still_happens);
    BOOST_TEST(shrunk.smallest.operations.size() == 3U);
    const std::string text = scenario_text(scenario_of(shrunk.smallest));
    BOOST_TEST(text.find("op = \"reserve\"\nseqs = [\"s0\", \"s1\"]\ncounts = [1, 3]\n") != std::string::npos, text);
    const testing::Folder folder;
    const testing::Ran ran = testing::run_kvpane({"scenario", folder.write("case.toml", text)});
    BOOST_TEST(ran.code == 0, ran.out + ran.err);
}

BOOST_AUTO_TEST_CASE(lists_of_tokens_are_written_short) {
    BOOST_TEST(spell_tokens({}) == "");
    BOOST_TEST(spell_tokens({5}) == "5");
    BOOST_TEST(spell_tokens({1, 2}) == "1, 2");
    BOOST_TEST(spell_tokens({1, 2, 3, 3, 3, 9}) == "1..3, 3, 3, 9");
    BOOST_TEST(spell_tokens({7, 7, 7, 7, 8, 9}) == "7x4, 8, 9");
    BOOST_TEST(spell_tokens({INT32_MAX - 2, INT32_MAX - 1, INT32_MAX}) == "2147483645..2147483647");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::cli

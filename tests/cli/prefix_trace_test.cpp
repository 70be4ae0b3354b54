// SPDX-License-Identifier: Apache-2.0
// `kvpane trace FILE.jsonl` as a user meets it. The hits of tests/data/mooncake-small.jsonl are counted by hand.
#include <boost/test/unit_test.hpp>

#include <regex>

#include <nlohmann/json.hpp>

#include <kvpane/cli/json_report.h>
#include <kvpane/cli/prefix_report.h>

#include "cli/program.h"

using namespace kvpane;
using testing::Folder;
using testing::lines_of;
using testing::Ran;
using testing::run_kvpane;
using testing::text_of;

namespace {

const std::string small = KVPANE_SOURCE_DIR "/tests/data/mooncake-small.jsonl";

// policy, capacity, hits, evictions, hit tokens of each row, as the JSON report has them.
using Row = std::tuple<std::string, int, int, int, int>;

std::vector<Row> rows(const std::vector<std::string>& options) {
    const Folder folder;
    std::vector<std::string> arguments = {"trace", small, "--json", folder.path("out.json")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ran ran = run_kvpane(arguments);
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.err.empty());
    const auto json = nlohmann::json::parse(text_of(folder.path("out.json")));
    std::vector<Row> rows;
    for (const auto& run : json["runs"]) {
        rows.emplace_back(run["policy"], run["capacity"], run["hits"], run["evictions"], run["hit_tokens"]);
    }
    return rows;
}

void refuses(const std::vector<std::string>& arguments, const std::string& message) {
    const Ran ran = run_kvpane(arguments);
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.err == message + "\n");
    BOOST_TEST(ran.out.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_traces)

// Hits of the ten requests: unlimited 0 2 0 3 2 1 0 4 3 0; with 4 blocks 0 2 0 2 0 1 0 1 2 0 by recency, and by frequency
// 0 2 0 2 0 1 0 2 2 0: block 1, hit three times, outlives the younger block 7.
BOOST_AUTO_TEST_CASE(hits_and_evictions_are_those_counted_by_hand) {
    const std::vector<Row> expected = {
        {"lru", 4, 8, 14, 4096}, {"lru", 0, 15, 0, 7008}, {"lfu", 4, 9, 13, 4608}, {"lfu", 0, 15, 0, 7008}};
    for (const char* check : {"off", "sampled", "every"}) {
        BOOST_TEST((rows({"--capacity", "4,0", "--policy", "lru,lfu", "--check", check}) == expected));
    }
}

// Without the blocks that are not full: [0 1 2] [0 1 3] [4] [0 1 2] [4] [0] [] [0 1 2] [0 1 3 8 9] [].
BOOST_AUTO_TEST_CASE(full_blocks_leave_the_unfinished_ones_out) {
    const std::vector<Row> expected = {{"lru", 4, 11, 5, 5632}, {"lru", 0, 13, 0, 6656}};
    BOOST_TEST((rows({"--capacity", "4,0", "--policy", "lru", "--full-blocks"}) == expected));
}

BOOST_AUTO_TEST_CASE(both_policies_and_five_capacities_are_the_default) {
    const std::vector<Row> all = rows({});
    BOOST_REQUIRE(all.size() == 10U);
    BOOST_TEST((all.front() == Row{"lru", 1000, 15, 0, 7008}));
    BOOST_TEST((all.back() == Row{"lfu", 0, 15, 0, 7008}));
}

BOOST_AUTO_TEST_CASE(the_table_stands_between_the_first_line_and_the_totals) {
    const Ran ran = run_kvpane({"trace", small, "--capacity", "4,0", "--policy", "lru"});
    BOOST_TEST(ran.code == 0);
    const std::vector<std::string> lines = lines_of(ran.out);
    BOOST_REQUIRE(lines.size() == 10U);
    BOOST_TEST(std::regex_match(lines[0], std::regex(R"(kvpane \d+\.\d+\.\d+ trace=0x[0-9a-f]{16} check=off)")));
    BOOST_TEST(lines[1] == "policy   capacity       hits     share  evictions   hit tokens  requests       ms");
    BOOST_TEST(lines[2].starts_with("lru             4          8  30.769 %         14         4096        10 "));
    BOOST_TEST(lines[3].starts_with("lru     unlimited         15  57.692 %          0         7008        10 "));
    BOOST_TEST(lines[4] == "requests                10 (11045 input tokens)");
    BOOST_TEST(lines[5] == "blocks                  26 (11 distinct)");
    BOOST_TEST(lines[8] == "checks done             0");
    BOOST_TEST(lines[9] == "violations              0");
}

BOOST_AUTO_TEST_CASE(the_json_report_has_the_totals_as_numbers) {
    const Folder folder;
    const std::string file = folder.path("out.json");
    const Ran ran =
        run_kvpane({"trace", small, "--capacity", "4", "--policy", "lfu", "--check", "every", "--json", file});
    BOOST_TEST(ran.code == 0);
    const auto json = nlohmann::json::parse(text_of(file));
    BOOST_TEST(json["command"] == "trace");
    BOOST_TEST(json["check"] == "every");
    BOOST_TEST(json["full_blocks"] == false);
    BOOST_TEST(json["requests"] == 10);
    BOOST_TEST(json["input_tokens"] == 11045);
    BOOST_TEST(json["blocks"] == 26);
    BOOST_TEST(json["distinct_blocks"] == 11);
    BOOST_TEST(json["runs"][0]["hit_share"].get<double>() == 9.0 / 26.0);
    BOOST_TEST(json["checks"] == json["operations"]);
    BOOST_TEST(json["violation"].is_null());
}

BOOST_AUTO_TEST_CASE(a_violation_says_how_to_run_into_it_again) {
    cli::PrefixReport report;
    report.trace_file = "my trace.jsonl";
    report.full_blocks = true;
    report.runs = {{EvictionPolicy::lru, 0, {}}, {EvictionPolicy::lfu, 30, {}}};
    report.runs[1].report.violation = invariants::Violation{invariants::Invariant::P1, 7, "2 blocks are lost"};
    const std::string again = "kvpane trace 'my trace.jsonl' --capacity 30 --policy lfu --full-blocks --check every";
    BOOST_TEST(cli::reproduce(report, report.runs[1]) == again);
    BOOST_TEST(cli::violations(report) == 1);
    const auto json = nlohmann::json::parse(cli::prefix_json(report));
    BOOST_TEST(json["violation"]["invariant"] == "P1");
    BOOST_TEST(json["violation"]["reproduce"] == again);
    for (const char* unknown : {"sequence", "group", "position", "expected", "found", "block"}) {
        BOOST_TEST(json["violation"].at(unknown).is_null(), unknown);
    }
    BOOST_TEST(json["violation"]["block_history"].empty());
}

BOOST_AUTO_TEST_CASE(a_violation_is_told_as_json_with_both_cells_and_the_history_of_the_block) {
    cli::PrefixReport report;
    report.runs = {{EvictionPolicy::lru, 0, {}}};
    invariants::Violation violation{invariants::Invariant::T3, 9, "sequence a, position 2: ..."};
    violation.sequence = "a";
    violation.group = "full";
    violation.position = 2;
    violation.expected = invariants::ShadowCell{2, 0x1f, 3, 4, 0, invariants::nobody};
    violation.found = invariants::poison;
    violation.block = BlockId{5};
    violation.block_history = {"operation 1 (admit): cells 0..2 written by a", "now: live, 1 reference, not in the index"};
    report.runs[0].report.violation = violation;
    const auto json = nlohmann::json::parse(cli::prefix_json(report))["violation"];
    BOOST_TEST(json["sequence"] == "a");
    BOOST_TEST(json["group"] == "full");
    BOOST_TEST(json["position"] == 2);
    BOOST_TEST(json["expected"] == nlohmann::json::parse(R"({"what": "position 2 token 3 scope 4 group 0 chain 1f",
        "token": 3, "position": 2, "scope": 4, "chain": "0x000000000000001f", "writer": null})"));
    BOOST_TEST(json["found"] == nlohmann::json::parse(R"({"what": "poison"})"));
    BOOST_TEST(json["block"] == 5);
    BOOST_TEST(json["block_history"] == violation.block_history);
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_trace_is_seen_in_its_content_when_the_name_does_not_tell) {
    const Folder folder;
    const std::string renamed = folder.write("requests.txt", text_of(small));
    const Ran ran = run_kvpane({"trace", renamed, "--capacity", "0", "--policy", "lru"});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(lines_of(ran.out).at(2).starts_with("lru     unlimited         15 "));
}

BOOST_AUTO_TEST_CASE(options_of_the_other_kind_of_trace_are_refused) {
    const std::string prefixes = " is for traces of lengths (CSV); " + small + " is a trace of prefixes (JSON lines)";
    refuses({"trace", small, "--config", "c.toml"}, "kvpane: trace: --config" + prefixes);
    refuses({"trace", small, "--samples", "2"}, "kvpane: trace: --samples" + prefixes);
    const std::string csv = KVPANE_SOURCE_DIR "/tests/data/azure-small.csv";
    const std::string lengths = " is for traces of prefixes (JSON lines); " + csv + " is a trace of lengths (CSV)";
    refuses({"trace", csv, "--config", "c.toml", "--capacity", "4"}, "kvpane: trace: --capacity" + lengths);
    refuses({"trace", csv, "--policy", "lru"}, "kvpane: trace: --policy" + lengths);
    refuses({"trace", csv, "--full-blocks"}, "kvpane: trace: --full-blocks" + lengths);
    refuses({"trace", csv}, "kvpane: trace: --config is required for a trace of lengths (CSV)");
}

BOOST_AUTO_TEST_CASE(capacities_and_policies_that_make_no_sense_are_refused) {
    const auto capacity = [](const std::string& words, const std::string& got) {
        refuses({"trace", small, "--capacity", words},
                "kvpane: --capacity must be a whole number 0..2147483646, got '" + got + "'");
    };
    capacity("4,x", "x");
    capacity("", "");
    capacity("4,", "");
    capacity("4,-1", "-1");
    capacity("2147483647", "2147483647");
    refuses({"trace", small, "--policy", "lru,lfo"},
            "kvpane: --policy must be lru or lfu, got 'lfo'; did you mean 'lfu'?");
}

BOOST_AUTO_TEST_CASE(bad_traces_exit_with_2_and_write_nothing) {
    const Folder folder;
    const std::string json = folder.path("out.json");
    const std::string cut = folder.write("cut.jsonl", text_of(small) + "{\"timestamp\": 9");
    refuses({"trace", cut, "--json", json}, cut + ":11:16: the file ends in the middle of a request");
    const std::string binary = folder.write("binary.jsonl", std::string("{\"a\0", 4));
    refuses({"trace", binary, "--json", json}, binary + ":1:4: holds a NUL byte: this is not a text file");
    const std::string empty = folder.write("empty.jsonl", "");
    refuses({"trace", empty, "--json", json}, empty + ":1:1: is empty");
    refuses({"trace", "none.jsonl", "--json", json}, "none.jsonl:1:1: cannot be opened: No such file or directory");
    const std::string nowhere = folder.path("none/out.json");
    refuses({"trace", small, "--json", nowhere},
            "kvpane: --json " + nowhere + ": cannot be written: No such file or directory");
    BOOST_TEST(!std::filesystem::exists(json));
}

BOOST_AUTO_TEST_SUITE_END()

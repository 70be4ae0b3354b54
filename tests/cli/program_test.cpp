// SPDX-License-Identifier: Apache-2.0
// The kvpane program as a user meets it: exit codes, first and last lines, what is written and what is not.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <regex>

#include <nlohmann/json.hpp>

#include "cli/program.h"

using kvpane::testing::Folder;
using kvpane::testing::lines_of;
using kvpane::testing::Ran;
using kvpane::testing::run_kvpane;
using kvpane::testing::text_of;

namespace {

const std::string config =
    "[run]\nseed = 3\nsteps = 200\n[pool]\nblock_size = 4\nblocks = 64\n"
    "[[group]]\nname = \"full\"\n[[group]]\nname = \"swa\"\nwindow = 6\n"
    "[workload]\nmost_sequences = 4\nlongest = 60\n[workload.mix]\nadmit = 20\nappend = 60\nfork = 10\nrelease = 10\n"
    "[workload.prompt]\ndistribution = \"uniform\"\nmin = 1\nmax = 20\n"
    "[workload.chunk]\ndistribution = \"edges\"\nmin = 1\nmax = 9\n";

const std::string trace = "TIMESTAMP,ContextTokens,GeneratedTokens\na,5,6\nb,9,3\n";

const std::string passing =
    "title = \"t\"\n[pool]\nblock_size = 4\nblocks = 8\n"
    "[[step]]\nop = \"admit\"\nseq = \"a\"\ntokens = \"0..4\"\nexpect.pool.live = 2\n";
const std::string failing = passing + "\n[[step]]\nop = \"release\"\nseq = \"a\"\nexpect.pool.live = 1\n";
const std::string malformed = passing + "expect.pool.lve = 2\n";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The value of a row of the last block.
std::string row(const std::string& out, const std::string& name) {
    for (const std::string& line : lines_of(out)) {
        if (line.starts_with(name + " ")) {
            return line.substr(line.find_first_not_of(' ', name.size()));
        }
    }
    return {};
}

void refuses(const std::vector<std::string>& arguments, const std::string& message) {
    const Ran ran = run_kvpane(arguments);
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.err == message + "\n");
    BOOST_TEST(ran.out.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(program)

BOOST_AUTO_TEST_CASE(version_and_help_go_to_stdout) {
    const Ran version = run_kvpane({"--version"});
    BOOST_TEST(version.code == 0);
    BOOST_TEST(std::regex_match(version.out, std::regex(R"(kvpane \d+\.\d+\.\d+\n)")));

    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--help"}, {"stress", "--help"}, {"scenario", "--help"}, {"trace", "--help"},
          {"audit", "--help"}, {"article", "--help"}, {"replay", "--help"}, {"check", "--help"}, {"journal", "--help"},
          {"shrink", "--help"}}) {
        const Ran help = run_kvpane(arguments);
        BOOST_TEST(help.code == 0);
        BOOST_TEST(help.err.empty());
        BOOST_TEST(contains(help.out, "Examples:\n  kvpane "));
    }
}

BOOST_AUTO_TEST_CASE(command_lines_that_make_no_sense_exit_with_2_and_a_sentence) {
    refuses({}, "kvpane: a command is missing: stress, scenario, trace, audit, article, explore, replay, check, journal, "
                "shrink; see kvpane --help");
    refuses({"strss", "x"}, "kvpane: unknown command 'strss'; did you mean 'stress'?");
    refuses({"--versoin"}, "kvpane: unknown command '--versoin'; did you mean '--version'?");
    refuses({"stress"}, "kvpane: stress: config is required");
    refuses({"stress", "c.toml", "--stpes", "5"},
            "kvpane: stress: unexpected argument '--stpes'; did you mean '--steps'?");
    refuses({"stress", "c.toml", "--steps", "0"}, "kvpane: --steps must be a whole number 1..1000000000000, got '0'");
    refuses({"stress", "c.toml", "--steps=-5"}, "kvpane: --steps must be a whole number 1..1000000000000, got '-5'");
    refuses({"stress", "c.toml", "--seed", "-1"},
            "kvpane: --seed must be a whole number 0..18446744073709551615, got '-1'");
    refuses({"stress", "c.toml", "--seed", "18446744073709551616"},
            "kvpane: --seed must be a whole number 0..18446744073709551615, got '18446744073709551616'");
    refuses({"stress", "c.toml", "--check", "evry"},
            "kvpane: --check must be off, sampled or every, got 'evry'; did you mean 'every'?");
    refuses({"trace"}, "kvpane: trace: file is required");
    refuses({"trace", "t.csv", "--config", "c.toml", "--samples", "0"},
            "kvpane: --samples must be a whole number 1..1024, got '0'");
    refuses({"scenario"}, "kvpane: scenario: files is required");
    refuses({"audit"}, "kvpane: audit: log is required");
}

BOOST_AUTO_TEST_CASE(a_stress_run_says_what_it_is_first_and_what_came_out_last) {
    const Folder folder;
    const Ran ran = run_kvpane({"stress", folder.write("c.toml", config)});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.err.empty());  // no progress: stderr is no terminal
    const std::regex first(R"(kvpane \d+\.\d+\.\d+ seed=3 config=0x[0-9a-f]{16} check=every)");
    BOOST_TEST(std::regex_match(lines_of(ran.out).at(0), first));
    BOOST_TEST(std::stoll(row(ran.out, "operations")) >= 200);
    BOOST_TEST(std::stoll(row(ran.out, "checks done")) >= 200);
    BOOST_TEST(std::stod(row(ran.out, "utilisation")) > 10.0);
    const std::regex phases(R"(not full [1-9]\d*, exactly full [1-9]\d*, first eviction [1-9]\d*, steady [1-9]\d*)");
    BOOST_TEST(std::regex_match(row(ran.out, "window phases"), phases));
    for (const char* name :
         {"operations per second", "copies", "prefix hits", "cache events", "refusals", "state digest"}) {
        BOOST_TEST(!row(ran.out, name).empty());
    }
    BOOST_TEST(row(ran.out, "violations") == "0");
    BOOST_TEST(lines_of(ran.out).back().starts_with("violations"));
}

BOOST_AUTO_TEST_CASE(the_command_line_overrides_the_configuration) {
    const Folder folder;
    const std::string file = folder.write("c.toml", config);
    const auto digest = [&](const std::string& seed) {
        const Ran ran = run_kvpane({"stress", file, "--seed", seed, "--steps", "50", "--check", "off"});
        BOOST_TEST(ran.code == 0);
        BOOST_TEST(contains(lines_of(ran.out).at(0), " seed=" + seed + " "));
        BOOST_TEST(lines_of(ran.out).at(0).ends_with("check=off"));
        BOOST_TEST(row(ran.out, "checks done") == "0");
        return row(ran.out, "state digest");
    };
    const std::string largest = digest("18446744073709551615");
    BOOST_TEST(largest == digest("18446744073709551615"));
    BOOST_TEST(largest != digest("4"));
}

BOOST_AUTO_TEST_CASE(the_json_report_says_the_same_in_numbers) {
    const Folder folder;
    const std::string file = folder.path("out.json");
    const Ran ran = run_kvpane({"stress", folder.write("c.toml", config), "--json", file});
    BOOST_REQUIRE(ran.code == 0);
    const auto json = nlohmann::json::parse(text_of(file));
    BOOST_TEST(json["command"] == "stress");
    BOOST_TEST(json["seed"] == 3);
    BOOST_TEST(json["check"] == "every");
    BOOST_TEST(contains(ran.out, json["config"]["digest"].get<std::string>()));
    BOOST_TEST(std::to_string(json["operations"].get<std::int64_t>()) == row(ran.out, "operations"));
    BOOST_TEST(json["operations_per_second"].is_number_float());
    BOOST_TEST(json["utilisation"].get<double>() > 0.1);
    BOOST_TEST(json["utilisation"].get<double>() <= 1.0);
    BOOST_TEST(json["window_phases"]["steady"].get<std::int64_t>() > 0);
    BOOST_TEST(json["tried"]["append"].get<std::int64_t>() >= json["succeeded"]["append"].get<std::int64_t>());
    BOOST_TEST(json["violation"].is_null());
    BOOST_TEST(folder.names() == (std::vector<std::string>{"c.toml", "out.json"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_input_exits_with_2_and_writes_nothing) {
    const Folder folder;
    const std::string json = folder.path("out.json");
    const std::string bad = folder.write("bad.toml", config + "mni = 2\n");
    refuses({"stress", bad, "--json", json}, bad + ":28:1: unknown key 'mni' in [workload.chunk]; did you mean 'min'?");
    refuses({"stress", "none.toml", "--json", json}, "none.toml:1:1: cannot be opened: No such file or directory");
    const std::string good = folder.write("c.toml", config);
    const std::string cut = folder.write("cut.csv", trace + "c,1");
    refuses({"trace", cut, "--config", good, "--json", json},
            cut + ":4:4: the line ends after 2 of 3 fields: GeneratedTokens is missing");
    const std::string without = folder.write("without.toml", "[pool]\nblock_size = 4\nblocks = 64\n");
    refuses({"stress", without, "--json", json},
            without + ":1:1: [workload] is missing: this file serves 'kvpane trace' only");
    BOOST_TEST(!std::filesystem::exists(json));
}

BOOST_AUTO_TEST_CASE(an_output_that_cannot_be_written_is_found_before_the_run) {
    const Folder folder;
    const std::string good = folder.write("c.toml", config);
    const std::string nowhere = folder.path("none/out.json");
    refuses({"stress", good, "--json", nowhere},
            "kvpane: --json " + nowhere + ": cannot be written: No such file or directory");
    refuses({"stress", good, "--json", folder.path(".")},
            "kvpane: --json " + folder.path(".") + ": is not a regular file");
    const std::string requests = folder.write("t.csv", trace);
    refuses({"trace", requests, "--config", good, "--json", nowhere},
            "kvpane: --json " + nowhere + ": cannot be written: No such file or directory");
    BOOST_TEST(folder.names() == (std::vector<std::string>{"c.toml", "t.csv"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_output_does_not_take_the_place_of_another_file_of_the_run) {
    const Folder folder;
    const std::string file = folder.write("c.toml", config);
    refuses({"stress", file, "--json", folder.path("./c.toml")},
            "kvpane: --json " + folder.path("./c.toml") + ": is another file of this run");
    BOOST_TEST(text_of(file) == config);
    const std::string both = folder.path("both");
    refuses({"stress", file, "--journal", both, "--json", both}, "kvpane: --json " + both + ": is another file of this run");
    BOOST_TEST(run_kvpane({"stress", file, "--json", ""}).code == 2);
}

BOOST_AUTO_TEST_CASE(a_trace_reports_its_requests_and_the_utilisation) {
    const Folder folder;
    const std::string file = folder.write("c.toml", "[pool]\nblock_size = 4\nblocks = 64\n");
    const std::string json_file = folder.path("out.json");
    const Ran ran = run_kvpane({"trace", folder.write("t.csv", trace), "--config", file, "--json", json_file});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(contains(lines_of(ran.out).at(0), " check=sampled trace=0x"));
    // Lengths 5..11 and 9..12: 56 + 42 tokens in 8+8+8+8+12+12+12 + 12*4 = 116 cells.
    BOOST_TEST(row(ran.out, "utilisation") == "84.483 %");
    BOOST_TEST(row(ran.out, "requests") == "2, completed 2, preempted 0");
    const auto json = nlohmann::json::parse(text_of(json_file));
    BOOST_TEST(json["used_cells"] == 98);
    BOOST_TEST(json["allocated_cells"] == 116);
    BOOST_TEST(json["completed"] == 2);
}

BOOST_AUTO_TEST_CASE(several_samples_report_what_sharing_the_prompt_saves) {
    const Folder folder;
    const std::string file = folder.write("c.toml", "[pool]\nblock_size = 4\nblocks = 64\n");
    const Ran ran = run_kvpane({"trace", folder.write("t.csv", trace), "--config", file, "--samples", "2"});
    BOOST_TEST(ran.code == 0);
    // Lengths 6..11: 2 * (2+2+2+3+3+3) = 30 blocks, 6 * floor(5/4) saved; 10..12: 2 * 9 = 18, 3 * floor(9/4) saved.
    BOOST_TEST(row(ran.out, "saved by sharing") == "25.00 %");
}

BOOST_AUTO_TEST_CASE(requests_that_can_never_fit_are_counted_and_passed_over) {
    const Folder folder;
    const std::string file = folder.write("c.toml", "[pool]\nblock_size = 4\nblocks = 2\n");
    const Ran ran = run_kvpane({"trace", folder.write("t.csv", trace), "--config", file});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(row(ran.out, "refusals") == "later 0, never 2");
    BOOST_TEST(row(ran.out, "requests") == "2, completed 0, preempted 0");
}

BOOST_AUTO_TEST_CASE(scenarios_are_reported_one_a_line_with_the_totals_last) {
    const Folder folder;
    const std::string good = folder.write("a/good.toml", passing);
    const std::string bad = folder.write("a/fails.toml", failing);
    folder.write("a/notes.txt", "no scenario");

    const Ran one = run_kvpane({"scenario", good});
    BOOST_TEST(one.code == 0);
    BOOST_TEST(one.out == "ok   " + good + "\n1 passed, 0 failed\n");

    const Ran both = run_kvpane({"scenario", folder.path("a")});
    BOOST_TEST(both.code == 1);
    BOOST_TEST(both.out ==
               "FAIL " + bad + ":11 step 2: expected pool.live = 1, got 0\nok   " + good + "\n1 passed, 1 failed\n");
}

BOOST_AUTO_TEST_CASE(scenarios_run_on_real_cells_as_far_as_these_fit) {
    const Folder folder;
    const std::string good = folder.write("good.toml", passing);
    const std::string large = folder.write(
        "large.toml", "title = \"t\"\n[pool]\nblock_size = 8\nblocks = 2_100_000\n[[step]]\nop = \"check\"\n");
    const std::string cells = folder.write("p.toml", config + "[payload]\nlayout = \"hnd\"\nkv_heads = 1\n");
    const Ran other = run_kvpane({"scenario", good, "--payload-of", cells});
    BOOST_TEST(other.out == "ok   " + good + "\n1 passed, 0 failed\n", other.err);
    const Ran ran = run_kvpane({"scenario", large, good, "--payload"});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.out == "ok   " + good + "\n1 passed, 1 failed\n");
    BOOST_TEST(ran.err == large + ":1:1: the payload takes 1075200512 bytes for each group, more than 1 GiB in "
                                  "all: use fewer blocks, smaller cells, or no payload\n");
}

BOOST_AUTO_TEST_CASE(a_run_on_real_cells_is_another_run_of_the_same_operations) {
    const Folder folder;
    const Ran plain = run_kvpane({"stress", folder.write("c.toml", config)});
    const Ran ran = run_kvpane({"stress", folder.write("p.toml", config + "[payload]\ndtype = \"f16\"\n")});
    BOOST_TEST(ran.code == 0, ran.out << ran.err);
    BOOST_TEST(row(ran.out, "state digest") == row(plain.out, "state digest"));
}

BOOST_AUTO_TEST_CASE(a_malformed_scenario_is_an_error_and_the_others_still_run) {
    const Folder folder;
    const std::string good = folder.write("good.toml", passing);
    const std::string bad = folder.write("bad.toml", malformed);
    const Ran ran = run_kvpane({"scenario", bad, good, "none.toml"});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.out == "ok   " + good + "\n1 passed, 2 failed\n");
    BOOST_TEST(ran.err == bad + ":10:13: unknown key 'lve' in expect.pool; did you mean 'live'?\n" +
                              "none.toml:1:1: cannot be opened: No such file or directory\n");
}

BOOST_AUTO_TEST_CASE(a_folder_without_scenarios_is_bad_input) {
    const Folder folder;
    const Ran ran = run_kvpane({"scenario", folder.path(".")});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.err == folder.path(".") + ":1:1: holds no .toml file\n");
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: Apache-2.0
// What a run says when an invariant breaks. A correct manager never gets there, so the reports are made by hand.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <kvpane/cli/json_report.h>
#include <kvpane/cli/report.h>

#include "cli/program.h"

using namespace kvpane;
using cli::RunHeader;
using invariants::Invariant;
using invariants::Violation;

namespace {

RunHeader stress_header() {
    RunHeader header;
    header.command = "stress";
    header.config_file = "my config.toml";
    header.config_digest = 0xabc;
    header.seed = 7;
    header.steps = 1000;
    return header;
}

RunHeader trace_header() {
    RunHeader header = stress_header();
    header.command = "trace";
    header.config_file = "c.toml";
    header.trace_file = "t.csv";
    header.samples = 4;
    header.alive = 2;
    return header;
}

const Violation broken{Invariant::T3, 42, "sequence 3, group 'swa', position 9: expected token 1, found poison"};

}  // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(the_first_line_names_version_seed_digest_and_check_mode) {
    BOOST_TEST(cli::first_line(stress_header()).ends_with(" seed=7 config=0x0000000000000abc check=every\n"));
    BOOST_TEST(cli::first_line(trace_header()).ends_with(" check=every trace=0x0000000000000000 samples=4 alive=2\n"));
}

BOOST_AUTO_TEST_CASE(a_violation_names_the_invariant_the_operation_and_the_command_that_reproduces_it) {
    BOOST_TEST(cli::violation_text(stress_header(), broken) ==
               "VIOLATION T3 at operation 42: the tables read back as the last window of the history, cell by cell\n"
               "  sequence 3, group 'swa', position 9: expected token 1, found poison\n"
               "  reproduce: kvpane stress 'my config.toml' --seed 7 --steps 42 --check every\n");
    BOOST_TEST(cli::reproduce(trace_header(), broken) ==
               "kvpane trace t.csv --config c.toml --samples 4 --check every");
}

BOOST_AUTO_TEST_CASE(a_violation_behind_the_last_step_is_reproduced_by_all_steps) {
    const Violation late{Invariant::P1, 1200, "7 blocks are live"};
    BOOST_TEST(cli::reproduce(stress_header(), late) ==
               "kvpane stress 'my config.toml' --seed 7 --steps 1000 --check every");
}

BOOST_AUTO_TEST_CASE(a_recorded_run_is_checked_again_from_its_journal_and_on_real_cells_where_it_had_them) {
    RunHeader header = stress_header();
    BOOST_TEST(cli::replaying(header, broken) == cli::reproduce(header, broken) + " --journal violation.kvj");
    header.journal_file = "run.kvj";
    BOOST_TEST(cli::replaying(header, broken) == "kvpane check run.kvj");
    header.payload.emplace();
    BOOST_TEST(cli::replaying(header, broken) == "kvpane check run.kvj --payload");
    header.payload->head_dim = 64;
    BOOST_TEST(cli::replaying(header, broken) == "kvpane check run.kvj --payload-of 'my config.toml'");
}

BOOST_AUTO_TEST_CASE(the_json_report_holds_the_violation) {
    invariants::StressReport report;
    report.operations = 42;
    report.violation = broken;
    const auto json = nlohmann::json::parse(cli::stress_json(stress_header(), report));
    BOOST_TEST(json["violation"]["invariant"] == "T3");
    BOOST_TEST(json["violation"]["operation"] == 42);
    BOOST_TEST(json["violation"]["what"] == broken.what);
    BOOST_TEST(json["violation"]["reproduce"] == cli::reproduce(stress_header(), broken));
    BOOST_TEST(json["steps"] == 1000);
    BOOST_TEST(json["payload"].is_null());

    invariants::ReplayReport replay;
    replay.violation = broken;
    const auto of_trace = nlohmann::json::parse(cli::replay_json(trace_header(), replay));
    BOOST_TEST(of_trace["violation"]["sentence"] == invariants::sentence(Invariant::T3));
    BOOST_TEST(of_trace["saved_share"] == 0.0);
    BOOST_TEST(of_trace["samples"] == 4);
}

BOOST_AUTO_TEST_CASE(the_reports_say_which_real_cells_were_kept) {
    RunHeader header = stress_header();
    const auto says = [&](const std::string& cells) {
        const std::string line = "\n" + cli::row("payload", cells);
        return cli::stress_text(header, {}).find(line) != std::string::npos &&
               cli::replay_text(header, {}).find(line) != std::string::npos;
    };
    BOOST_TEST(says("none"));
    header.payload = {.interleaved = true, .dtype = DType::f32, .kv_heads = 1, .head_dim = 8};
    BOOST_TEST(says("f32, nhd, interleaved, heads 1, head dim 8"));
    header.payload = {.order = CellOrder::hnd, .dtype = DType::e4m3, .kv_heads = 3, .head_dim = 16};
    BOOST_TEST(says("e4m3, hnd, heads 3, head dim 16"));
    const auto json = nlohmann::json::parse(cli::stress_json(header, {}));
    const nlohmann::json expected = {
        {"layout", "hnd"}, {"interleaved", false}, {"dtype", "e4m3"}, {"kv_heads", 3}, {"head_dim", 16}};
    BOOST_TEST(json["payload"] == expected);
}

BOOST_AUTO_TEST_CASE(shares_and_rates_of_nothing_are_zero) {
    BOOST_TEST(cli::share(1, 4) == 0.25);
    BOOST_TEST(cli::share(0, 0) == 0.0);
    BOOST_TEST(cli::per_second(10, 2.5) == 4.0);
    BOOST_TEST(cli::per_second(10, 0) == 0.0);
}

BOOST_AUTO_TEST_CASE(an_output_file_replaces_the_old_one_whole) {
    const testing::Folder folder;
    const std::string path = folder.write("out.json", "old and longer");
    const cli::OutputFile file(path, {});
    BOOST_TEST(testing::text_of(path) == "old and longer");
    file.write("new");
    BOOST_TEST(testing::text_of(path) == "new");
    BOOST_TEST(folder.names() == std::vector<std::string>{"out.json"}, boost::test_tools::per_element());
    BOOST_TEST(!cli::OutputFile("", {}).wanted());
}

BOOST_AUTO_TEST_SUITE_END()

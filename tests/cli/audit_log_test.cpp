// SPDX-License-Identifier: Apache-2.0
// Logs of engines as text: what is read, what is refused where, and what kvpane audit says.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <kvpane/cli/audit_log.h>

#include "cli/program.h"
#include "support/paged_engine.h"
#include "support/seed.h"

using kvpane::Length;
using kvpane::cli::AuditLog;
using kvpane::testing::Bug;
using kvpane::testing::Folder;
using kvpane::testing::lines_of;
using kvpane::testing::Ran;
using kvpane::testing::refusal_of;
using kvpane::testing::run_kvpane;
using kvpane::testing::text_of;

namespace invariants = kvpane::invariants;
namespace entry = kvpane::invariants::engine_log;

namespace {

const std::string header = R"({"kvpane_audit": 1, "block_size": 4, "blocks": 16, "null_block": 0})";
const std::string start = R"({"event": "start", "sequence": "a", "tokens": [10, 11, 12]})";
const std::string example = std::string(KVPANE_SOURCE_DIR) + "/tests/data/audit-missed-copy.jsonl";

std::vector<entry::Event> events_of(const std::string& text) {
    std::istringstream stream(text);
    AuditLog reader("l", stream);
    std::vector<entry::Event> events;
    while (auto event = reader.next()) {
        events.push_back(*event);
    }
    return events;
}

// Reads and judges; the number of the invariant that broke, or "sound".
std::string judge(std::istream& stream) {
    AuditLog reader("l", stream);
    invariants::TableAudit audit(reader.header());
    while (auto event = reader.next()) {
        if (const auto refusal = audit.refusal(*event)) {
            reader.refuse(*refusal);
        }
        if (const auto finding = audit.follow(*event, reader.line())) {
            return std::string(number(finding->invariant));
        }
    }
    return "sound";
}

std::string judge(const std::string& text) {
    std::istringstream stream(text);
    return judge(stream);
}

std::string refused(const std::string& text) {
    return refusal_of([&] { judge(text); });
}

// What is said about a line behind the header and a start of "a" with three tokens.
std::string third(const std::string& line) { return refused(header + "\n" + start + "\n" + line + "\n"); }

template <class T>
const T& as(const entry::Event& event) {
    return std::get<T>(event);
}

// --- events as an engine would write them ----------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

Json json_of(const entry::Start& e) {
    return {{"event", "start"},
            {"sequence", e.sequence},
            {"tokens", e.tokens},
            {"cached", e.cached},
            {"scope", {{"tenant", e.scope.tenant}}}};
}
Json json_of(const entry::Append& e) { return {{"event", "append"}, {"sequence", e.sequence}, {"tokens", e.tokens}}; }
Json json_of(const entry::Fork& e) { return {{"event", "fork"}, {"parent", e.parent}, {"child", e.child}}; }
Json json_of(const entry::Truncate& e) { return {{"event", "truncate"}, {"sequence", e.sequence}, {"length", e.length}}; }
Json json_of(const entry::End& e) { return {{"event", "end"}, {"sequence", e.sequence}}; }
Json json_of(const entry::Write& e) {
    return {{"event", "write"},
            {"sequence", e.sequence},
            {"position", e.position},
            {"tokens", e.tokens},
            {"slots", e.slots}};
}
Json json_of(const entry::Copy& e) { return {{"event", "copy"}, {"from", e.from}, {"to", e.to}, {"cells", e.cells}}; }
Json json_of(const entry::Alloc& e) { return {{"event", "alloc"}, {"blocks", e.blocks}}; }
Json json_of(const entry::Free& e) { return {{"event", "free"}, {"blocks", e.blocks}}; }
Json json_of(const entry::Table& e) {
    return {{"event", "table"},   {"sequence", e.sequence}, {"first", e.first},
            {"blocks", e.blocks}, {"length", e.length},     {"reserved", e.reserved}};
}

std::string text_of_run(const kvpane::testing::PagedEngine& engine) {
    const entry::Header& h = engine.header;
    const Json first = {{"kvpane_audit", 1},
                        {"block_size", h.block_size},
                        {"blocks", h.blocks},
                        {"null_block", h.null_block},
                        {"groups", {{{"name", h.groups[0].name}, {"window", h.groups[0].window}}}}};
    std::string text = first.dump() + "\n";
    for (const entry::Event& event : engine.log) {
        text += std::visit([](const auto& what) { return json_of(what).dump(); }, event) + "\n";
    }
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(audit_log)

// --- what is read ----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(headers_have_defaults) {
    std::istringstream stream(R"({"block_size": 16, "kvpane_audit": 1})");
    const AuditLog reader("l", stream);
    BOOST_TEST(reader.header().block_size == 16);
    BOOST_TEST(reader.header().blocks == entry::most_blocks);
    BOOST_TEST(reader.header().null_block == -1);
    BOOST_REQUIRE(reader.header().groups.size() == 1U);
    BOOST_TEST(reader.header().groups[0].window == 0);
}

BOOST_AUTO_TEST_CASE(each_event_is_read_with_its_defaults) {
    const auto events = events_of(
        R"({"kvpane_audit": 1, "block_size": 4, "groups": [{"name": "full"}, {"name": "swa", "window": 8, "sinks": 2}]})"
        "\n"
        R"({"event": "start", "sequence": 7, "tokens": [1, 2147483647], "cached": 1, "scope": {"lora_id": 3}})"
        "\r\n"
        R"({"event": "fork", "parent": "7", "child": "b", "at": 1})"
        "\n"
        R"({"event": "write", "sequence": "b", "group": "swa", "position": 1, "tokens": [5, 6], "slots": [9, -1]})"
        "\n"
        R"({"event": "write", "sequence": "b", "group": "full", "position": 1, "tokens": [5, 6], "block": 3, "offset": 2})"
        "\n"
        R"({"event": "copy", "from": 3, "to": 4})"
        "\n"
        R"({"event": "table", "sequence": "b", "group": "swa", "blocks": [], "length": 0})");
    BOOST_REQUIRE(events.size() == 6U);
    BOOST_TEST(as<entry::Start>(events[0]).sequence == "7");
    BOOST_TEST(as<entry::Start>(events[0]).tokens[1] == 2147483647);
    BOOST_TEST(as<entry::Start>(events[0]).scope.lora_id == 3);
    BOOST_TEST(as<entry::Fork>(events[1]).at.value() == 1);
    BOOST_TEST(as<entry::Write>(events[2]).group == 1U);
    BOOST_TEST(as<entry::Write>(events[2]).slots == (std::vector<kvpane::Slot>{9, -1}), boost::test_tools::per_element());
    BOOST_TEST(as<entry::Write>(events[3]).slots == (std::vector<kvpane::Slot>{14, 15}),
               boost::test_tools::per_element());
    BOOST_TEST(as<entry::Copy>(events[4]).cells == 4);
    BOOST_TEST(!as<entry::Table>(events[5]).query);
}

BOOST_AUTO_TEST_CASE(the_log_of_a_sound_engine_is_sound) {
    for (std::uint64_t run = 0; run < 10; ++run) {
        BOOST_TEST_CONTEXT("seed " << kvpane::testing::seed() + run) {
            BOOST_TEST(judge(text_of_run(run_engine(Bug::none, 5, kvpane::testing::seed() + run, 200))) == "sound");
        }
    }
}

BOOST_AUTO_TEST_CASE(the_log_of_each_faulty_engine_is_not) {
    for (const auto& [bug, name] : kvpane::testing::bugs) {
        int found = 0;
        for (std::uint64_t run = 0; run < 20 && found == 0; ++run) {
            found += judge(text_of_run(run_engine(bug, 5, kvpane::testing::seed() + run, 300))) == "sound" ? 0 : 1;
        }
        BOOST_TEST(found == 1, name);
    }
}

// --- what is refused, and where --------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(headers_that_are_none_are_refused) {
    const auto with = [](const std::string& more) {
        return refused(R"({"kvpane_audit": 1, "block_size": 4)" + more + "}");
    };
    BOOST_TEST(refused("") == "l:1:1: is empty");
    BOOST_TEST(refused("\n") == "l:1:1: the line is empty, not a JSON object");
    BOOST_TEST(refused(start) == R"(l:1:1: the first line must be a header, as {"kvpane_audit": 1, "block_size": 16})");
    BOOST_TEST(refused(R"({"kvpane_audit": 2, "block_size": 4})") == "l:1:18: 'kvpane_audit' must be 1..1, got 2");
    BOOST_TEST(refused(R"({"kvpane_audit": 1})") == "l:1:1: 'block_size' is missing");
    BOOST_TEST(refused(R"({"kvpane_audit": 1, "block_size": 0})") == "l:1:35: 'block_size' must be 1..65536, got 0");
    BOOST_TEST(with(R"(, "block": 7)") == "l:1:38: unknown key 'block'; did you mean 'blocks'?");
    BOOST_TEST(with(R"(, "blocks": 7, "null_block": 7)") == "l:1:65: 'null_block' must be -1..6, got 7");
    BOOST_TEST(with(R"(, "groups": 7)") == "l:1:48: 'groups' must be an array of objects, not a number");
    BOOST_TEST(with(R"(, "groups": [])") == "l:1:48: 'groups' must be an array of objects, not an array");
    BOOST_TEST(with(R"(, "groups": [{}])") == "l:1:49: 'name' is missing");
    BOOST_TEST(with(R"(, "groups": [{"name": "a"}, 7])") ==
               "l:1:64: an entry of 'groups' must be an object, not a number");
    BOOST_TEST(with(R"(, "groups": [{"name": "a"}, {"name": "a"}])") == "l:1:73: two groups are called 'a'");
    BOOST_TEST(with(R"(, "groups": [{"name": "a", "windw": 3}])") ==
               "l:1:63: unknown key 'windw'; did you mean 'window'?");
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_json_are_refused_where_they_stop_to_be) {
    BOOST_TEST(third("{'event'").starts_with("l:3:2: the line is no JSON: syntax error"));
    BOOST_TEST(third(R"({"event": 01})").starts_with("l:3:12: the line is no JSON: syntax error"));
    BOOST_TEST(third(R"({"event": "end"} x)").starts_with("l:3:18: the line is no JSON: syntax error"));
    BOOST_TEST(third("").starts_with("l:3:1: the line is empty, not a JSON object"));
    BOOST_TEST(third(" [1]") == "l:3:2: the line must be a JSON object, not an array");
    BOOST_TEST(third(R"({"event": [[[[[1]]]]]})").starts_with("l:3:12: an entry of 'event' must be an integer"));
    BOOST_TEST(third(R"({"a":{"a":{"a":{"a":{}}}}})") == "l:3:21: the line is nested too deeply");
    BOOST_TEST(third("{\"event\": \"\xff\"}") == "l:3:12: holds the byte 0xff, which is no valid UTF-8");
    BOOST_TEST(third(std::string("{\0", 2)) == "l:3:2: holds a NUL byte: this is not a text file");
}

BOOST_AUTO_TEST_CASE(keys_and_events_that_nobody_knows_are_refused_with_a_suggestion) {
    BOOST_TEST(third(R"({"event": "strat", "sequence": "b", "tokens": []})") ==
               "l:3:11: unknown event 'strat'; did you mean 'start'?");
    BOOST_TEST(third(R"({"evnt": "end", "sequence": "a"})") == "l:3:2: unknown key 'evnt'; did you mean 'event'?");
    BOOST_TEST(third(R"({"sequence": "a"})") == "l:3:1: 'event' is missing");
    BOOST_TEST(third(R"({"event": "end", "sequense": "a"})") ==
               "l:3:18: unknown key 'sequense'; did you mean 'sequence'?");
    BOOST_TEST(third(R"({"event": "end", "sequence": "a", "sequence": "a"})") ==
               "l:3:35: 'sequence' stands twice in the object");
    BOOST_TEST(third(R"({"event": "end"})") == "l:3:1: 'sequence' is missing");
    BOOST_TEST(third(R"({"event": "start", "sequence": "b", "tokens": [], "scope": {"tennant": ""}})") ==
               "l:3:61: unknown key 'tennant'; did you mean 'tenant'?");
    BOOST_TEST(third(R"({"event": "table", "sequence": "a", "group": "ful", "blocks": [], "length": 0})") ==
               "l:3:46: unknown group 'ful'; did you mean 'full'?");
}

BOOST_AUTO_TEST_CASE(values_of_another_type_or_out_of_range_are_refused) {
    const auto length = [](const std::string& value) {
        return third(R"({"event": "truncate", "sequence": "a", "length": )" + value + "}");
    };
    BOOST_TEST(length("1.0") == "l:3:50: 'length' must be an integer, got 1.0");
    BOOST_TEST(length("1e0") == "l:3:50: 'length' must be an integer, got 1e0");
    BOOST_TEST(length("true") == "l:3:50: 'length' must be an integer, not a boolean");
    BOOST_TEST(length("null") == "l:3:50: 'length' must be an integer, not null");
    BOOST_TEST(length("\"1\"") == "l:3:50: 'length' must be an integer, not a string");
    BOOST_TEST(length("[1]") == "l:3:50: 'length' must be an integer, not an array");
    BOOST_TEST(length("-1") == "l:3:50: 'length' must be 0..2147483647, got -1");
    BOOST_TEST(length("4") == "l:3:50: 'length' must be 0..3, got 4");
    BOOST_TEST(length("9223372036854775808") == "l:3:50: 'length' must be 0..2147483647, got 9223372036854775808");
    BOOST_TEST(length("99999999999999999999999") ==
               "l:3:50: 'length' must be 0..2147483647, got 99999999999999999999999");
    BOOST_TEST(length("1e999").starts_with("l:3:"));
    const auto slots = [](const std::string& values) {
        return third(R"({"event": "write", "sequence": "a", "position": 0, "tokens": [10], "slots": )" + values + "}");
    };
    BOOST_TEST(slots("4") == "l:3:77: 'slots' must be an array of integers, not a number");
    BOOST_TEST(slots("[4, 5]") == "l:3:77: 'slots' must hold one entry for each of the 1 tokens, got 2");
    BOOST_TEST(slots("[ 64]") == "l:3:79: a slot must be -1..63, got 64");
    BOOST_TEST(slots("[true]") == "l:3:78: an entry of 'slots' must be an integer, not a boolean");
    BOOST_TEST(slots("[4.0]") == "l:3:78: an entry of 'slots' must be an integer, got 4.0");
    BOOST_TEST(slots("[{}]") == "l:3:77: 'slots' must be an array of integers, not an array");
    BOOST_TEST(third(R"({"event": "append", "sequence": "a", "tokens": [1, -2]})") ==
               "l:3:52: a token must be 0..2147483647, got -2");
    BOOST_TEST(third(R"({"event": "append", "sequence": "\u0007", "tokens": []})") ==
               "l:3:33: 'sequence' must have 1..256 bytes and no control characters");
    BOOST_TEST(third(R"({"event": "append", "sequence": "", "tokens": []})") ==
               "l:3:33: 'sequence' must have 1..256 bytes and no control characters");
}

BOOST_AUTO_TEST_CASE(events_that_cannot_follow_are_refused_at_the_field) {
    BOOST_TEST(third(R"({"event": "end", "sequence": "b"})") == "l:3:30: no sequence b is alive");
    BOOST_TEST(third(start) == "l:3:32: sequence a is alive since line 2: end it first");
    BOOST_TEST(third(R"({"event": "table", "sequence": "a", "blocks": [0, 16], "length": 0})") ==
               "l:3:51: a block must be 0..15, got 16");
    std::string blocks = "1";
    for (int i = 0; i < 16; ++i) {
        blocks += ",1";
    }
    BOOST_TEST(third(R"({"event": "table", "sequence": "a", "length": 0, "blocks": [)" + blocks + "]}") ==
               "l:3:93: a table holds at most 16 blocks: the pool");
    const std::string write = R"({"event": "write", "sequence": "a", "position": 0, )";
    BOOST_TEST(third(write + R"("tokens": [10, 11], "block": 2, "offset": 3})") ==
               "l:3:62: 'tokens' must hold at most 1 tokens: the block ends there, got 2");
    BOOST_TEST(third(write + R"("tokens": [10], "block": 2, "slots": [3]})") ==
               "l:3:77: 'block' and 'slots' say the same: give one of them");
    BOOST_TEST(third(write + R"("tokens": [10], "block": 2})") == "l:3:1: 'offset' is missing");
    BOOST_TEST(third(write + R"("tokens": [10]})") == "l:3:1: 'slots' is missing");
}

BOOST_AUTO_TEST_CASE(a_group_must_be_named_where_it_makes_a_difference) {
    const auto with = [](const std::string& pool, const std::string& line) {
        return refused(R"({"kvpane_audit": 1, "block_size": 4, "groups": [{"name": "f"}, {"name": "s", "pool": )" +
                       pool + "}]}\n" + start + "\n" + line);
    };
    BOOST_TEST(with("0", R"({"event": "table", "sequence": "a", "blocks": [], "length": 0})") ==
               "l:3:1: 'group' is missing");
    BOOST_TEST(with("0", R"({"event": "free", "blocks": [1]})").empty());
    BOOST_TEST(with("1", R"({"event": "free", "blocks": [1]})") == "l:3:1: 'group' is missing");
}

// --- the command -----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_example_names_the_first_wrong_cell) {
    const Folder folder;
    const Ran ran = run_kvpane({"audit", example, "--json", folder.path("f.json")});
    BOOST_TEST(ran.code == 1);
    BOOST_TEST(ran.err.empty());
    const std::vector<std::string> lines = lines_of(ran.out);
    BOOST_TEST(lines.at(1) == "VIOLATION T5 at line 11: a reserved cell lies in a block that nobody else holds");
    BOOST_TEST(lines.at(3) == "  expected: token 20 at position 6");
    BOOST_TEST(lines.at(4) == "  found:    token 30 at position 6, written by b at line 11");
    BOOST_TEST(lines.back() == "broken: 10 events, 2 tables judged, 13 cells compared");
    const Json json = Json::parse(text_of(folder.path("f.json")));
    BOOST_TEST(json["finding"]["invariant"] == "T5");
    BOOST_TEST(json["finding"]["line"] == 11);
    BOOST_TEST(json["finding"]["sequence"] == "a");
    BOOST_TEST(json["finding"]["position"] == 6);
    BOOST_TEST(json["finding"]["found"]["writer"] == "b");
    BOOST_TEST(json["finding"]["block_history"].size() == 5U);
}

BOOST_AUTO_TEST_CASE(the_page_on_the_format_shows_what_the_example_prints) {
    std::string page = text_of(std::string(KVPANE_SOURCE_DIR) + "/docs/audit-log.md");
    std::string out = run_kvpane({"audit", example}).out;
    out.erase(0, out.find('\n') + 1);  // version and path
    BOOST_TEST(page.find(out) != std::string::npos);
    BOOST_TEST(page.find(text_of(example)) != std::string::npos);
    BOOST_TEST(page.find("kvpane audit tests/data/audit-missed-copy.jsonl\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_sound_log_says_what_was_judged) {
    const Folder folder;
    const std::string file = folder.write("l.jsonl", text_of_run(run_engine(Bug::none, 5, 1, 50)));
    const Ran ran = run_kvpane({"audit", file, "--json", folder.path("f.json")});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(lines_of(ran.out).back().starts_with("sound: "));
    const Json json = Json::parse(text_of(folder.path("f.json")));
    BOOST_TEST(json["finding"].is_null());
    BOOST_TEST(json["tables"] > 20);
    const Ran nothing = run_kvpane({"audit", folder.write("n.jsonl", header)});
    BOOST_TEST(nothing.code == 0);
    BOOST_TEST(lines_of(nothing.out).back() ==
               "sound: 0 events, 0 tables judged, 0 cells compared; nothing is judged without a table");
}

BOOST_AUTO_TEST_CASE(a_finding_cannot_move_the_cursor_of_whoever_reads_it) {
    const Folder folder;
    const std::string log = folder.write("l.jsonl",
        R"({"kvpane_audit": 1, "block_size": 4, "blocks": 16})" "\n"
        R"({"event": "start", "sequence": "a", "tokens": [1], "scope": {"tenant": "t\u001b[2J\n"}})" "\n"
        R"({"event": "write", "sequence": "a", "position": 0, "tokens": [1], "slots": [4]})" "\n"
        R"({"event": "start", "sequence": "b", "tokens": [1, 2], "cached": 1})" "\n"
        R"({"event": "table", "sequence": "b", "blocks": [1], "length": 1})" "\n");
    const std::vector<std::string> lines = lines_of(run_kvpane({"audit", log}).out);
    BOOST_TEST(lines.at(4).ends_with(R"(in the scope {tenant = t\x1B[2J\x0A} instead of {})"));
}

BOOST_AUTO_TEST_CASE(what_stands_before_a_line_that_was_cut_off_is_judged) {
    const Folder folder;
    const std::string cut = "{\"event\": \"appe";
    const std::string sound = header + "\n" + start + "\n" + cut;
    const std::string file = folder.write("l.jsonl", sound);
    const Ran ran = run_kvpane({"audit", file});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(lines_of(ran.out).back() ==
               "no finding in the lines before: 1 events, 0 tables judged, 0 cells compared");
    BOOST_TEST(ran.err == file + ":3:16: the file ends in the middle of an event\n");
    const Ran broken = run_kvpane({"audit", folder.write("b.jsonl", text_of(example) + cut)});
    BOOST_TEST(broken.code == 1);
    BOOST_TEST(broken.err.empty());
}

BOOST_AUTO_TEST_CASE(files_that_are_no_logs_exit_with_2) {
    const Folder folder;
    const auto said = [](const std::string& file) {
        const Ran ran = run_kvpane({"audit", file});
        BOOST_TEST(ran.code == 2);
        BOOST_TEST(ran.out.empty());
        return ran.err.substr(file.size() + 1);
    };
    BOOST_TEST(said(folder.path("none")) == "1:1: cannot be opened: No such file or directory\n");
    BOOST_TEST(said(folder.path("")) == "1:1: is a directory, not a file\n");
    BOOST_TEST(said(folder.write("empty", "")) == "1:1: is empty\n");
    BOOST_TEST(said(folder.write("long", std::string(20'000'000, '['))) ==
               "1:1: the line is longer than 16777216 bytes\n");
    BOOST_TEST(said(KVPANE_BINARY).starts_with("1:"));
}

// --- trying to break it ----------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_log_with_random_bytes_ends_in_a_finding_or_a_message_with_a_place) {
    invariants::Random random(kvpane::testing::seed());
    std::cout << "seed of the mutations: " << kvpane::testing::seed() << std::endl;
    const std::string sound = text_of_run(run_engine(Bug::none, 5, kvpane::testing::seed(), 40));
    constexpr std::string_view likely = "0123456789-.,:[]{}\"\\ \n\tetrue";
    int refusals = 0;
    for (int run = 0; run < 3000; ++run) {
        std::string text = sound;
        for (auto changes = random.between(1, 4); changes > 0; --changes) {
            const std::size_t at = random.below(text.size());
            const char byte =
                random.chance(80) ? likely[random.below(likely.size())] : static_cast<char>(random.below(256));
            const auto kind = random.below(4);
            if (kind == 0) {
                text.erase(at, random.below(20));
            } else if (kind == 1) {
                text.insert(at, 1, byte);
            } else if (kind == 2) {
                text.insert(at, text.substr(random.below(text.size()), random.below(40)));
            } else {
                text[at] = byte;
            }
        }
        const std::string message = refused(text);
        refusals += message.empty() ? 0 : 1;
        BOOST_TEST((message.empty() || message.starts_with("l:")), message);
    }
    BOOST_TEST(refusals > 1000);
}

BOOST_AUTO_TEST_CASE(a_log_that_is_cut_off_anywhere_is_sound_until_there) {
    const std::string sound = text_of_run(run_engine(Bug::none, 5, kvpane::testing::seed(), 12));
    for (std::size_t length = 1; length < sound.size(); ++length) {
        const std::string message = refused(sound.substr(0, length));
        const bool ends_a_line = sound[length] == '\n' || sound[length - 1] == '\n';
        BOOST_TEST((ends_a_line ? message.empty() : message.ends_with("the file ends in the middle of an event")),
                   message);
    }
}

BOOST_AUTO_TEST_SUITE_END()

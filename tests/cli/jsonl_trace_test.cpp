// SPDX-License-Identifier: Apache-2.0
// Prefix traces: what is read, and what is refused where.
#include <boost/test/unit_test.hpp>

#include <kvpane/cli/jsonl_trace.h>

#include "cli/program.h"

using kvpane::Token;
using kvpane::cli::is_prefix_trace;
using kvpane::cli::parse_prefix_trace;
using kvpane::testing::refusal_of;

namespace {

const std::string sound = R"({"timestamp": 5, "input_length": 600, "output_length": 9, "hash_ids": [3, 4]})";

std::string refused(const std::string& text) {
    return refusal_of([&] { parse_prefix_trace("t.jsonl", text); });
}

// What is said about a line that stands behind a sound one.
std::string second(const std::string& line) { return refused(sound + "\n" + line + "\n"); }

// The same for a line of these values.
std::string with(const std::string& time, const std::string& input, const std::string& output, const std::string& ids) {
    return second(R"({"timestamp": )" + time + R"(, "input_length": )" + input + R"(, "output_length": )" + output +
                  R"(, "hash_ids": )" + ids + "}");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jsonl_trace)

BOOST_AUTO_TEST_CASE(lines_become_requests_in_the_order_of_the_file) {
    const auto trace = parse_prefix_trace(
        "t.jsonl", sound + "\r\n" + R"({"hash_ids":[3],"output_length":0,)" + R"("input_length":1,"timestamp":5})");
    BOOST_REQUIRE(trace.requests.size() == 2U);
    BOOST_TEST(trace.requests[0].input == 600);
    BOOST_TEST(trace.requests[0].blocks == (std::vector<Token>{3, 4}), boost::test_tools::per_element());
    BOOST_TEST(trace.requests[1].input == 1);
    BOOST_TEST(trace.requests[1].blocks == std::vector<Token>{3}, boost::test_tools::per_element());
    BOOST_TEST(trace.distinct_blocks == 2);
}

BOOST_AUTO_TEST_CASE(the_largest_numbers_are_read) {
    const auto trace = parse_prefix_trace(
        "t.jsonl", R"({"timestamp": 9223372036854775807, "input_length": 512, "output_length": 16777216,)"
                   R"( "hash_ids": [2147483646]})");
    BOOST_TEST(trace.requests[0].blocks[0] == 2147483646);
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_trace_is_its_ending_or_else_its_first_character) {
    BOOST_TEST(is_prefix_trace("a.jsonl", "TIMESTAMP,"));
    BOOST_TEST(!is_prefix_trace("a.csv", "{"));
    BOOST_TEST(is_prefix_trace("a.txt", "{\"timestamp\""));
    BOOST_TEST(!is_prefix_trace("a.txt", "TIMESTAMP,"));
    BOOST_TEST(!is_prefix_trace("a", ""));
}

BOOST_AUTO_TEST_CASE(files_and_lines_without_content_are_refused) {
    BOOST_TEST(refused("") == "t.jsonl:1:1: is empty");
    BOOST_TEST(refused("\n") == "t.jsonl:1:1: the line is empty, not a JSON object");
    BOOST_TEST(refused(sound + "\n \t\r\n") == "t.jsonl:2:1: the line is empty, not a JSON object");
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_json_are_refused_where_they_stop_to_be) {
    BOOST_TEST(second("{'timestamp': 0}").starts_with("t.jsonl:2:2: the line is no JSON: syntax error"));
    BOOST_TEST(second("{\"timestamp\": 01}").starts_with("t.jsonl:2:16: the line is no JSON: syntax error"));
    BOOST_TEST(second(sound + " x").starts_with("t.jsonl:2:79: the line is no JSON: syntax error"));
    BOOST_TEST(second("{\"timestamp\": ").starts_with("t.jsonl:2:15: the line is no JSON: syntax error"));
    BOOST_TEST(with("1e999", "1", "1", "[3]") == "t.jsonl:2:1: the line is no JSON: number overflow parsing '1e999'");
}

BOOST_AUTO_TEST_CASE(a_last_line_that_was_cut_off_is_refused_at_its_end) {
    const std::string text = "the file ends in the middle of a request";
    BOOST_TEST(refused(sound + "\n{\"timestamp\": 7, \"inp") == "t.jsonl:2:22: " + text);
    BOOST_TEST(refused(sound.substr(0, sound.size() - 1)) == "t.jsonl:1:77: " + text);
    BOOST_TEST(refused(sound.substr(0, sound.size() - 3)) == "t.jsonl:1:75: " + text);
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_objects_are_refused) {
    BOOST_TEST(second(" [1, 2]") == "t.jsonl:2:2: the line must be a JSON object, not an array");
    BOOST_TEST(second("null") == "t.jsonl:2:1: the line must be a JSON object, not null");
    BOOST_TEST(second("12") == "t.jsonl:2:1: the line must be a JSON object, not a number");
}

BOOST_AUTO_TEST_CASE(fields_that_are_missing_unknown_or_there_twice_are_refused) {
    BOOST_TEST(second("{}") == "t.jsonl:2:1: 'timestamp' is missing");
    BOOST_TEST(second(R"({"timestamp": 5, "input_length": 1, "hash_ids": [3]})") ==
               "t.jsonl:2:1: 'output_length' is missing");
    BOOST_TEST(second(R"({"timestamp": 5, "input_lenght": 1, "output_length": 1, "hash_ids": [3]})") ==
               "t.jsonl:2:18: unknown field 'input_lenght'; did you mean 'input_length'?");
    BOOST_TEST(second(R"({"timestamp": 5, "user": {"timestamp": 6}})") == "t.jsonl:2:18: unknown field 'user'");
    BOOST_TEST(second(R"({"timestamp": 5, "timestamp" : 6})") ==
               "t.jsonl:2:18: 'timestamp' stands twice in the object");
}

BOOST_AUTO_TEST_CASE(columns_count_characters_not_bytes) {
    BOOST_TEST(second("{\"\xc3\xa4\xc3\xb6\": 1, \"b\": 2}") == "t.jsonl:2:2: unknown field '\xc3\xa4\xc3\xb6'");
    BOOST_TEST(second("[\"\xc3\xa4\xc3\xb6\" 1]").starts_with("t.jsonl:2:7: the line is no JSON"));
}

BOOST_AUTO_TEST_CASE(values_of_another_type_are_refused_where_they_stand) {
    BOOST_TEST(with("\"5\"", "1", "1", "[3]") == "t.jsonl:2:15: 'timestamp' must be an integer, not a string");
    BOOST_TEST(with("5", "1.0", "1", "[3]") == "t.jsonl:2:34: 'input_length' must be an integer, got 1.0");
    BOOST_TEST(with("5", "1e2", "1", "[3]") == "t.jsonl:2:34: 'input_length' must be an integer, got 1e2");
    BOOST_TEST(with("5", "true", "1", "[3]") == "t.jsonl:2:34: 'input_length' must be an integer, not a boolean");
    BOOST_TEST(with("5", "1", "null", "[3]") == "t.jsonl:2:54: 'output_length' must be an integer, not null");
    BOOST_TEST(with("5", "1", "1", "3") == "t.jsonl:2:69: 'hash_ids' must be an array, not a number");
    BOOST_TEST(with("5", "1", "1", "{\"a\": 1}") == "t.jsonl:2:69: 'hash_ids' must be an array, not an object");
    BOOST_TEST(with("5", "600", "1", "[3, false]") ==
               "t.jsonl:2:75: an id in 'hash_ids' must be an integer, not a boolean");
    BOOST_TEST(with("5", "600", "1", "[3,  4.0 ]") == "t.jsonl:2:76: an id in 'hash_ids' must be an integer, got 4.0");
    BOOST_TEST(with("5", "600", "1", "[3, [4]]") ==
               "t.jsonl:2:75: an id in 'hash_ids' must be an integer, not an array");
}

BOOST_AUTO_TEST_CASE(numbers_out_of_range_get_the_range_in_the_sentence) {
    BOOST_TEST(with("-1", "1", "1", "[3]") == "t.jsonl:2:15: 'timestamp' must be 0..9223372036854775807, got -1");
    BOOST_TEST(with("18446744073709551615", "1", "1", "[3]") ==
               "t.jsonl:2:15: 'timestamp' must be 0..9223372036854775807, got 18446744073709551615");
    BOOST_TEST(with("5", "0", "1", "[]") == "t.jsonl:2:34: 'input_length' must be 1..16777216, got 0");
    BOOST_TEST(with("5", "16777217", "1", "[3]") == "t.jsonl:2:34: 'input_length' must be 1..16777216, got 16777217");
    BOOST_TEST(with("5", "1", "-7", "[3]") == "t.jsonl:2:54: 'output_length' must be 0..16777216, got -7");
    const std::string id = "t.jsonl:2:70: an id in 'hash_ids' must be 0..2147483646, got ";
    BOOST_TEST(with("5", "1", "1", "[-3]") == id + "-3");
    BOOST_TEST(with("5", "1", "1", "[2147483647]") == id + "2147483647");
    BOOST_TEST(with("5", "1", "1", "[99999999999999999999999]") == id + "99999999999999999999999");
}

BOOST_AUTO_TEST_CASE(times_that_decrease_are_refused) {
    BOOST_TEST(with("4", "1", "1", "[3]") == "t.jsonl:2:15: 'timestamp' 4 is earlier than 5 on line 1");
    BOOST_TEST(with("5", "1", "1", "[3]").empty());
}

BOOST_AUTO_TEST_CASE(a_request_has_an_id_for_each_block_of_its_prompt) {
    const auto wrong = [](int wanted, int input, int got) {
        return "t.jsonl:2:" + std::string(input < 1000 ? "71" : "72") + ": 'hash_ids' must hold " +
               std::to_string(wanted) + " ids for an 'input_length' of " + std::to_string(input) +
               " (one for each 512 tokens), got " + std::to_string(got);
    };
    BOOST_TEST(with("5", "512", "1", "[3, 4]") == wrong(1, 512, 2));
    BOOST_TEST(with("5", "513", "1", "[3]") == wrong(2, 513, 1));
    BOOST_TEST(with("5", "1025", "1", "[]") == wrong(3, 1025, 0));
    BOOST_TEST(with("5", "512", "1", "[3]").empty());
    BOOST_TEST(with("5", "513", "1", "[3, 4]").empty());
    BOOST_TEST(with("5", "1024", "1", "[3, 4]").empty());
}

BOOST_AUTO_TEST_CASE(ids_that_contradict_their_parents_are_refused_with_both_lines) {
    const std::string end = ": equal ids are equal prefixes";
    BOOST_TEST(with("5", "600", "1", "[7, 4]") == "t.jsonl:2:75: id 4 follows 7 here, but follows 3 on line 1" + end);
    BOOST_TEST(with("5", "1", "1", "[4]") == "t.jsonl:2:70: id 4 comes first here, but follows 3 on line 1" + end);
    BOOST_TEST(with("5", "600", "1", "[7, 3]") == "t.jsonl:2:75: id 3 follows 7 here, but comes first on line 1" + end);
    BOOST_TEST(with("5", "600", "1", "[7, 7]") == "t.jsonl:2:75: id 7 follows 7 here, but comes first on line 2" + end);
    BOOST_TEST(with("5", "600", "1", "[3, 8]").empty());
}

BOOST_AUTO_TEST_CASE(the_small_trace_of_the_tests_is_read) {
    const std::string file = KVPANE_SOURCE_DIR "/tests/data/mooncake-small.jsonl";
    const auto trace = parse_prefix_trace(file, kvpane::testing::text_of(file));
    BOOST_TEST(trace.requests.size() == 10U);
    BOOST_TEST(trace.distinct_blocks == 11);
}

// The JSON library quotes what it has read of the line, up to a byte in the middle of a character.
BOOST_AUTO_TEST_CASE(a_message_is_text_whatever_stands_in_the_line) {
    BOOST_TEST(refused("{\"timestamp\": 5, \u00e4}").ends_with("last read: '5, \\xC3'; expected string literal"));
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: Apache-2.0
// Length traces: what is read, and what is refused where.
#include <boost/test/unit_test.hpp>

#include <kvpane/cli/csv_trace.h>

#include "cli/program.h"

using kvpane::cli::parse_trace;
using kvpane::testing::refusal_of;

namespace {

const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

// What is said about a file of the header and `rows`.
std::string refused(const std::string& rows) {
    return refusal_of([&] { parse_trace("t.csv", header + rows); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_trace)

BOOST_AUTO_TEST_CASE(rows_become_requests_in_the_order_of_the_file) {
    const auto requests = parse_trace("t.csv", header + "2023-11-16 18:15:46.68,374,44\nlater,1,0\n").requests;
    BOOST_REQUIRE(requests.size() == 2U);
    BOOST_TEST(requests[0].context == 374);
    BOOST_TEST(requests[0].generated == 44);
    BOOST_TEST(requests[1].context == 1);
    BOOST_TEST(requests[1].generated == 0);
}

BOOST_AUTO_TEST_CASE(lines_may_end_with_crlf_and_the_last_one_with_the_file) {
    const std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\na,2,3\r\nb,4,5";
    const auto requests = parse_trace("t.csv", text).requests;
    BOOST_REQUIRE(requests.size() == 2U);
    BOOST_TEST(requests[0].generated == 3);
    BOOST_TEST(requests[1].generated == 5);
}

BOOST_AUTO_TEST_CASE(a_file_without_requests_is_refused) {
    BOOST_TEST(refusal_of([] { parse_trace("t.csv", ""); }) == "t.csv:1:1: is empty");
    BOOST_TEST(refused("") == "t.csv:1:1: holds no request, only the header");
}

BOOST_AUTO_TEST_CASE(another_header_is_refused) {
    const std::string wanted = "the first line must be 'TIMESTAMP,ContextTokens,GeneratedTokens'";
    BOOST_TEST(refusal_of([] { parse_trace("t.csv", "a,1,2\n"); }) == "t.csv:1:1: " + wanted);
    BOOST_TEST(refusal_of([] { parse_trace("t.csv", "TIMESTAMP,ContextTok"); }) == "t.csv:1:1: " + wanted);
}

BOOST_AUTO_TEST_CASE(rows_with_too_few_or_too_many_fields_are_refused_where_they_end) {
    BOOST_TEST(refused("a,1,2\nb,1\n") == "t.csv:3:4: the line ends after 2 of 3 fields: GeneratedTokens is missing");
    BOOST_TEST(refused("b\n") == "t.csv:2:2: the line ends after 1 of 3 fields: ContextTokens is missing");
    BOOST_TEST(refused("b,1,2,3\n") == "t.csv:2:6: the line has more than 3 fields");
    BOOST_TEST(refused("a,1,2\n\nb,1,2\n") == "t.csv:3:1: the line ends after 1 of 3 fields: ContextTokens is missing");
}

BOOST_AUTO_TEST_CASE(columns_count_characters_not_bytes) {
    BOOST_TEST(refused("\xc3\xa4\xc3\xb6,1\n") ==
               "t.csv:2:5: the line ends after 2 of 3 fields: GeneratedTokens is missing");
    BOOST_TEST(refused("\xc3\xa4\xc3\xb6,x,2\n") == "t.csv:2:4: ContextTokens must be a whole number, got 'x'");
}

BOOST_AUTO_TEST_CASE(a_last_line_that_was_cut_off_is_refused) {
    BOOST_TEST(refused("a,1,2\nb,12") == "t.csv:3:5: the line ends after 2 of 3 fields: GeneratedTokens is missing");
    BOOST_TEST(refused("a,1,2\nb,12,") == "t.csv:3:6: GeneratedTokens must be a whole number, got ''");
}

BOOST_AUTO_TEST_CASE(fields_that_are_no_numbers_are_refused_where_they_begin) {
    BOOST_TEST(refused("a,x,2\n") == "t.csv:2:3: ContextTokens must be a whole number, got 'x'");
    BOOST_TEST(refused("a,12,2.5\n") == "t.csv:2:6: GeneratedTokens must be a whole number, got '2.5'");
    BOOST_TEST(refused("a, 12,2\n") == "t.csv:2:3: ContextTokens must be a whole number, got ' 12'");
    BOOST_TEST(refused("a,+12,2\n") == "t.csv:2:3: ContextTokens must be a whole number, got '+12'");
    BOOST_TEST(refused(",1,2\n") == "t.csv:2:1: TIMESTAMP is empty");
}

BOOST_AUTO_TEST_CASE(numbers_out_of_range_get_the_range_in_the_sentence) {
    BOOST_TEST(refused("a,0,2\n") == "t.csv:2:3: ContextTokens must be 1..16777216, got 0");
    BOOST_TEST(refused("a,-5,2\n") == "t.csv:2:3: ContextTokens must be 1..16777216, got -5");
    BOOST_TEST(refused("a,1,-1\n") == "t.csv:2:5: GeneratedTokens must be 0..16777216, got -1");
    BOOST_TEST(refused("a,1,99999999999999999999999\n") ==
               "t.csv:2:5: GeneratedTokens must be 0..16777216, got 99999999999999999999999");
}

BOOST_AUTO_TEST_CASE(the_small_trace_of_the_tests_is_read) {
    const auto trace = kvpane::cli::read_trace(KVPANE_SOURCE_DIR "/tests/data/azure-small.csv");
    BOOST_TEST(trace.requests.size() == 8U);
    BOOST_TEST(trace.requests.back().context == 64);
}

BOOST_AUTO_TEST_SUITE_END()

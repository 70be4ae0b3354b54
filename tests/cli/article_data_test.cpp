// SPDX-License-Identifier: Apache-2.0
// What is said about reference data that make no sense.
#include <kvpane/cli/article_data.h>

#include <filesystem>
#include <string>

#include <boost/test/unit_test.hpp>

#include "cli/program.h"
#include "cli/reference_data.h"

namespace kvpane::testing {

namespace {

void refuses(const std::string& file, const std::string& old, const std::string& by, const std::string& sentence) {
    const Folder folder;
    const std::string copy = with(folder, file, replaced(file, old, by));
    const std::string path = (std::filesystem::path(copy) / file).string();
    BOOST_TEST(refusal_of([&] { cli::read_article_data(copy); }) == path + sentence);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(article_data)

BOOST_AUTO_TEST_CASE(a_file_that_is_missing_or_no_json_is_refused_with_its_place) {
    const std::string nowhere = Folder().path("none");
    BOOST_TEST(refusal_of([&] { cli::read_article_data(nowhere); }) ==
               nowhere + "/cases.json:1:1: cannot be opened: No such file or directory");
    refuses("exp05.json", "\"window\": 4,", "\"window\" 4,",
            ":8:11: is no JSON: syntax error while parsing object separator - unexpected number literal; expected ':'");
}

BOOST_AUTO_TEST_CASE(a_value_that_is_missing_or_out_of_range_is_refused_by_the_way_to_it) {
    refuses("exp06.json", "\"same-prefix\": 24", "\"same-prefix\": 24.5",
            ":1:1: 'projected_rows.same-prefix' must be a whole number 0..1000000, got 24.5");
    refuses("exp08.json", "\"requests\": 12,", "", ":1:1: 'requests' is missing");
    refuses("cases.json", "\"cut\":8", "\"cut\":12", ":1:1: 'rows[0].cut' must be a whole number 0..11, got 12");
    refuses("cases.json", "[20,2,3,4", "[32,2,3,4", ":1:1: 'rows[1].tokens[0]' must be a whole number 0..31, got 32");
    refuses("cases.json", "\"seeds\":[7,11,23]", "\"seeds\":[7,11]", ":1:1: 'rows' must be an array of 18, got 27");
    refuses("exp08.json", "\"prefix_B\": [\n  13,", "\"prefix_B\": [",
            ":1:1: 'prefix_B' must be an array of 8 tokens, got 7");
    refuses("cases.json", "[1,2,3,4,5,6,7,8,9,10,11,12],\"scope\"", "[],\"scope\"",
            ":1:1: 'rows[0].tokens' must be an array of 1..16 tokens, got 0");
    refuses("cases.json", "\"tolerance\":1e-12", "\"tolerance\":1",
            ":1:1: 'tolerance' must be a number 0..1e-9, got 1");
    refuses("cases.json", "{\"seed\":7,", "{\"seed\":8,",
            ":1:1: 'rows[0].seed' must be one of the seeds 7, 11, 19, 23, 41, got 8");
    refuses("expected_11.json", "\"condition\":\"shorter\"", "\"condition\":\"longer\"",
            ":1:1: 'cases' has no condition 'shorter'");
    refuses("expected_11.json", "\"seed\":11", "\"seed\":23", ":1:1: 'seed' must be 11, as elsewhere, got 23");
    refuses("expected_11.json", "\"cut\":8", "\"cut\":7", ":1:1: 'cases[0].cut' must be 8, as elsewhere, got 7");
    refuses("cases.json", "\"chosen_entry\":0", "\"chosen_entry\":2",
            ":1:1: 'rows[0].chosen_entry' must be a whole number 0..1, got 2");
}

BOOST_AUTO_TEST_CASE(weights_are_2048_finite_numbers_of_16_digits) {
    refuses("weights_23.hex", " ", "  ", ":1:18: a weight must be 16 hex digits, got ''");
    const std::string text = text_of(committed + "/weights_19.hex");
    refuses("weights_19.hex", text.substr(17, 16), "7ff0000000000000",
            ":1:18: a weight must be a finite number, got inf");
    refuses("weights_19.hex", text.substr(text.size() - 18), "\n", ":129:1: ends after 2047 weights of 2048");
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_ends_the_program_with_2) {
    const Ran ran = run_kvpane({"article", "none"});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.out.empty());
    BOOST_TEST(ran.err == "none/cases.json:1:1: cannot be opened: No such file or directory\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

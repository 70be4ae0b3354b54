// SPDX-License-Identifier: Apache-2.0
// Files and words: what is refused, where, and with which sentence.
#include <boost/test/unit_test.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/cli/toml_reader.h>

#include "cli/program.h"

using namespace kvpane::cli;
using kvpane::testing::Folder;
using kvpane::testing::refusal_of;
using namespace std::string_literals;

namespace {

std::string parsing(const std::string& text) {
    return refusal_of([&] { parse_document("f.toml", text); });
}

// What `read` says about the table [t] of this text; the table is finished afterwards.
template <class Read>
std::string reading(const std::string& text, Read read) {
    return refusal_of([&] {
        const Document document = parse_document("f.toml", text);
        Table file(document, document.root, "the file");
        Table table = file.table("t", "[t]");
        read(table);
        table.finish();
    });
}

std::string integer_in(const std::string& value) {
    return reading("[t]\nn = " + value + "\n", [](Table& table) { table.integer("n", {1, 9}); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(input)

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_are_said_at_their_first_place) {
    const Folder folder;
    const auto reading_file = [&](const std::string& file) { return refusal_of([&] { read_text(file, 1000); }); };

    BOOST_TEST(reading_file("none.toml") == "none.toml:1:1: cannot be opened: No such file or directory");
    BOOST_TEST(reading_file(folder.path(".")) == folder.path(".") + ":1:1: is a directory, not a file");
    const std::string large = folder.write("large", std::string(1001, 'x'));
    BOOST_TEST(reading_file(large) == large + ":1:1: is larger than 1000 bytes");
    const std::string just_right = folder.write("right", std::string(1000, 'x'));
    BOOST_TEST(read_text(just_right, 1000).size() == 1000U);
}

BOOST_AUTO_TEST_CASE(what_is_quoted_from_a_file_cannot_move_the_cursor) {
    BOOST_TEST(reading("[t]\n\"a\\n\\u001b[31m\\u007F\" = 1\n", [](Table&) {}) ==
               "f.toml:2:1: unknown key 'a\\x0A\\x1B[31m\\x7F' in [t]");
    BOOST_TEST(std::string(InputError::at_byte("f.kvj", 7, "group '\t'").what()) == "f.kvj: byte 7: group '\\x09'");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_are_said_where_they_stand) {
    const Folder folder;
    const std::string binary = folder.write("a", "a\nb\0c"s);
    BOOST_TEST(refusal_of([&] { read_text(binary, 1000); }) ==
               binary + ":2:2: holds a NUL byte: this is not a text file");
    const std::string latin = folder.write("b", "\xc3\xa4 = 1\n\xe4 = 2\n");
    BOOST_TEST(refusal_of([&] { read_text(latin, 1000); }) ==
               latin + ":2:1: holds the byte 0xe4, which is no valid UTF-8");
}

BOOST_AUTO_TEST_CASE(columns_count_characters_and_not_bytes) {
    const NotText wrong = find_what_is_not_text("\xe2\x82\xac\xf0\x9f\x98\x80\xff");
    BOOST_TEST(wrong.place.line == 1);
    BOOST_TEST(wrong.place.column == 3);
}

BOOST_AUTO_TEST_CASE(overlong_surrogate_and_cut_off_characters_are_no_text) {
    for (const char* bad : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
        BOOST_TEST(!find_what_is_not_text(bad).sentence.empty());
    }
    BOOST_TEST(find_what_is_not_text("\xf4\x8f\xbf\xbf \xed\x9f\xbf").sentence.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_toml_is_said_where_it_stands) {
    BOOST_TEST(parsing("a = 1\nb = \n").starts_with("f.toml:2:5: "));
    BOOST_TEST(parsing("a = [1, 2").starts_with("f.toml:1:10: "));
    BOOST_TEST(parsing("[pool").find("encountered end-of-file") != std::string::npos);
    BOOST_TEST(parsing("a = 1\na = 2\n").starts_with("f.toml:2:5: "));
    BOOST_TEST(parsing("a = 99999999999999999999\n").find("not representable in 64 bits") != std::string::npos);
    BOOST_TEST(parsing("a = " + std::string(5000, '[')).starts_with("f.toml:1:"));
}

BOOST_AUTO_TEST_CASE(integers_are_neither_floats_nor_booleans_nor_strings) {
    BOOST_TEST(integer_in("5").empty());
    BOOST_TEST(integer_in("1.0") == "f.toml:2:5: 'n' in [t] must be an integer, not a float");
    BOOST_TEST(integer_in("true") == "f.toml:2:5: 'n' in [t] must be an integer, not a boolean");
    BOOST_TEST(integer_in("\"1\"") == "f.toml:2:5: 'n' in [t] must be an integer, not a string");
    BOOST_TEST(integer_in("[1]") == "f.toml:2:5: 'n' in [t] must be an integer, not an array");
    BOOST_TEST(integer_in("{}") == "f.toml:2:5: 'n' in [t] must be an integer, not a table");
    BOOST_TEST(integer_in("2020-01-01") == "f.toml:2:5: 'n' in [t] must be an integer, not a date or time");
}

BOOST_AUTO_TEST_CASE(integers_out_of_range_get_the_range_in_the_sentence) {
    BOOST_TEST(integer_in("0") == "f.toml:2:5: 'n' in [t] must be 1..9, got 0");
    BOOST_TEST(integer_in("-4") == "f.toml:2:5: 'n' in [t] must be 1..9, got -4");
    BOOST_TEST(integer_in("9223372036854775807") == "f.toml:2:5: 'n' in [t] must be 1..9, got 9223372036854775807");
    const auto at_least = [](Table& table) { table.integer("n", any_count); };
    BOOST_TEST(reading("[t]\nn = -1\n", at_least) == "f.toml:2:5: 'n' in [t] must be at least 0, got -1");
}

BOOST_AUTO_TEST_CASE(numbers_take_integers_and_floats_but_nothing_infinite) {
    const auto read = [](Table& table) { table.number("n", 0, 10); };
    BOOST_TEST(reading("[t]\nn = 1\n", read).empty());
    BOOST_TEST(reading("[t]\nn = 1.5\n", read).empty());
    BOOST_TEST(reading("[t]\nn = inf\n", read) == "f.toml:2:5: 'n' in [t] must be 0..10, got inf");
    BOOST_TEST(reading("[t]\nn = nan\n", read) == "f.toml:2:5: 'n' in [t] must be 0..10, got nan");
    BOOST_TEST(reading("[t]\nn = 10.5\n", read) == "f.toml:2:5: 'n' in [t] must be 0..10, got 10.5");
    BOOST_TEST(reading("[t]\nn = true\n", read) == "f.toml:2:5: 'n' in [t] must be a number, not a boolean");
}

BOOST_AUTO_TEST_CASE(a_key_that_nobody_asked_for_is_an_error_with_the_nearest_known_key) {
    const auto read = [](Table& table) { table.integer_or("block_size", 1, any_count); };
    BOOST_TEST(reading("[t]\nblock_sise = 4\n", read) ==
               "f.toml:2:1: unknown key 'block_sise' in [t]; did you mean 'block_size'?");
    BOOST_TEST(reading("[t]\n  colour = 4\n", read) == "f.toml:2:3: unknown key 'colour' in [t]");
}

BOOST_AUTO_TEST_CASE(a_missing_key_is_said_at_its_table_unless_it_is_only_misspelt) {
    const auto read = [](Table& table) { table.integer("blocks", any_count); };
    BOOST_TEST(reading("a = 1\n[t]\n", read) == "f.toml:2:1: 'blocks' is missing in [t]");
    BOOST_TEST(reading("[t]\nbloks = 1\n", read) == "f.toml:2:1: unknown key 'bloks' in [t]; did you mean 'blocks'?");
    BOOST_TEST(reading("", read) == "f.toml:1:1: 't' is missing in the file");
}

BOOST_AUTO_TEST_CASE(a_word_that_is_no_choice_is_said_with_all_choices) {
    const auto read = [](Table& table) { table.choice("w", {"commit", "reserve"}); };
    BOOST_TEST(reading("[t]\nw = \"reserv\"\n", read) ==
               "f.toml:2:5: 'w' in [t] must be 'commit' or 'reserve', not 'reserv'; did you mean 'reserve'?");
    BOOST_TEST(reading("[t]\nw = 1\n", read) == "f.toml:2:5: 'w' in [t] must be a string, not an integer");
    BOOST_TEST(reading("[t]\n", read) == "f.toml:1:1: 'w' is missing in [t]");
}

BOOST_AUTO_TEST_CASE(a_table_where_an_array_of_tables_belongs_is_a_wrong_type) {
    BOOST_TEST(reading("[t.g]\n", [](Table& table) { table.tables("g", "[[g]]"); }) ==
               "f.toml:1:1: 'g' in [t] must be an array, not a table");
    BOOST_TEST(reading("[t]\ng = [1]\n", [](Table& table) { table.tables("g", "[[g]]"); }) ==
               "f.toml:2:6: entry 1 of 'g' in [t] must be a table, not an integer");
}

BOOST_AUTO_TEST_CASE(a_suggestion_is_made_only_when_it_is_near) {
    BOOST_TEST(did_you_mean("appned", {"append", "admit"}) == "; did you mean 'append'?");
    BOOST_TEST(did_you_mean("relaese", {"release", "reserve"}) == "; did you mean 'release'?");
    BOOST_TEST(did_you_mean("zebra", {"append", "admit"}).empty());
    BOOST_TEST(did_you_mean("x", {"y"}).empty());
}

BOOST_AUTO_TEST_CASE(the_digest_of_a_text_is_fnv_1a) {
    BOOST_TEST(text_digest("") == 0xcbf29ce484222325U);
    BOOST_TEST(text_digest("a") == 0xaf63dc4c8601ec8cU);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: Apache-2.0
// The article's table: each published number, and that a fault, a wrong weight or a control gone right is noticed.
#include <kvpane/invariants/article.h>

#include <algorithm>
#include <map>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <kvpane/cli/article_data.h>

#include "cli/program.h"
#include "cli/reference_data.h"

namespace kvpane::invariants::article {

namespace {

using testing::committed;
using testing::Folder;
using testing::lines_of;
using testing::Ran;
using testing::replaced;
using testing::run_kvpane;
using testing::text_of;
using testing::with;

constexpr double tolerance = 1e-12;

const Data& data() {
    static const Data read = cli::read_article_data(committed);
    return read;
}

const Report& report() {
    static const Report made = check_article(data());
    return made;
}

// What came out of the check of this name.
double found(const Section& section, const std::string& name) {
    const auto check = std::ranges::find(section.checks, name, &Check::name);
    BOOST_REQUIRE(check != section.checks.end());
    return check->found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_article)

BOOST_AUTO_TEST_CASE(has_27_rows_and_each_is_right_to_the_last_bit) {
    BOOST_TEST(report().rows.size() == 27U);
    BOOST_TEST(right_rows(report()) == 27U);
    BOOST_TEST(is_right(report()));
    for (const TableRow& row : report().rows) {
        BOOST_TEST(row.error == 0.0);
    }
}

BOOST_AUTO_TEST_CASE(cuts_where_the_published_store_cuts) {
    const std::map<std::string, std::array<std::int64_t, 3>> published = {
        {"append", {8, 24, 72}},          {"edit-first", {0, 72, 72}},  {"edit-middle", {4, 48, 72}},
        {"edit-last", {7, 30, 72}},       {"shorter", {3, 6, 24}},      {"branch-two", {8, 24, 72}},
        {"different-scope", {0, 72, 72}}, {"window-edit", {0, 72, 72}}, {"window-append", {8, 24, 72}}};
    for (const TableRow& row : report().rows) {
        const auto& [cut, rows, fresh] = published.at(row.wanted->condition);
        BOOST_TEST(row.cut == cut);
        BOOST_TEST(row.projected_rows == rows);
        BOOST_TEST(row.fresh_projected_rows == fresh);
    }
}

BOOST_AUTO_TEST_CASE(finds_its_blocks_with_the_entry_that_the_published_store_chooses) {
    const std::map<std::string, std::int64_t> published = {{"append", 0},  {"edit-middle", 1}, {"edit-last", 0},
                                                           {"shorter", 1}, {"branch-two", 1},  {"window-append", 0}};
    for (const TableRow& row : report().rows) {
        const auto entry = published.find(row.wanted->condition);
        BOOST_TEST(row.chosen_entry.has_value() == (entry != published.end()));
        BOOST_TEST((entry == published.end() || row.chosen_entry == entry->second));
    }
}

BOOST_AUTO_TEST_CASE(fails_with_another_entry_of_the_store_and_with_other_rows_without_a_cache) {
    const Folder folder;
    const Ran entry = run_kvpane(
        {"article", with(folder, "cases.json", replaced("cases.json", "\"chosen_entry\":0", "\"chosen_entry\":1"))});
    BOOST_TEST(entry.code == 1);
    BOOST_TEST(lines_of(entry.out).back() == "26/27 rows, 195/195 checks beside them");
    BOOST_TEST(entry.out.find("entry of the store: expected 1 exactly, got 0\n") != std::string::npos);

    const Folder other;
    const Ran rows = run_kvpane(
        {"article", with(other, "exp08.json", replaced("exp08.json", "\"fresh_rows\": 864", "\"fresh_rows\": 863"))});
    BOOST_TEST(rows.code == 1);
    BOOST_TEST(lines_of(rows.out).back() == "27/27 rows, 180/195 checks beside them");
}

BOOST_AUTO_TEST_CASE(has_controls_that_are_wrong_by_their_published_errors_and_by_nothing_elsewhere) {
    const std::map<std::pair<std::int64_t, std::string>, double> published = {
        {{7, "edit-middle"}, 1.3774978518157739},  {{7, "edit-last"}, 0.6418934485731234},
        {{7, "shorter"}, 0.6875123770705734},      {{11, "edit-middle"}, 0.8719477419623517},
        {{11, "edit-last"}, 0.31517596093805744},  {{11, "shorter"}, 1.0288152470111862},
        {{23, "edit-middle"}, 1.2079418641835975}, {{23, "edit-last"}, 0.6804948366980114},
        {{23, "shorter"}, 0.536237180126012}};
    std::size_t wrong = 0;
    for (const TableRow& row : report().rows) {
        const auto entry = published.find({row.wanted->seed, row.wanted->condition});
        const double expected = entry == published.end() ? 0 : entry->second;
        BOOST_TEST(std::abs(row.control_error - expected) <= tolerance);
        wrong += row.control_error > 1e-6 ? 1U : 0U;
    }
    BOOST_TEST(wrong == 9U);
}

BOOST_AUTO_TEST_CASE(finds_4_tokens_of_a_window_edit_while_released_blocks_are_still_cached) {
    const Section section = window_edits_while_cached(data());
    BOOST_TEST(section.checks.size() == 9U);
    for (const char* seed : {"seed 7: ", "seed 11: ", "seed 23: "}) {
        BOOST_TEST(found(section, std::string(seed) + "cut") == 4);
        BOOST_TEST(found(section, std::string(seed) + "projected rows") == 48);
        BOOST_TEST(found(section, std::string(seed) + "error") == 0.0);
    }
}

BOOST_AUTO_TEST_CASE(has_predecessors_whose_errors_come_out) {
    const Section slid = windows(data());
    BOOST_TEST(std::abs(found(slid, "seed 7: positions reset to 0") - 1.6396440968706636) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 19: positions reset to 0") - 1.5815179218701076) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 41: positions reset to 0") - 1.4836566654305905) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 7: recompute from the window's tokens") - 0.32219499143376756) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 19: recompute from the window's tokens") - 0.41295788573722025) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 41: recompute from the window's tokens") - 0.3918651930538199) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 7: chunk with a wrong mask") - 0.5898382535636) <= tolerance);
    BOOST_TEST(std::abs(found(slid, "seed 7: future seen without a mask") - 0.13961894822489077) <= tolerance);
    BOOST_TEST(found(slid, "seed 7: sliding against masked") == 0.0);
    BOOST_TEST(found(slid, "seed 7: bytes of K and V in the window") == 2048);

    const Section reused = identities(data());
    const auto unchecked = [&](const std::string& seed, const std::string& condition) {
        return found(reused, "seed " + seed + ": unchecked, " + condition + ": error");
    };
    BOOST_TEST(std::abs(unchecked("7", "edited-prefix") - 0.08820395677983249) <= tolerance);
    BOOST_TEST(std::abs(unchecked("19", "edited-prefix") - 0.06044665577249156) <= tolerance);
    BOOST_TEST(std::abs(unchecked("41", "edited-prefix") - 0.05831171431626875) <= tolerance);
    BOOST_TEST(std::abs(unchecked("7", "different-weights") - 0.021804379576149002) <= tolerance);
    BOOST_TEST(std::abs(unchecked("7", "different-window") - 0.12757775032137025) <= tolerance);
    for (const auto& [condition, rows] : {std::pair("same-prefix", 24), std::pair("edited-prefix", 72)}) {
        const std::string name = std::string("seed 7: guarded, ") + condition;
        BOOST_TEST(found(reused, name + ": projected rows") == rows);
        BOOST_TEST(found(reused, name + ": error") == 0.0);
    }
    BOOST_TEST(all_hold(slid.checks));
    BOOST_TEST(all_hold(reused.checks));
}

BOOST_AUTO_TEST_CASE(has_controls_of_the_block_table_with_the_published_digits) {
    const Section section = controls(data());
    BOOST_TEST(section.checks.size() == 21U);
    BOOST_TEST(all_hold(section.checks));
    const std::map<std::string, std::array<double, 5>> published = {
        {"seed 7: ", {0.0288258473, 0.693, 0.358, 0.132, 0.292}},
        {"seed 11: ", {0.0320475658, 0.499, 0.325, 0.136, 0.235}},
        {"seed 23: ", {0.0251665394, 0.395, 0.793, 0.199, 0.369}}};
    for (const auto& [seed, errors] : published) {
        BOOST_TEST(std::abs(found(section, seed + "rows spliced in behind an edit") - errors[0]) < 0.5e-10);
        BOOST_TEST(std::abs(found(section, seed + "rows of the window relabelled") - errors[1]) < 0.5e-3);
        BOOST_TEST(std::abs(found(section, seed + "rows of the window not relabelled") - errors[2]) < 0.5e-3);
        BOOST_TEST(std::abs(found(section, seed + "W - 2 rows kept") - errors[3]) < 0.5e-3);
        BOOST_TEST(std::abs(found(section, seed + "W - 3 rows kept") - errors[4]) < 0.5e-3);
        BOOST_TEST(found(section, seed + "W - 1 rows kept") == 0.0);
    }
}

BOOST_AUTO_TEST_CASE(shares_a_byte_budget_as_published) {
    struct Expected {
        std::int64_t budget;
        const char* trace;
        std::int64_t rows;
        std::int64_t hits;
    };
    for (const Expected& expected : {Expected{4096, "hot-prefix", 600, 11},
                                     {4096, "alternating-branches", 864, 0},
                                     {4096, "three-scopes", 864, 0},
                                     {8192, "hot-prefix", 336, 11},
                                     {8192, "alternating-branches", 624, 10},
                                     {8192, "three-scopes", 864, 0},
                                     {12288, "hot-prefix", 336, 11},
                                     {12288, "alternating-branches", 384, 10},
                                     {12288, "three-scopes", 648, 9},
                                     {16384, "three-scopes", 432, 9},
                                     {32768, "three-scopes", 432, 9}}) {
        BOOST_TEST_CONTEXT(expected.budget << " bytes, " << expected.trace) {
            const BudgetRun run = run_budget(data(), expected.budget, expected.trace);
            BOOST_TEST(run.projected_rows == expected.rows);
            BOOST_TEST(run.fresh_rows == 864);
            BOOST_TEST(run.hits == expected.hits);
            BOOST_TEST(run.copied_cells == 0);
            BOOST_TEST(run.error == 0.0);
        }
    }
    BOOST_TEST(budgets(data()).checks.size() == 60U);
    BOOST_TEST(all_hold(budgets(data()).checks));
}

BOOST_AUTO_TEST_CASE(notices_attention_that_reads_the_next_slot) {
    const Report wrong = check_article(data(), Fault::next_slot);
    BOOST_TEST(right_rows(wrong) == 0U);
    BOOST_TEST(!is_right(wrong));
    BOOST_TEST(std::ranges::none_of(wrong.sections, [](const Section& section) { return all_hold(section.checks); }));
}

BOOST_AUTO_TEST_CASE(notices_copies_that_are_not_run_where_a_block_matches_partly) {
    const Report wrong = check_article(data(), Fault::missed_copy);
    for (const TableRow& row : wrong.rows) {
        const std::string& condition = row.wanted->condition;
        const bool has_copy = condition == "edit-last" || condition == "shorter" || condition == "branch-two";
        BOOST_TEST(all_hold(row.checks) == !has_copy, row.wanted->seed << " " << condition);
    }
    BOOST_TEST(!is_right(wrong));
}

BOOST_AUTO_TEST_CASE(is_printed_with_its_totals_last) {
    const Folder folder;
    const std::string file = folder.path("out.json");
    const Ran ran = run_kvpane({"article", committed, "--json", file});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.err.empty());
    BOOST_TEST(lines_of(ran.out).back() == "27/27 rows, 195/195 checks beside them");
    BOOST_TEST(ran.out.find("FAIL") == std::string::npos);
    BOOST_TEST(ran.out.find("   7  edit-last          7    30     72       3      0  0.641893448573123") !=
               std::string::npos);
    const auto json = nlohmann::json::parse(text_of(file));
    BOOST_TEST(json["ok"] == true);
    BOOST_TEST(json["right_rows"] == 27);
    BOOST_TEST(json["rows"].size() == 27U);
    BOOST_TEST(json["rows"][2]["condition"] == "edit-middle");
    BOOST_TEST(json["rows"][2]["published_control_error"] == 1.3774978518157739);
    BOOST_TEST(json["rows"][0]["published_control_error"].is_null());
    BOOST_TEST(json["sections"].size() == 6U);
}

BOOST_AUTO_TEST_CASE(fails_with_one_digit_of_one_weight_changed) {
    const Folder folder;
    // Of the embedding of token 0, which no query has: only the probe sees it. Of the last weight: every row does.
    const std::string unused =
        with(folder, "weights_7.hex", replaced("weights_7.hex", "3f382f9088266203", "3f382f9188266203"));
    const Ran one = run_kvpane({"article", unused});
    BOOST_TEST(one.code == 1);
    BOOST_TEST(lines_of(one.out).back() == "27/27 rows, 194/195 checks beside them");

    const std::string text = text_of(committed + "/weights_7.hex");
    const std::string last = text.substr(text.find_last_not_of('\n') - 15, 16);
    const Folder other;
    const Ran all =
        run_kvpane({"article", with(other, "weights_7.hex", replaced("weights_7.hex", last, "3fe0000000000000"))});
    BOOST_TEST(all.code == 1);
    BOOST_TEST(lines_of(all.out).back().starts_with("18/27 rows, "));
    BOOST_TEST(all.out.find("distance of the recompute to its published rows: expected 0 within 1e-12, got 0.") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(fails_when_a_control_is_not_as_wrong_as_published) {
    const Folder folder;
    const std::string folder_with_another = with(folder, "cases.json",
                                                 replaced("cases.json", "\"wrong_error_evidence\":1.3774978518157739",
                                                          "\"wrong_error_evidence\":1.37749785182"));
    const Ran ran = run_kvpane({"article", folder_with_another});
    BOOST_TEST(ran.code == 1);
    BOOST_TEST(lines_of(ran.out).back() == "26/27 rows, 195/195 checks beside them");
    BOOST_TEST(ran.out.find("error of the control: expected 1.37749785182 within 1e-12, got 1.377497851815") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants::article

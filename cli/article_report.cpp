// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/article_report.h>

#include <fmt/format.h>

#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants::article;

namespace {

std::string_view verdict(bool is_right) { return is_right ? "ok" : "FAIL"; }

// "48 exactly", "0 within 1e-12"
std::string wanted_text(const Check& check) {
    return check.tolerance == 0 ? fmt::format("{} exactly", check.expected)
                                : fmt::format("{} within {}", check.expected, check.tolerance);
}

}  // namespace

std::string first_line(const ArticleReport& report) {
    return fmt::format("kvpane {} article {}: two layers, K and V in blocks of 4, tolerance {}\n", version,
                       report.folder, report.tolerance);
}

std::string article_table_head() {
    return fmt::format("{:>4}  {:<16}{:>4}{:>6}{:>7}{:>8}{:>7}  {:<24}{}\n", "seed", "condition", "cut", "rows",
                       "fresh", "copied", "error", "stale position", "published");
}

std::string article_row(const TableRow& row) {
    const Case& wanted = *row.wanted;
    const std::string published = wanted.control_error ? fmt::format("{}", *wanted.control_error) : "-";
    std::string text =
        fmt::format("{:>4}  {:<16}{:>4}{:>6}{:>7}{:>8}{:>7.3g}  {:<24}{:<20}{}\n", wanted.seed, wanted.condition,
                    row.cut, row.projected_rows, row.fresh_projected_rows, row.copied_cells, row.error,
                    row.control_error, published, verdict(all_hold(row.checks)));
    for (const Check& check : row.checks) {
        if (!check.holds()) {
            text += fmt::format("      {}: expected {}, got {}\n", check.name, wanted_text(check), check.found);
        }
    }
    return text;
}

std::string section_text(const Section& section) {
    std::string text = fmt::format("{}: {}/{}\n", section.title, holding(section.checks), section.checks.size());
    for (const Check& check : section.checks) {
        text +=
            fmt::format("  {:<5}{:<56}{:<24}{}\n", verdict(check.holds()), check.name, check.found, wanted_text(check));
    }
    return text;
}

std::string article_totals(const ArticleReport& report) {
    std::size_t held = 0;
    std::size_t all = 0;
    for (const Section& section : report.results.sections) {
        held += holding(section.checks);
        all += section.checks.size();
    }
    return fmt::format("{}/{} rows, {}/{} checks beside them\n", right_rows(report.results), report.results.rows.size(),
                       held, all);
}

}  // namespace kvpane::cli

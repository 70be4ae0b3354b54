// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/article.h>

// What came out of the article's table, as text; as JSON in json_report.h.
namespace kvpane::cli {

struct ArticleReport {
    std::string folder;  // of the reference data
    double tolerance = 0;
    invariants::article::Report results;
};

std::string first_line(const ArticleReport& report);

std::string article_table_head();
// One line, and one more for each check that fails.
std::string article_row(const invariants::article::TableRow& row);
// A title, and one line a check.
std::string section_text(const invariants::article::Section& section);
// "27/27 rows, 195/195 checks beside them"
std::string article_totals(const ArticleReport& report);

}  // namespace kvpane::cli

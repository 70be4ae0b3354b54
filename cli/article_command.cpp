// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <kvpane/cli/article_data.h>
#include <kvpane/cli/article_report.h>
#include <kvpane/cli/commands.h>
#include <kvpane/cli/json_report.h>

namespace kvpane::cli {

using namespace invariants;

ExitCode run_article(const ArticleOptions& options) {
    const article::Data data = read_article_data(options.folder);
    const OutputFile json(options.json, {});
    const ArticleReport report{
        .folder = options.folder, .tolerance = data.tolerance, .results = article::check_article(data)};

    fmt::print("{}\n{}", first_line(report), article_table_head());
    for (const article::TableRow& row : report.results.rows) {
        fmt::print("{}", article_row(row));
    }
    for (const article::Section& section : report.results.sections) {
        fmt::print("\n{}", section_text(section));
    }
    fmt::print("\n{}", article_totals(report));
    if (json.wanted()) {
        json.write(article_json(report));
    }
    return article::is_right(report.results) ? exit_ok : exit_broken;
}

}  // namespace kvpane::cli

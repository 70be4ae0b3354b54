// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/article.h>

#include <algorithm>

namespace kvpane::invariants::article {

std::size_t holding(const std::vector<Check>& checks) {
    return static_cast<std::size_t>(std::ranges::count_if(checks, &Check::holds));
}

bool all_hold(const std::vector<Check>& checks) { return !checks.empty() && holding(checks) == checks.size(); }

std::size_t right_rows(const Report& report) {
    return static_cast<std::size_t>(
        std::ranges::count_if(report.rows, [](const TableRow& row) { return all_hold(row.checks); }));
}

bool is_right(const Report& report) {
    return !report.rows.empty() && right_rows(report) == report.rows.size() &&
           std::ranges::all_of(report.sections, [](const Section& section) { return all_hold(section.checks); });
}

Report check_article(const Data& data, Fault fault) {
    Report report;
    for (const Case& wanted : data.cases) {
        report.rows.push_back(table_row(data, wanted, fault));
    }
    report.sections = {window_edits_while_cached(data, fault),
                       probes(data, fault),
                       windows(data, fault),
                       identities(data, fault),
                       controls(data, fault),
                       budgets(data, fault)};
    return report;
}

}  // namespace kvpane::invariants::article

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/audit_report.h>

#include <fmt/format.h>

#include <kvpane/cli/printable.h>
#include <kvpane/invariants/catalogue.h>
#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants;

std::string first_line(const AuditReport& report) {
    std::string groups;
    for (const engine_log::Group& group : report.header.groups) {
        groups += fmt::format("{}{}", groups.empty() ? "" : ",", printable(group.name));
        groups += group.window == 0 ? "" : fmt::format("/{}", group.window);
    }
    return fmt::format("kvpane {} log={} block_size={} groups={}\n", version, report.log, report.header.block_size,
                       groups);
}

std::string finding_text(const AuditFinding& finding) {
    std::string text = fmt::format("VIOLATION {} at line {}: {}\n  {}\n", number(finding.invariant), finding.line,
                                   sentence(finding.invariant), printable(finding.what));
    if (finding.expected) {
        text += fmt::format("  expected: {}\n", printable(describe(*finding.expected)));
    }
    if (finding.found) {
        text += fmt::format("  found:    {}\n", printable(describe(*finding.found)));
    }
    if (finding.block) {
        text += fmt::format("  what last happened to block {}:\n", *finding.block);
        for (const std::string& line : finding.block_history) {
            text += fmt::format("    {}\n", printable(line));
        }
    }
    return text;
}

std::string counts_text(const AuditCounts& counts) {
    return fmt::format("{} events, {} tables judged, {} cells compared", counts.events, counts.tables, counts.cells);
}

}  // namespace kvpane::cli

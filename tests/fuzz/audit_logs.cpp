// SPDX-License-Identifier: Apache-2.0
// Logs of engines: the first finding is the same whatever follows it, and can be told.
#include <algorithm>
#include <sstream>

#include <kvpane/cli/audit_log.h>
#include <kvpane/cli/audit_report.h>
#include <kvpane/cli/json_report.h>

#include "fuzz/places.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

// As `kvpane audit` judges it. ERRORS InputError.
cli::AuditReport judge(std::string_view text) {
    std::istringstream stream{std::string(text)};
    cli::AuditLog log(input_name, stream);
    cli::AuditReport report{.log = input_name, .header = log.header(), .counts = {}, .finding = {}};
    TableAudit audit(log.header());
    while (!report.finding) {
        const std::optional<engine_log::Event> event = log.next();
        if (!event) {
            break;
        }
        if (const std::optional<Refusal> refusal = audit.refusal(*event)) {
            log.refuse(*refusal);
        }
        report.finding = audit.follow(*event, log.line());
        report.counts = audit.counts();
    }
    return report;
}

// Its first lines.
std::string_view beginning(std::string_view text, std::int64_t lines) {
    std::size_t end = 0;
    for (; lines > 0; --lines) {
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    return text.substr(0, end);
}

void require_told(const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
        require_printable(line);
    }
}

}  // namespace

void audit_logs(Input input) {
    const std::string_view text = as_text(input);
    cli::AuditReport report;
    if (!reads(text, [&] { report = judge(text); })) {
        return;
    }
    require_told(cli::first_line(report));
    require_told(cli::audit_json(report));
    if (!report.finding) {
        return;
    }
    const std::int64_t line = report.finding->line;
    const std::string told = cli::finding_text(*report.finding);
    require_told(told);
    const cli::AuditReport cut = judge(beginning(text, line));
    require(cut.finding && cli::finding_text(*cut.finding) == told,
            "without the lines behind it, it is not found: ", told);
    require(!judge(beginning(text, line - 1)).finding, "is found at line ", line, ", too late: ", told);
}

}  // namespace kvpane::fuzz

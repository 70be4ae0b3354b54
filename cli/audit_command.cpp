// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <istream>
#include <optional>

#include <fmt/format.h>

#include <kvpane/cli/audit_log.h>
#include <kvpane/cli/audit_report.h>
#include <kvpane/cli/commands.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/json_report.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

// Until the end of the log, the first finding, or an InputError; the report holds what was judged until then.
void judge(AuditLog& log, AuditReport& report) {
    TableAudit audit(log.header());
    while (!report.finding) {
        const std::optional<engine_log::Event> event = log.next();
        if (!event) {
            return;
        }
        if (const std::optional<Refusal> refusal = audit.refusal(*event)) {
            log.refuse(*refusal);
        }
        report.finding = audit.follow(*event, log.line());
        report.counts = audit.counts();
    }
}

}  // namespace

ExitCode run_audit(const AuditOptions& options) {
    const bool is_stdin = options.log == "-";
    std::ifstream file;
    if (!is_stdin) {
        file = open_input(options.log);
    }
    const std::string name = is_stdin ? "stdin" : options.log;
    AuditLog log(name, is_stdin ? std::cin : file);
    const OutputFile json(options.json, {options.log});
    AuditReport report{.log = name, .header = log.header(), .counts = {}, .finding = {}};
    fmt::print("{}", first_line(report));
    try {
        judge(log, report);
    } catch (const InputError&) {
        fmt::print("no finding in the lines before: {}\n", counts_text(report.counts));
        throw;
    }
    if (report.finding) {
        fmt::print("{}", finding_text(*report.finding));
    }
    fmt::print("{}: {}{}\n", report.finding ? "broken" : "sound", counts_text(report.counts),
               report.counts.tables == 0 ? "; nothing is judged without a table" : "");
    if (json.wanted()) {
        json.write(audit_json(report));
    }
    return report.finding ? exit_broken : exit_ok;
}

}  // namespace kvpane::cli

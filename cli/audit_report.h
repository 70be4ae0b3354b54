// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <kvpane/invariants/engine_log.h>
#include <kvpane/invariants/table_audit.h>

// What came out of judging an engine's log, as text; as JSON in json_report.h.
namespace kvpane::cli {

struct AuditReport {
    std::string log;
    invariants::engine_log::Header header;
    invariants::AuditCounts counts;
    std::optional<invariants::AuditFinding> finding;
};

std::string first_line(const AuditReport& report);

// The invariant, where it broke, the expected and the found cell, and what happened to the block before.
std::string finding_text(const invariants::AuditFinding& finding);

// "12 events, 3 tables judged, 45 cells compared"
std::string counts_text(const invariants::AuditCounts& counts);

}  // namespace kvpane::cli

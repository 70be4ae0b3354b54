// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <kvpane/invariants/audit_memory.h>
#include <kvpane/invariants/audit_texts.h>
#include <kvpane/invariants/engine_log.h>
#include <kvpane/invariants/table_audit.h>

namespace kvpane::invariants {

// What makes an event impossible behind those that were followed: sequences that are not (or already) alive, ids and
// slots outside the pool, lengths beyond the text, entries that do not match, more cells than the judge can shadow. It
// says nothing about whether tables are right. COST O(entries of the event).
std::optional<Refusal> find_refusal(const engine_log::Event& event, const engine_log::Header& header,
                                    const AuditTexts& texts, const AuditMemory& memory);

}  // namespace kvpane::invariants

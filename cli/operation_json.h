// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/journal_reader.h>

namespace kvpane::cli {

// One operation of a journal as a JSON object on one line, without the line's end: `n`, `op`, the arguments as
// scenarios spell them (sequences are numbers), `answer` (null when the process ended within the operation).
// Bytes of a string that are no UTF-8 are replaced.
std::string operation_json(const invariants::JournalEntry& entry);

}  // namespace kvpane::cli

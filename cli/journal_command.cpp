// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <fmt/format.h>

#include <kvpane/cli/journal_file.h>
#include <kvpane/cli/operation_json.h>

namespace kvpane::cli {

ExitCode run_journal(const JournalOptions& options) {
    const JournalFile journal(options.journal);
    invariants::JournalReader reader = journal.reader();
    while (const invariants::JournalEntry* entry = reader.next()) {
        fmt::print("{}\n", operation_json(*entry));
    }
    return journal.tell(reader) ? exit_ok : exit_bad_input;
}

}  // namespace kvpane::cli

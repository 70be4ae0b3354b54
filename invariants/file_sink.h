// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/journal_writer.h>

namespace kvpane::invariants {

// Appends to a file with one system call a piece, so that what was written survives the process.
class FileSink final : public JournalSink {
public:
    // Empties the file. ERRORS std::runtime_error "PATH: why" when it cannot be written, is no regular file, or holds
    // something else than a journal.
    explicit FileSink(const std::string& path);
    ~FileSink() override;

    bool write(std::span<const std::byte> bytes) noexcept override;

private:
    int file_;
};

}  // namespace kvpane::invariants

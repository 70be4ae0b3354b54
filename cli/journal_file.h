// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kvpane/invariants/file_sink.h>
#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/last_words.h>

// Journals on disk.
namespace kvpane::cli {

// A journal in the making, with last words: they say the command that replays it. One at a time.
class JournalRecording {
public:
    // ERRORS InputError when the file cannot be written, is no regular file, or holds something else.
    JournalRecording(const std::string& path, const invariants::JournalHeader& header);
    JournalRecording(const JournalRecording&) = delete;
    JournalRecording& operator=(const JournalRecording&) = delete;

    invariants::JournalWriter& writer() noexcept { return writer_; }

    // Writes what is left and says how much it was: "run.kvj (512 operations, 4096 bytes)".
    // ERRORS std::runtime_error when the disk was full.
    std::string finish();

private:
    std::string path_;
    invariants::FileSink sink_;
    invariants::JournalWriter writer_;
    invariants::LastWords last_words_;
};

// The largest journal that is read: all of it lies in memory.
inline constexpr std::uint64_t most_journal_bytes = std::uint64_t{4} << 30U;

// A journal that was read into memory. ERRORS InputError "file: byte N: sentence" for a file that cannot be read, a
// fault of the header, or a Manager too large for a checked run.
class JournalFile {
public:
    explicit JournalFile(const std::string& path);

    // A reader at the start.
    invariants::JournalReader reader() const { return invariants::JournalReader(bytes_); }
    const invariants::JournalHeader& header() const noexcept { return header_; }

    // Says on stderr what stopped the reader, if anything; false when something did: the journal is bad input.
    bool tell(const invariants::JournalReader& reader) const;

private:
    std::string path_;
    std::vector<std::byte> bytes_;
    invariants::JournalHeader header_;
};

}  // namespace kvpane::cli

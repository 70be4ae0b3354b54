// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/journal_file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/manager_config.h>
#include <kvpane/cli/report.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

std::vector<std::byte> read_bytes(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw InputError::at_byte(path, 0, fmt::format("cannot be opened: {}", std::strerror(errno)));
    }
    std::vector<std::byte> bytes;
    struct stat status {};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        static_cast<std::uint64_t>(status.st_size) <= most_journal_bytes) {
        bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
    }
    std::vector<std::byte> piece(1U << 20U);
    ssize_t got = 0;
    int wrong = 0;
    do {
        got = read(file, piece.data(), piece.size());
        wrong = got < 0 ? errno : 0;
        bytes.insert(bytes.end(), piece.begin(), piece.begin() + std::max<ssize_t>(got, 0));
    } while ((got > 0 && bytes.size() <= most_journal_bytes) || wrong == EINTR);
    close(file);
    if (wrong != 0) {
        throw InputError::at_byte(path, bytes.size(), fmt::format("cannot be read: {}", std::strerror(wrong)));
    }
    if (bytes.size() > most_journal_bytes) {
        throw InputError::at_byte(path, most_journal_bytes, fmt::format("is larger than {} bytes", most_journal_bytes));
    }
    return bytes;
}

}  // namespace

JournalRecording::JournalRecording(const std::string& path, const JournalHeader& header) try
    : path_(path), sink_(path), writer_(sink_, header),
      last_words_(writer_, row("replay", fmt::format("kvpane check {}", quoted(path)))) {
} catch (const std::runtime_error& error) {
    throw InputError(fmt::format("--journal {}", error.what()));
}

std::string JournalRecording::finish() {
    writer_.flush();
    if (!writer_.ok()) {
        throw std::runtime_error(fmt::format("the journal {} could not be written to its end", path_));
    }
    return fmt::format("{} ({} operations, {} bytes)", path_, writer_.operations(), writer_.bytes_written());
}

JournalFile::JournalFile(const std::string& path) : path_(path), bytes_(read_bytes(path)) {
    const JournalReader reader(bytes_);
    if (const auto& error = reader.error()) {
        throw InputError::at_byte(path, error->offset, error->what);
    }
    header_ = reader.header();
    const Config& config = header_.config;
    const std::int64_t cells = config.blocks * std::int64_t{config.block_size};
    const std::int64_t event_tokens = std::int64_t{config.prefix_cache.kept_events} * config.block_size;
    if (config.blocks > most_run_blocks || cells > most_run_cells || event_tokens > most_run_cells) {
        throw InputError::at_byte(
            path, journal_format::prologue_bytes,
            fmt::format("the manager has {} blocks of {} cells and keeps {} events; a run holds at most {} blocks, {} "
                        "cells, and tokens of events",
                        config.blocks, config.block_size, config.prefix_cache.kept_events, most_run_blocks,
                        most_run_cells));
    }
}

bool JournalFile::tell(const JournalReader& reader) const {
    const auto& error = reader.error();
    if (!error) {
        return true;
    }
    std::fflush(stdout);
    const InputError said =
        InputError::at_byte(path_, error->offset,
                            fmt::format("{}; the {} operations before it are used", error->what, reader.operations()));
    fmt::print(stderr, "{}\n", said.what());
    return false;
}

}  // namespace kvpane::cli

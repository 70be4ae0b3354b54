// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_bytes.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

struct JournalEntry {
    std::int64_t number = 0;  // from 1
    Operation operation;
    std::optional<Answer> answer;  // nothing: the process ended within the operation, which is the last one then
};

// Reads a journal that lies in memory. Whatever the bytes are: an operation is handed out only from a frame that is
// whole and whose checksum is right, everything that is wrong is an error value, and no count that stands in the bytes
// asks for more memory than the bytes that follow it can fill.
class JournalReader {
public:
    // Reads the header. The bytes must live as long.
    explicit JournalReader(std::span<const std::byte> bytes);

    // What is wrong; nothing as long as all was well. With an error of the header next() gives nothing.
    const std::optional<JournalError>& error() const noexcept { return error_; }

    // ENSURES, without an error of the header: validate(header().config) finds nothing.
    const JournalHeader& header() const noexcept { return header_; }

    // The next operation, valid until the next call; nullptr at the end, which is an error() or the last byte.
    // COST O(bytes of the operation), and once a frame O(bytes of the frame).
    const JournalEntry* next();

    std::int64_t operations() const noexcept { return entry_.number; }  // handed out so far
    std::uint64_t offset() const noexcept { return at_; }               // [bytes] begin of the next frame
    std::uint64_t bytes() const noexcept { return bytes_.size(); }

private:
    void read_header();
    bool open_frame();
    bool fail(JournalError::Kind kind, std::uint64_t offset, std::string what);
    bool fail(const JournalDecoder& decoder, const std::string& where);

    std::span<const std::byte> bytes_;
    JournalHeader header_;
    JournalEntry entry_;
    std::optional<JournalError> error_;
    std::size_t at_ = 0;  // of the next frame
    std::uint64_t salt_ = 0;
    JournalDecoder frame_{{}, 0};  // the payload of the open one
    std::uint32_t in_frame_ = 0;   // operations of it that are left
    bool ended_within_ = false;    // the last operation had no answer
};

}  // namespace kvpane::invariants

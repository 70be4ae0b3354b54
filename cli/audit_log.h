// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

#include <kvpane/cli/input.h>
#include <kvpane/cli/json_line.h>
#include <kvpane/cli/line_reader.h>
#include <kvpane/invariants/engine_log.h>
#include <kvpane/invariants/table_audit.h>

namespace kvpane::cli {

// Reads a log of an engine (docs/audit-log.md), one event at a time: each can be judged before the next line is there,
// or turns out to be cut off. Nothing is ignored: an unknown event or key, a wrong type, a number out of range is an
// InputError with the place, and so is what the judge refuses.
class AuditLog {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 24U;

    // Reads the header. `file` names the stream in messages; the stream must outlive this. ERRORS InputError.
    AuditLog(std::string file, std::istream& stream);

    const invariants::engine_log::Header& header() const noexcept { return header_; }

    // Nothing at the end of the file. ERRORS InputError.
    std::optional<invariants::engine_log::Event> next();

    // Of the last event; 1 = the header.
    int line() const noexcept { return line_; }

    // The last event is refused, where the field stands that does not fit.
    [[noreturn]] void refuse(const invariants::Refusal& refusal) const;

private:
    class Fields;

    bool read_line();
    [[noreturn]] void refuse(std::size_t byte, const std::string& sentence) const;
    void read_header();
    invariants::engine_log::Event read_event(const std::string& name, Fields& fields) const;
    void read_write(invariants::engine_log::Write& event, Fields& fields) const;

    std::string file_;
    LineReader reader_;
    int line_ = 0;
    std::string text_;  // of the last line
    JsonValue json_;    // the same
    invariants::engine_log::Header header_;
    bool has_pools_ = false;  // more than one
};

}  // namespace kvpane::cli

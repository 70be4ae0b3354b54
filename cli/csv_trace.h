// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/invariants/length_replay.h>

namespace kvpane::cli {

struct LengthTrace {
    std::vector<invariants::Request> requests;  // in the order of the file
    std::uint64_t digest = 0;                   // of the file's bytes
};

// The largest trace that is read; the public ones have a few megabytes.
inline constexpr std::uint64_t most_trace_bytes = 512U << 20U;

// Reads a length trace: the header "TIMESTAMP,ContextTokens,GeneratedTokens", then one request a line: any timestamp,
// context tokens 1..2^24, generated tokens 0..2^24. Lines end with LF or CRLF; the last one may end with the file.
// ERRORS InputError with the place: another header, no request, too few or too many fields, a field that is no number
// or out of range.
LengthTrace read_trace(const std::string& file);
LengthTrace parse_trace(const std::string& file, std::string_view text);

}  // namespace kvpane::cli

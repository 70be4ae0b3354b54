// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/invariants/prefix_replay.h>

namespace kvpane::cli {

// Tokens in one block of a prefix trace.
inline constexpr Length prefix_block_tokens = 512;

struct PrefixTrace {
    std::vector<invariants::PrefixRequest> requests;  // in the order of the file
    std::int64_t distinct_blocks = 0;
    std::uint64_t digest = 0;  // of the file's bytes
};

// Reads a prefix trace in the format of Mooncake: each line is a JSON object with exactly these fields,
//     {"timestamp": 0, "input_length": 1030, "output_length": 52, "hash_ids": [46, 47, 48]}
// times in milliseconds that never decrease, input tokens 1..2^24, output tokens 0..2^24, and one id 0..2^31 - 2 for
// each block of 512 input tokens, the last one perhaps not full. Equal ids are equal prefixes: an id always follows the
// same id, or always comes first. Lines end with LF or CRLF; the last one may end with the file.
// ERRORS InputError with the place.
PrefixTrace parse_prefix_trace(const std::string& file, std::string_view text);

// Whether a trace is to be read as above rather than as CSV: by the ending .jsonl or .csv of its name, else by its
// first character.
bool is_prefix_trace(std::string_view file, std::string_view text);

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/cli/toml_reader.h>

namespace kvpane::cli {

// A list grows no longer than this: "0..2147483647" is a slip, not a scenario.
inline constexpr std::int64_t most_tokens = 16'777'216;

// A token list: an array of ids, or a string of ids, ranges "0..9" (both ends) and repetitions "7x12", between commas.
// `what` names it in sentences. ERRORS InputError at the entry, or at the string.
std::vector<Token> read_tokens(const Table& table, const Node& value, const std::string& what);

// A list as read_tokens() takes it, without quotes: "0..9, 7x12, 3". REQUIRES no negative token.
std::string spell_tokens(const std::vector<Token>& tokens);
// Positions in the same way: "0..9, 20".
std::string spell_positions(const std::vector<Length>& positions);

}  // namespace kvpane::cli

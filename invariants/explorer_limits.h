// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// How small a configuration must be to be explored: everything about a state then fits into arrays of fixed size.
namespace kvpane::invariants::explorer {

inline constexpr std::size_t most_sequences = 3;
inline constexpr std::size_t most_groups = 2;
inline constexpr std::size_t most_blocks = 12;
inline constexpr std::size_t most_block_size = 8;
inline constexpr std::size_t longest_explored = 15;  // tokens of a sequence
inline constexpr std::size_t most_length = 16;       // one more is tried, and refused; block_size may be 1
inline constexpr std::size_t most_alphabet = 4;
inline constexpr std::size_t most_scopes = 3;
inline constexpr std::size_t most_contents = 3;
inline constexpr std::size_t most_priorities = 3;  // above 0; steps until one ends
inline constexpr std::size_t most_open_steps = 2;

// A prefix as one number: a leading digit for its scope, 1 for the first one, then a digit for each token: the token, plus
// `alphabet` times the number of the external content behind it, 0 for none. Not a hash: equal numbers are equal prefixes
// of equal length in one scope. 0 = poison, or no prefix; 1 = the empty prefix of the first scope.
using Prefix = std::uint32_t;
inline constexpr Prefix most_prefix = Prefix{1} << 24U;

}  // namespace kvpane::invariants::explorer

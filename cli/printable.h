// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvpane::cli {

// Bytes of the UTF-8 sequence that starts `text`, 0 if it is invalid (RFC 3629: no overlong forms, no surrogates).
// REQUIRES a text that is not empty.
std::size_t utf8_length(std::string_view text) noexcept;

// The text with \xNN for each control character, and for each byte that is no UTF-8. What is quoted from somebody's
// file must not move the cursor of whoever reads the message, nor pass for a line of its own.
std::string printable(std::string_view text);

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kvpane::fuzz {

// What the inputs are called in messages.
inline const std::string input_name = "input";

// Runs `parse`, and wants an InputError of it to be "input:line:column: sentence", with a place in the text or right
// behind one of its lines, and a sentence in printable characters.
// Returns whether `parse` came through. ERRORS Broken.
bool reads(std::string_view text, const std::function<void()>& parse);

// A file must not be able to move the cursor of whoever reads what is said about it. ERRORS Broken.
void require_printable(std::string_view message);

}  // namespace kvpane::fuzz

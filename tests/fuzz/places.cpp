// SPDX-License-Identifier: Apache-2.0
#include "fuzz/places.h"

#include <algorithm>
#include <charconv>

#include <kvpane/cli/input.h>

#include "fuzz/target.h"

namespace kvpane::fuzz {

namespace {

// A number from 1, and the colon behind it; 0 where there is none.
std::size_t take_number(std::string_view& rest) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || !rest.substr(digits).starts_with(':')) {
        return 0;
    }
    rest.remove_prefix(digits + 1);
    return number;
}

// The line with this number, from 1: the text behind the last line end is one, too.
std::string_view line_of(std::string_view text, std::size_t number) {
    for (; number > 1; --number) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    return text.substr(0, text.find('\n'));
}

void require_place(std::string_view text, std::string_view message) {
    std::string_view rest = message;
    require(rest.starts_with(input_name + ":"), "the message does not name its file: ", message);
    rest.remove_prefix(input_name.size() + 1);
    const std::size_t line = take_number(rest);
    const std::size_t column = take_number(rest);
    require(line > 0 && column > 0, "the message has no line and column: ", message);
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
    require(line <= lines, "the text has ", lines, " lines: ", message);
    const auto characters =
        static_cast<std::size_t>(std::ranges::count_if(line_of(text, line), [](char c) { return (c & 0xC0) != 0x80; }));
    // The end of the file is said to be behind the end of its last line.
    require(column <= characters + 2, "the line has ", characters, " characters: ", message);
    require(rest.starts_with(' ') && rest.size() > 1, "the message has no sentence: ", message);
}

}  // namespace

void require_printable(std::string_view message) {
    require(std::ranges::none_of(message, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }),
            "the message holds a control character: ", message);
    require(is_text(message), "the message is no valid UTF-8: ", message);
}

bool reads(std::string_view text, const std::function<void()>& parse) {
    try {
        parse();
        return true;
    } catch (const cli::InputError& error) {
        require_place(text, error.what());
        require_printable(error.what());
        return false;
    }
}

}  // namespace kvpane::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What the user gives us: files and words. Everything that is wrong with them ends as one InputError.
namespace kvpane::cli {

// Where something stands in a text file; both from 1, columns in characters.
struct Place {
    int line = 1;
    int column = 1;

    friend auto operator<=>(const Place&, const Place&) = default;
};

// Bad input, exit code 2. what() is the whole message.
class InputError : public std::runtime_error {
public:
    // "file:line:column: sentence"
    InputError(const std::string& file, Place place, const std::string& sentence);
    // "kvpane: sentence", for what stands on the command line.
    explicit InputError(const std::string& sentence) : std::runtime_error("kvpane: " + sentence) {}
    // "file: byte offset: sentence", for a file that is no text.
    static InputError at_byte(const std::string& file, std::uint64_t offset, const std::string& sentence);

private:
    struct Whole {
        std::string message;
    };
    explicit InputError(const Whole& whole) : std::runtime_error(whole.message) {}
};

// A file to read bytes from. ERRORS InputError with a place: missing, a directory.
std::ifstream open_input(const std::string& path);

// The whole text of a file. ERRORS InputError with a place: missing, a directory, larger than `most_bytes`, or not
// text (a NUL byte, invalid UTF-8).
std::string read_text(const std::string& path, std::uint64_t most_bytes);

// The first place that is not text, described; an empty string when all of it is.
struct NotText {
    Place place;
    std::string sentence;
};
NotText find_what_is_not_text(std::string_view text);

// Where the next character behind `text` would stand.
Place place_behind(std::string_view text);

// "; did you mean 'x'?" with the candidate nearest to `word`, or nothing when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// FNV-1a of the bytes: names an input in reports, the same on every machine.
std::uint64_t text_digest(std::string_view text) noexcept;

}  // namespace kvpane::cli

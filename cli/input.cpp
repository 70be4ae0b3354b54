// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/input.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <kvpane/cli/printable.h>

namespace kvpane::cli {

namespace {

// Damerau-Levenshtein (adjacent letters may swap), three rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

InputError::InputError(const std::string& file, Place place, const std::string& sentence)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, place.line, place.column, printable(sentence))) {}

InputError InputError::at_byte(const std::string& file, std::uint64_t offset, const std::string& sentence) {
    return InputError(Whole{fmt::format("{}: byte {}: {}", file, offset, printable(sentence))});
}

NotText find_what_is_not_text(std::string_view text) {
    Place place;
    while (!text.empty()) {
        if (text[0] == '\0') {
            return {place, "holds a NUL byte: this is not a text file"};
        }
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            const auto byte = static_cast<unsigned char>(text[0]);
            return {place, fmt::format("holds the byte 0x{:02x}, which is no valid UTF-8", byte)};
        }
        place.column += 1;
        if (text[0] == '\n') {
            place = {place.line + 1, 1};
        }
        text.remove_prefix(length);
    }
    return {};
}

Place place_behind(std::string_view text) {
    const std::string_view line = text.substr(text.rfind('\n') + 1);  // npos + 1 == 0
    const auto begins_character = [](char c) { return (c & 0xC0) != 0x80; };
    return {static_cast<int>(std::ranges::count(text, '\n')) + 1,
            static_cast<int>(std::ranges::count_if(line, begins_character)) + 1};
}

std::ifstream open_input(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        throw InputError(path, {}, "is a directory, not a file");
    }
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw InputError(path, {}, fmt::format("cannot be opened: {}", std::strerror(errno)));
    }
    return stream;
}

std::string read_text(const std::string& path, std::uint64_t most_bytes) {
    std::ifstream stream = open_input(path);
    errno = 0;
    std::string text;
    std::vector<char> piece(1U << 16U);
    while (stream) {
        stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > most_bytes) {
            throw InputError(path, {}, fmt::format("is larger than {} bytes", most_bytes));
        }
    }
    if (stream.bad()) {
        throw InputError(path, {}, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    const NotText wrong = find_what_is_not_text(text);
    if (!wrong.sentence.empty()) {
        throw InputError(path, wrong.place, wrong.sentence);
    }
    return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
    // A third of the letters may be wrong; a word that shares nothing is no suggestion.
    std::size_t nearest = (word.size() + 2) / 3 + 1;
    std::string_view found;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < nearest && distance < std::max(word.size(), candidate.size())) {
            nearest = distance;
            found = candidate;
        }
    }
    return found.empty() ? std::string{} : fmt::format("; did you mean '{}'?", found);
}

std::uint64_t text_digest(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

}  // namespace kvpane::cli

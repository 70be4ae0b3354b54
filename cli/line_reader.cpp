// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/line_reader.h>

#include <ios>

#include <fmt/format.h>

#include <kvpane/cli/input.h>

namespace kvpane::cli {

void LineReader::read_line() {
    std::streambuf& source = *stream_.rdbuf();
    for (int c = source.sbumpc(); c != std::char_traits<char>::eof(); c = source.sbumpc()) {
        if (c == '\n') {
            line_.ends_with_file = false;
            return;
        }
        if (line_.text.size() == longest_line_) {
            throw InputError(file_, {line_.number, 1}, fmt::format("the line is longer than {} bytes", longest_line_));
        }
        line_.text.push_back(static_cast<char>(c));
    }
}

const LineReader::Line* LineReader::next() {
    line_.text.clear();
    line_.ends_with_file = true;
    ++line_.number;
    try {
        read_line();
    } catch (const std::ios_base::failure& error) {
        throw InputError(file_, {line_.number, 1}, fmt::format("cannot be read: {}", error.code().message()));
    }
    if (line_.text.empty() && line_.ends_with_file) {
        return nullptr;
    }
    const NotText wrong = find_what_is_not_text(line_.text);
    if (!wrong.sentence.empty()) {
        throw InputError(file_, {line_.number, wrong.place.column}, wrong.sentence);
    }
    return &line_;
}

}  // namespace kvpane::cli

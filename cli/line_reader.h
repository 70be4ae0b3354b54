// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <optional>
#include <string>

namespace kvpane::cli {

// The lines of a stream, one at a time: what stands behind them may still be written, or be no text at all.
class LineReader {
public:
    struct Line {
        int number = 0;  // from 1
        std::string text;
        bool ends_with_file = false;  // no line end behind it
    };

    // `file` names the stream in messages; the stream must outlive this.
    LineReader(std::string file, std::istream& stream, std::size_t longest_line)
        : file_(std::move(file)), stream_(stream), longest_line_(longest_line) {}

    // The next line without its end; nothing behind the last one. Valid until the next call.
    // ERRORS InputError: a longer line, a stream that cannot be read, what is not text.
    const Line* next();

private:
    void read_line();

    std::string file_;
    std::istream& stream_;
    std::size_t longest_line_;
    Line line_;
};

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/csv_trace.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/tokens.h>

namespace kvpane::cli {

namespace {

constexpr std::string_view header = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr std::array<std::string_view, 3> columns = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};

class TraceReader {
public:
    TraceReader(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

    std::vector<invariants::Request> read() {
        if (rest_.empty()) {
            throw InputError(file_, {}, "is empty");
        }
        if (const std::string_view line = next_line(); line != header) {
            refuse(1, fmt::format("the first line must be '{}'", header));
        }
        std::vector<invariants::Request> requests;
        while (!rest_.empty()) {
            requests.push_back(request(next_line()));
        }
        if (requests.empty()) {
            refuse(1, "holds no request, only the header");
        }
        return requests;
    }

private:
    [[noreturn]] void refuse(std::size_t column, const std::string& sentence) const {
        throw InputError(file_, {line_, static_cast<int>(column)}, sentence);
    }

    std::string_view next_line() {
        line_ += 1;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        return line;
    }

    invariants::Request request(std::string_view line) const {
        std::array<std::string_view, 3> fields;
        std::array<std::size_t, 3> starts{};  // columns, from 1
        std::size_t begin = 0;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t comma = line.find(',', begin);
            const bool last = i + 1 == fields.size();
            if (!last && comma == std::string_view::npos) {
                refuse(line.size() + 1,
                       fmt::format("the line ends after {} of 3 fields: {} is missing", i + 1, columns[i + 1]));
            }
            if (last && comma != std::string_view::npos) {
                refuse(comma + 1, "the line has more than 3 fields");
            }
            fields[i] = line.substr(begin, comma - begin);
            starts[i] = begin + 1;
            begin = comma + 1;
        }
        if (fields[0].empty()) {
            refuse(1, "TIMESTAMP is empty");
        }
        return {number(1, fields[1], starts[1], 1), number(2, fields[2], starts[2], 0)};
    }

    // A prompt has a token at least: a request without context asks for nothing that could be admitted.
    Length number(std::size_t column, std::string_view field, std::size_t start, Length min) const {
        Length value = 0;
        const char* end = field.data() + field.size();
        const auto [stopped, error] = std::from_chars(field.data(), end, value);
        const bool is_number = !field.empty() && stopped == end && error != std::errc::invalid_argument;
        if (!is_number) {
            refuse(start, fmt::format("{} must be a whole number, got '{}'", columns[column], field));
        }
        if (error == std::errc::result_out_of_range || value < min || value > most_tokens) {
            refuse(start, fmt::format("{} must be {}..{}, got {}", columns[column], min, most_tokens, field));
        }
        return value;
    }

    const std::string& file_;
    std::string_view rest_;
    int line_ = 0;
};

}  // namespace

LengthTrace parse_trace(const std::string& file, std::string_view text) {
    return {TraceReader(file, text).read(), text_digest(text)};
}

LengthTrace read_trace(const std::string& file) { return parse_trace(file, read_text(file, most_trace_bytes)); }

}  // namespace kvpane::cli

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
        next_line();
        if (line_ != header) {
            refuse(0, fmt::format("the first line must be '{}'", header));
        }
        std::vector<invariants::Request> requests;
        while (!rest_.empty()) {
            next_line();
            requests.push_back(request());
        }
        if (requests.empty()) {
            refuse(0, "holds no request, only the header");
        }
        return requests;
    }

private:
    // `byte` of the line, from 0.
    [[noreturn]] void refuse(std::size_t byte, const std::string& sentence) const {
        throw InputError(file_, {number_, place_behind(line_.substr(0, byte)).column}, sentence);
    }

    void next_line() {
        number_ += 1;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (line_.ends_with('\r')) {
            line_.remove_suffix(1);
        }
    }

    invariants::Request request() const {
        std::array<std::string_view, 3> fields;
        std::array<std::size_t, 3> starts{};  // bytes of the line
        std::size_t begin = 0;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::size_t comma = line_.find(',', begin);
            const bool last = i + 1 == fields.size();
            if (!last && comma == std::string_view::npos) {
                refuse(line_.size(),
                       fmt::format("the line ends after {} of 3 fields: {} is missing", i + 1, columns[i + 1]));
            }
            if (last && comma != std::string_view::npos) {
                refuse(comma, "the line has more than 3 fields");
            }
            fields[i] = line_.substr(begin, comma - begin);
            starts[i] = begin;
            begin = comma + 1;
        }
        if (fields[0].empty()) {
            refuse(0, "TIMESTAMP is empty");
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
    std::string_view line_;  // the one that is read, without its end
    int number_ = 0;         // its number
};

}  // namespace

LengthTrace parse_trace(const std::string& file, std::string_view text) {
    return {TraceReader(file, text).read(), text_digest(text)};
}

LengthTrace read_trace(const std::string& file) { return parse_trace(file, read_text(file, most_trace_bytes)); }

}  // namespace kvpane::cli

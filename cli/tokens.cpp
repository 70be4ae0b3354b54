// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/tokens.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace kvpane::cli {

namespace {

constexpr std::int64_t largest_token = std::numeric_limits<Token>::max();

// One list in the making; refuses at the place of its string.
class TokenString {
public:
    TokenString(const Table& table, const Node& value, const std::string& what)
        : table_(table), value_(value), what_(what) {}

    std::vector<Token> read() {
        std::string_view rest = value_.text;
        if (trimmed(rest).empty()) {
            return {};
        }
        for (std::size_t comma = 0; comma != std::string_view::npos;) {
            comma = rest.find(',');
            add_entry(trimmed(rest.substr(0, comma)));
            rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        }
        return std::move(tokens_);
    }

private:
    static std::string_view trimmed(std::string_view text) {
        constexpr std::string_view blank = " \t\r\n";
        const std::size_t first = text.find_first_not_of(blank);
        return first == std::string_view::npos ? std::string_view{}
                                               : text.substr(first, text.find_last_not_of(blank) - first + 1);
    }

    [[noreturn]] void refuse(std::string_view entry, std::string_view why) const {
        table_.fail(value_.place, fmt::format("'{}' in {} {}", entry, what_, why));
    }

    // The whole of `digits` as a number; `entry` is what the sentence quotes.
    std::int64_t number(std::string_view digits, std::string_view entry) const {
        std::int64_t value = 0;
        const char* end = digits.data() + digits.size();
        const auto [stopped, error] = std::from_chars(digits.data(), end, value);
        if (error == std::errc::result_out_of_range) {
            refuse(entry, fmt::format("is beyond the token ids 0..{}", largest_token));
        }
        if (digits.empty() || error != std::errc{} || stopped != end) {
            refuse(entry, "is no token list: write ids, ranges 0..9 or repetitions 7x12 between commas");
        }
        return value;
    }

    Token token(std::string_view digits, std::string_view entry) const {
        const std::int64_t value = number(digits, entry);
        if (value < 0 || value > largest_token) {
            refuse(entry, fmt::format("is beyond the token ids 0..{}", largest_token));
        }
        return static_cast<Token>(value);
    }

    void grow(std::int64_t by, std::string_view entry) {
        if (by > most_tokens - static_cast<std::int64_t>(tokens_.size())) {
            refuse(entry, fmt::format("makes a list of more than {} tokens", most_tokens));
        }
        tokens_.reserve(tokens_.size() + static_cast<std::size_t>(by));
    }

    void add_entry(std::string_view entry) {
        if (const std::size_t dots = entry.find(".."); dots != std::string_view::npos) {
            const Token first = token(trimmed(entry.substr(0, dots)), entry);
            const Token last = token(trimmed(entry.substr(dots + 2)), entry);
            if (last < first) {
                refuse(entry, "runs backwards: a range goes up");
            }
            const std::int64_t count = std::int64_t{last} - first + 1;
            grow(count, entry);
            for (std::int64_t i = 0; i < count; ++i) {
                tokens_.push_back(static_cast<Token>(first + i));
            }
        } else if (const std::size_t times = entry.find('x'); times != std::string_view::npos) {
            const Token repeated = token(trimmed(entry.substr(0, times)), entry);
            const std::int64_t count = number(trimmed(entry.substr(times + 1)), entry);
            if (count < 1) {
                refuse(entry, "repeats a token less than once");
            }
            grow(count, entry);
            tokens_.insert(tokens_.end(), static_cast<std::size_t>(count), repeated);
        } else {
            grow(1, entry);
            tokens_.push_back(token(entry, entry));
        }
    }

    const Table& table_;
    const Node& value_;
    const std::string& what_;
    std::vector<Token> tokens_;
};

// Runs of one number ("7x12") and of ascending ones ("0..9"), where they are shorter than the numbers.
template <class Number>
std::string spell(const std::vector<Number>& numbers) {
    constexpr std::size_t worth_it = 3;
    std::string text;
    for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
        const auto run = [&](Number step) {
            std::size_t stop = begin + 1;
            while (stop < numbers.size() && std::int64_t{numbers[stop]} == std::int64_t{numbers[stop - 1]} + step) {
                ++stop;
            }
            return stop;
        };
        const std::size_t equal = run(0), ascending = run(1);
        text += text.empty() ? "" : ", ";
        if (ascending - begin >= worth_it) {
            end = ascending;
            text += fmt::format("{}..{}", numbers[begin], numbers[end - 1]);
        } else if (equal - begin >= worth_it) {
            end = equal;
            text += fmt::format("{}x{}", numbers[begin], end - begin);
        } else {
            end = begin + 1;
            text += fmt::format("{}", numbers[begin]);
        }
    }
    return text;
}

}  // namespace

std::string spell_tokens(const std::vector<Token>& tokens) { return spell(tokens); }
std::string spell_positions(const std::vector<Length>& positions) { return spell(positions); }

std::vector<Token> read_tokens(const Table& table, const Node& value, const std::string& what) {
    if (value.kind == NodeKind::string) {
        return TokenString(table, value, what).read();
    }
    if (value.kind != NodeKind::array) {
        table.fail(value.place, fmt::format("{} must be an array of token ids or a string such as \"0..9, 20, 7x12\", "
                                            "not {}",
                                            what, with_article(value.kind)));
    }
    std::vector<Token> tokens;
    for (const std::int64_t id : table.to_integers(value, what, {0, largest_token})) {
        tokens.push_back(static_cast<Token>(id));
    }
    return tokens;
}

}  // namespace kvpane::cli

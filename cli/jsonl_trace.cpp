// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/jsonl_trace.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/cli/json_line.h>
#include <kvpane/cli/tokens.h>

namespace kvpane::cli {

namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the line

constexpr std::array<std::string_view, 4> fields = {"timestamp", "input_length", "output_length", "hash_ids"};
constexpr std::int64_t largest_id = std::numeric_limits<Token>::max() - 1;  // one id stays for the replay itself
constexpr std::string_view blanks = " \t\r";

// One line, seen both as text and as what the JSON library made of it. The library decides what is JSON, but does not
// say where a value stands: that is looked up in the text, once something is known to be wrong.
struct Line {
    int number = 0;
    std::string_view text;
    bool ends_with_file = false;  // no line end behind it
};

class PrefixTraceReader {
public:
    PrefixTraceReader(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

    PrefixTrace read() {
        if (rest_.empty()) {
            throw InputError(file_, {}, "is empty");
        }
        PrefixTrace trace;
        while (!rest_.empty()) {
            next_line();
            trace.requests.push_back(request());
        }
        trace.distinct_blocks = static_cast<std::int64_t>(origins_.size());
        return trace;
    }

private:
    struct Origin {
        Token parent;  // -1: the first block of a prompt
        int line;
    };

    // `byte` of the line, from 0.
    [[noreturn]] void refuse(std::size_t byte, const std::string& sentence) const {
        throw InputError(file_, {line_.number, place_behind(line_.text.substr(0, byte)).column}, sentence);
    }

    void next_line() {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = {line_.number + 1, rest_.substr(0, end), end == rest_.size()};
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }

    invariants::PrefixRequest request() {
        const Json json = parsed();
        for (const auto& [key, value] : json.items()) {
            if (std::ranges::find(fields, key) == fields.end()) {
                refuse(byte_of_key(key),
                       fmt::format("unknown field '{}'{}", key, did_you_mean(key, {fields.begin(), fields.end()})));
            }
        }
        for (const std::string_view field : fields) {
            if (!json.contains(field)) {
                refuse(0, fmt::format("'{}' is missing", field));
            }
        }
        read_time(json);
        invariants::PrefixRequest request;
        request.input = number(json, "input_length", {1, most_tokens});
        number(json, "output_length", {0, most_tokens});
        request.blocks = read_blocks(json.at("hash_ids"), request.input);
        return request;
    }

    Json parsed() const {
        if (line_.text.find_first_not_of(blanks) == std::string_view::npos) {
            refuse(0, "the line is empty, not a JSON object");
        }
        try {
            Json json = Json::parse(line_.text, refuse_repeated_keys());
            if (!json.is_object()) {
                refuse(line_.text.find_first_not_of(blanks),
                       fmt::format("the line must be a JSON object, not {}", with_article(json)));
            }
            return json;
        } catch (const Json::parse_error& error) {
            const std::size_t byte = std::min(error.byte == 0 ? 0 : error.byte - 1, line_.text.size());
            if (line_.ends_with_file && byte == line_.text.size()) {
                refuse(byte, "the file ends in the middle of a request");
            }
            refuse(byte, fmt::format("the line is no JSON: {}", json_reason(error.what())));
        } catch (const Json::out_of_range& error) {  // 1e999
            refuse(0, fmt::format("the line is no JSON: {}", json_reason(error.what())));
        }
    }

    // Two values for one field: the library would keep the last one without a word.
    Json::parser_callback_t refuse_repeated_keys() const {
        return [this, seen = std::vector<std::string>()](int depth, Json::parse_event_t event, Json& key) mutable {
            if (depth == 1 && event == Json::parse_event_t::key) {
                const auto& name = key.get_ref<const std::string&>();
                if (std::ranges::find(seen, name) != seen.end()) {
                    refuse(byte_of_key(name), fmt::format("'{}' stands twice in the object", name));
                }
                seen.push_back(name);
            }
            return true;
        };
    }

    static std::string_view with_article(const Json& value) {
        switch (value.type()) {
            case Json::value_t::null: return "null";
            case Json::value_t::object: return "an object";
            case Json::value_t::array: return "an array";
            case Json::value_t::string: return "a string";
            case Json::value_t::boolean: return "a boolean";
            default: return "a number";
        }
    }

    void read_time(const Json& json) {
        const std::int64_t time = number(json, "timestamp", {0, std::numeric_limits<std::int64_t>::max()});
        if (time < time_) {
            refuse(byte_of_value("timestamp"),
                   fmt::format("'timestamp' {} is earlier than {} on line {}", time, time_, line_.number - 1));
        }
        time_ = time;
    }

    std::int64_t number(const Json& json, std::string_view field, Range range) const {
        return whole(json.at(field), range, fmt::format("'{}'", field), [&] { return byte_of_value(field); });
    }

    // `where` finds the value's byte, when it is needed.
    template <class Where>
    std::int64_t whole(const Json& value, Range range, const std::string& what, Where where) const {
        if (!value.is_number()) {
            refuse(where(), fmt::format("{} must be an integer, not {}", what, with_article(value)));
        }
        const bool is_huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
        if (value.is_number_integer() && !is_huge) {
            const auto got = value.get<std::int64_t>();
            if (range.min <= got && got <= range.max) {
                return got;
            }
        }
        // An integer is an integer, 1.0 is another type. (The library makes a float of an integer beyond 64 bits.)
        const std::string text = text_at(where());
        if (text.find_first_not_of("-0123456789") != std::string::npos) {
            refuse(where(), fmt::format("{} must be an integer, got {}", what, text));
        }
        refuse(where(), fmt::format("{} must be {}..{}, got {}", what, range.min, range.max, text));
    }

    std::vector<Token> read_blocks(const Json& ids, Length input) {
        if (!ids.is_array()) {
            refuse(byte_of_value("hash_ids"), fmt::format("'hash_ids' must be an array, not {}", with_article(ids)));
        }
        std::vector<Token> blocks;
        blocks.reserve(ids.size());
        for (const Json& id : ids) {
            const auto where = [&] { return byte_of_id(blocks.size()); };
            blocks.push_back(static_cast<Token>(whole(id, {0, largest_id}, "an id in 'hash_ids'", where)));
            check_origin(blocks);
        }
        const auto wanted = static_cast<std::size_t>((input + prefix_block_tokens - 1) / prefix_block_tokens);
        if (blocks.size() != wanted) {
            refuse(
                byte_of_value("hash_ids"),
                fmt::format("'hash_ids' must hold {} ids for an 'input_length' of {} (one for each {} tokens), got {}",
                            wanted, input, prefix_block_tokens, blocks.size()));
        }
        return blocks;
    }

    // The last id stands where it always stood.
    void check_origin(const std::vector<Token>& blocks) {
        const Token id = blocks.back();
        const Token parent = blocks.size() < 2 ? -1 : blocks[blocks.size() - 2];
        const Origin origin = origins_.try_emplace(id, Origin{parent, line_.number}).first->second;
        if (origin.parent != parent) {
            refuse(byte_of_id(blocks.size() - 1), fmt::format("id {} {} here, but {} on line {}: equal ids are equal "
                                                              "prefixes",
                                                              id, placed(parent), placed(origin.parent), origin.line));
        }
    }

    static std::string placed(Token parent) {
        return parent < 0 ? std::string("comes first") : fmt::format("follows {}", parent);
    }

    // --- places; all objects are flat up to the one that is asked for ------------------------------------------------

    // Where the last `"key"` begins that a colon follows; the start of the line for a key that is spelled with escapes.
    std::size_t byte_of_key(std::string_view key) const {
        const std::string quoted = fmt::format("\"{}\"", key);
        for (std::size_t at = line_.text.rfind(quoted); at != std::string_view::npos;
             at = line_.text.rfind(quoted, at)) {
            const std::size_t behind = line_.text.find_first_not_of(blanks, at + quoted.size());
            if (behind != std::string_view::npos && line_.text[behind] == ':') {
                return at;
            }
            if (at-- == 0) {
                break;
            }
        }
        return 0;
    }

    std::size_t byte_of_value(std::string_view key) const {
        const std::size_t colon = line_.text.find(':', byte_of_key(key));
        return colon == std::string_view::npos ? 0 : line_.text.find_first_not_of(blanks, colon + 1);
    }

    // Those before it are numbers, so that commas count them.
    std::size_t byte_of_id(std::size_t index) const {
        std::size_t at = byte_of_value("hash_ids");
        for (std::size_t i = 0; i < index; ++i) {
            at = line_.text.find(',', at + 1);
        }
        return line_.text.find_first_not_of(blanks, at + 1);
    }

    std::string text_at(std::size_t byte) const {
        const std::size_t end = std::min(line_.text.find_first_of(",]} \t\r", byte), line_.text.size());
        return std::string(line_.text.substr(byte, end - byte));
    }

    const std::string& file_;
    std::string_view rest_;
    Line line_;
    std::int64_t time_ = 0;
    std::unordered_map<Token, Origin> origins_;
};

}  // namespace

PrefixTrace parse_prefix_trace(const std::string& file, std::string_view text) {
    PrefixTrace trace = PrefixTraceReader(file, text).read();
    trace.digest = text_digest(text);
    return trace;
}

bool is_prefix_trace(std::string_view file, std::string_view text) {
    return file.ends_with(".jsonl") || (!file.ends_with(".csv") && text.starts_with('{'));
}

}  // namespace kvpane::cli

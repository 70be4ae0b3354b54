// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/json_line.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvpane::cli {

namespace {

using Json = nlohmann::json;
using Kind = JsonValue::Kind;

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t deepest = 4;  // a line, its groups, one of them, its value
constexpr std::size_t most_members = 100;
constexpr std::size_t longest_reason = 200;

// Characters that say how far they have been read: the JSON library tells no places, but asks for one character after
// the other.
struct Watched {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at;
    const char** read;

    reference operator*() const { return *at; }
    Watched& operator++() {
        *read = ++at;
        return *this;
    }
    Watched operator++(int) {
        const Watched before = *this;
        ++*this;
        return before;
    }
    friend bool operator!=(const Watched& a, const Watched& b) { return a.at != b.at; }
};

std::string shortened(const std::string& text) {
    return text.size() <= longest_reason ? text : text.substr(0, longest_reason) + "...";
}

// Receives the values of one line. When it is called, the value has been read to its end, a number one character more.
class Builder {
public:
    Builder(std::string_view line, const char* const& read) : line_(line), read_(read) {}

    JsonValue take() { return std::move(root_); }

    bool null() { return add({.kind = Kind::null}); }
    bool boolean(bool) { return add({.kind = Kind::boolean}); }
    bool number_integer(std::int64_t value) { return add({.kind = Kind::integer, .integer = value}); }
    bool number_unsigned(std::uint64_t value) {
        return value <= INT64_MAX ? add({.kind = Kind::integer, .integer = static_cast<std::int64_t>(value)})
                                  : add({.kind = Kind::not_an_integer, .text = std::to_string(value)});
    }
    bool number_float(double, const std::string& spelled) {
        return add({.kind = Kind::not_an_integer, .text = spelled});
    }
    bool string(std::string& value) { return add({.kind = Kind::text, .text = std::move(value)}); }
    bool binary(Json::binary_t&) { return false; }  // not in text

    bool start_object(std::size_t) { return open({.kind = Kind::object}); }
    bool start_array(std::size_t) { return open({.kind = Kind::integers}); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& name) {
        const std::size_t byte = next_byte();
        JsonValue& object = *open_.back();
        if (object.find(name) != nullptr) {
            throw JsonError(byte, fmt::format("'{}' stands twice in the object", shortened(name)));
        }
        if (object.members.size() == most_members) {
            throw JsonError(byte, fmt::format("an object has at most {} keys", most_members));
        }
        object.members.push_back({.key = name, .key_byte = byte});
        return true;
    }

    bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error) {
        const std::size_t byte = std::min(read == 0 ? 0 : read - 1, line_.size());
        JsonError wrong(byte, fmt::format("the line is no JSON: {}", json_reason(error.what())));
        wrong.is_cut_off = byte == line_.size();
        throw wrong;
    }

private:
    // Where the token begins that was just read. Between two tokens stand only blanks, commas and colons.
    std::size_t next_byte() {
        const std::size_t byte = line_.find_first_not_of(" \t\r\n,:", before_);
        before_ = static_cast<std::size_t>(read_ - line_.data());
        return byte;
    }

    bool add(JsonValue value) {
        place(std::move(value));
        return true;
    }

    bool open(JsonValue value) {
        open_.push_back(place(std::move(value)));
        if (open_.size() > deepest) {
            throw JsonError(open_.back()->byte, "the line is nested too deeply");
        }
        return true;
    }

    bool close() {
        open_.pop_back();
        before_ = static_cast<std::size_t>(read_ - line_.data());
        return true;
    }

    // Pointers stay valid while what they point to is open: nothing before it grows.
    JsonValue* place(JsonValue value) {
        value.byte = next_byte();
        if (open_.empty()) {
            if (value.kind != Kind::object) {
                throw JsonError(value.byte,
                                fmt::format("the line must be a JSON object, not {}", with_article(value.kind)));
            }
            root_ = std::move(value);
            return &root_;
        }
        JsonValue& parent = *open_.back();
        if (parent.kind == Kind::object) {
            JsonValue& member = parent.members.back();
            value.key = std::move(member.key);
            value.key_byte = member.key_byte;
            member = std::move(value);
            return &member;
        }
        return place_entry(parent, std::move(value));
    }

    JsonValue* place_entry(JsonValue& array, JsonValue value) {
        const bool is_first = array.integers.empty() && array.objects.empty();
        if (value.kind == Kind::object && (is_first || array.kind == Kind::objects)) {
            array.kind = Kind::objects;
            array.objects.push_back(std::move(value));
            return &array.objects.back();
        }
        if (value.kind != Kind::integer || array.kind == Kind::objects) {
            const std::string_view wanted = array.kind == Kind::objects ? "an object" : "an integer";
            const std::string got = value.kind == Kind::not_an_integer
                                        ? "got " + shortened(value.text)
                                        : fmt::format("not {}", with_article(value.kind));
            throw JsonError(value.byte, fmt::format("an entry of {} must be {}, {}", name_of_array(), wanted, got));
        }
        array.integers.push_back(value.integer);
        array.bytes.push_back(value.byte);
        return nullptr;
    }

    std::string name_of_array() const {
        if (open_.size() < 2 || open_[open_.size() - 2]->kind != Kind::object) {
            return "an array";
        }
        return fmt::format("'{}'", shortened(open_[open_.size() - 2]->members.back().key));
    }

    std::string_view line_;
    const char* const& read_;
    std::size_t before_ = 0;  // bytes up to the end of the last token
    JsonValue root_;
    std::vector<JsonValue*> open_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view member) const {
    const auto found = std::ranges::find(members, member, &JsonValue::key);
    return found == members.end() ? nullptr : &*found;
}

std::string_view with_article(JsonValue::Kind kind) {
    switch (kind) {
        case Kind::null: return "null";
        case Kind::boolean: return "a boolean";
        case Kind::integer:
        case Kind::not_an_integer: return "a number";
        case Kind::text: return "a string";
        case Kind::object: return "an object";
        case Kind::integers:
        case Kind::objects: return "an array";
    }
    return "";
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...": only what comes last.
std::string json_reason(std::string_view message) {
    message.remove_prefix(message.find("] ") + 2);
    const std::size_t place = message.starts_with("parse error at") ? message.find(": ") + 2 : 0;
    return shortened(std::string(message.substr(place)));
}

JsonValue parse_json_line(std::string_view line) {
    if (line.find_first_not_of(blanks) == std::string_view::npos) {
        throw JsonError(0, "the line is empty, not a JSON object");
    }
    const char* read = line.data();
    Builder builder(line, read);
    Json::sax_parse(Watched{line.data(), &read}, Watched{line.data() + line.size(), &read}, &builder);
    return builder.take();
}

}  // namespace kvpane::cli

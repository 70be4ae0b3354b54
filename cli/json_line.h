// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// One line of JSON that knows where each of its values stands.
namespace kvpane::cli {

// A value. Arrays hold integers or objects, never both: no format of ours needs more.
struct JsonValue {
    enum class Kind : std::uint8_t { null, boolean, integer, not_an_integer, text, object, integers, objects };

    Kind kind = Kind::null;
    std::size_t byte = 0;      // of the line, from 0
    std::string key{};         // of a member of an object
    std::size_t key_byte = 0;  // the same
    std::int64_t integer = 0;
    std::string text{};                    // text: itself; not_an_integer: the number as it is spelled
    std::vector<std::int64_t> integers{};  // an empty array is one of integers
    std::vector<std::size_t> bytes{};      // of each integer
    std::vector<JsonValue> objects{};
    std::vector<JsonValue> members{};  // in the order of the line, no key twice

    // Null when there is no such member.
    const JsonValue* find(std::string_view member) const;
};

// "a number", "an array", ...
std::string_view with_article(JsonValue::Kind kind);

// What is wrong with a line, and where.
struct JsonError : std::runtime_error {
    JsonError(std::size_t where, const std::string& sentence) : std::runtime_error(sentence), byte(where) {}

    std::size_t byte;
    bool is_cut_off = false;  // the line ends in the middle of a value
};

// What a message of the JSON library says, without the place that it names in its own way.
std::string json_reason(std::string_view message);

// The object that the line is. Integers are spelled as integers and fit in 64 bits: 1.0, 1e3 and larger ones are
// numbers of another kind. ERRORS JsonError: no JSON, no object, a key twice, mixed arrays, deep nesting.
JsonValue parse_json_line(std::string_view line);

}  // namespace kvpane::cli

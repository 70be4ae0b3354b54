// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/json_file.h>

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/cli/json_line.h>

namespace kvpane::cli {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_bytes = 1U << 20U;
constexpr std::size_t longest_value = 40;  // [characters] shown of a value that is refused

std::string shown(const Json& value) {
    const std::string text = value.dump(-1, ' ', true);
    return text.size() <= longest_value ? text : text.substr(0, longest_value) + "...";
}

}  // namespace

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
    const std::string text = read_text(path_, most_bytes);
    try {
        json_ = std::make_unique<Json>(Json::parse(text));
    } catch (const Json::parse_error& error) {
        const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
        throw InputError(path_, place_behind(std::string_view(text).substr(0, byte)), fmt::format("is no JSON: {}", json_reason(error.what())));
    } catch (const Json::out_of_range& error) {  // 1e999
        throw InputError(path_, {}, fmt::format("is no JSON: {}", json_reason(error.what())));
    }
}

JsonFile::~JsonFile() = default;

void JsonNode::refuse(const std::string& what) const { refuse(what, shown(*value_)); }

void JsonNode::refuse(const std::string& what, const std::string& got) const {
    const std::string name = way_.empty() ? "the file" : fmt::format("'{}'", way_);
    throw InputError(file_->path(), {}, fmt::format("{} must be {}, got {}", name, what, got));
}

JsonNode JsonNode::at(std::string_view key) const {
    const std::string way = way_.empty() ? std::string(key) : fmt::format("{}.{}", way_, key);
    if (!value_->is_object()) {
        refuse("an object");
    }
    const auto found = value_->find(std::string(key));
    if (found == value_->end()) {
        throw InputError(file_->path(), {}, fmt::format("'{}' is missing", way));
    }
    return {*file_, *found, way};
}

bool JsonNode::is_null() const { return value_->is_null(); }

std::vector<JsonNode> JsonNode::items() const {
    if (!value_->is_array()) {
        refuse("an array");
    }
    std::vector<JsonNode> nodes;
    for (const Json& item : *value_) {
        nodes.push_back({*file_, item, fmt::format("{}[{}]", way_, nodes.size())});
    }
    return nodes;
}

std::vector<JsonNode> JsonNode::items(std::size_t count) const {
    std::vector<JsonNode> nodes = items();
    if (nodes.size() != count) {
        refuse(fmt::format("an array of {}", count), std::to_string(nodes.size()));
    }
    return nodes;
}

std::vector<std::string> JsonNode::keys() const {
    if (!value_->is_object()) {
        refuse("an object");
    }
    std::vector<std::string> keys;
    for (const auto& member : value_->items()) {
        keys.push_back(member.key());
    }
    return keys;
}

std::int64_t JsonNode::integer(std::int64_t min, std::int64_t max) const {
    // An unsigned number of the library may be beyond 2^63 - 1, but never below 0.
    const bool is_huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
    if (!value_->is_number_integer() || is_huge || value_->get<std::int64_t>() < min ||
        value_->get<std::int64_t>() > max) {
        refuse(fmt::format("a whole number {}..{}", min, max));
    }
    return value_->get<std::int64_t>();
}

double JsonNode::number() const {
    if (!value_->is_number()) {
        refuse("a number");
    }
    return value_->get<double>();
}

std::string JsonNode::text() const {
    if (!value_->is_string()) {
        refuse("a string");
    }
    return value_->get<std::string>();
}

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/document.h>

#include <algorithm>

#include <toml++/toml.h>

namespace kvpane::cli {

namespace {

Place place_of(const toml::source_region& region) {
    // A table that no line declares (the root of an empty file) stands at 0:0.
    return {std::max(1, static_cast<int>(region.begin.line)), std::max(1, static_cast<int>(region.begin.column))};
}

Node convert(const toml::node& from) {
    Node node;
    node.place = place_of(from.source());
    if (const toml::table* table = from.as_table()) {
        node.kind = NodeKind::table;
        for (const auto& [key, value] : *table) {
            node.members.push_back({std::string(key.str()), place_of(key.source()), convert(value)});
        }
        std::ranges::stable_sort(node.members, {}, &Member::place);
    } else if (const toml::array* array = from.as_array()) {
        node.kind = NodeKind::array;
        node.items.reserve(array->size());
        for (const toml::node& item : *array) {
            node.items.push_back(convert(item));
        }
    } else if (const auto* string = from.as_string()) {
        node.kind = NodeKind::string;
        node.text = string->get();
    } else if (const auto* integer = from.as_integer()) {
        node.kind = NodeKind::integer;
        node.integer = integer->get();
    } else if (const auto* floating = from.as_floating_point()) {
        node.kind = NodeKind::floating;
        node.number = floating->get();
    } else if (const auto* boolean = from.as_boolean()) {
        node.kind = NodeKind::boolean;
        node.boolean = boolean->get();
    } else {
        node.kind = NodeKind::date;
    }
    return node;
}

}  // namespace

std::string_view with_article(NodeKind kind) noexcept {
    switch (kind) {
        case NodeKind::table: return "a table";
        case NodeKind::array: return "an array";
        case NodeKind::string: return "a string";
        case NodeKind::integer: return "an integer";
        case NodeKind::floating: return "a float";
        case NodeKind::boolean: return "a boolean";
        case NodeKind::date: return "a date or time";
    }
    return "";
}

Document parse_document(const std::string& file, std::string_view text) {
    try {
        const toml::table root = toml::parse(text, std::string_view(file));
        return {file, convert(root), text_digest(text)};
    } catch (const toml::parse_error& error) {
        throw InputError(file, place_of(error.source()), std::string(error.description()));
    }
}

Document read_document(const std::string& file) { return parse_document(file, read_text(file, most_toml_bytes)); }

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/cli/input.h>

// A TOML file as a tree that remembers where everything stands. The TOML library is seen by document.cpp alone.
namespace kvpane::cli {

enum class NodeKind : std::uint8_t { table, array, string, integer, floating, boolean, date };

// "a table", "an integer", ...: as sentences need it.
std::string_view with_article(NodeKind kind) noexcept;

struct Member;

struct Node {
    NodeKind kind = NodeKind::table;
    Place place;
    std::string text;             // string
    std::int64_t integer = 0;     // integer
    double number = 0;            // floating
    bool boolean = false;         // boolean
    std::vector<Node> items;      // array
    std::vector<Member> members;  // table, in the order of the file
};

struct Member {
    std::string key;
    Place place;  // of the key
    Node value;
};

struct Document {
    std::string file;
    Node root;
    std::uint64_t digest = 0;  // of the file's bytes
};

// No TOML file that a person writes is larger.
inline constexpr std::uint64_t most_toml_bytes = 16U << 20U;

// ERRORS InputError with the place: what read_text() refuses, and what is no TOML.
Document read_document(const std::string& file);
Document parse_document(const std::string& file, std::string_view text);

}  // namespace kvpane::cli

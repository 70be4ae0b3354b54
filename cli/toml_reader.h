// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kvpane/cli/document.h>

namespace kvpane::cli {

// Both ends included.
struct Range {
    std::int64_t min;
    std::int64_t max;
};

inline constexpr Range any_integer{INT64_MIN, INT64_MAX};
inline constexpr Range any_count{0, INT64_MAX};

// One table of a document, read key by key. A key that nobody asked for is an error (finish()): nothing in a file is
// ignored. Integers are integers: 1.0 and true are wrong types.
//
// ERRORS of all: InputError at the place of the value, of the key when it is unknown, or of the table when a key that
// it must have is missing.
class Table {
public:
    // `name` is what sentences call the table: "[pool]", "step 3 (append)". The document must live as long.
    // REQUIRES a table node.
    Table(const Document& document, const Node& node, std::string name);

    const std::string& name() const noexcept { return name_; }
    Place place() const noexcept { return node_->place; }
    const Node& node() const noexcept { return *node_; }

    // Values that must be there.
    std::int64_t integer(std::string_view key, Range range);
    const std::string& string(std::string_view key);
    std::size_t choice(std::string_view key, const std::vector<std::string_view>& words);  // index into `words`
    Table table(std::string_view key, const std::string& name);

    // Values that may be absent.
    std::optional<std::int64_t> integer_if(std::string_view key, Range range);
    std::int64_t integer_or(std::string_view key, std::int64_t fallback, Range range);
    double number(std::string_view key, double min, double max);  // a float or an integer; must be there
    double number_or(std::string_view key, double fallback, double min, double max);
    bool boolean_or(std::string_view key, bool fallback);
    const std::string* string_if(std::string_view key);
    std::string string_or(std::string_view key, const std::string& fallback);
    std::optional<std::size_t> choice_if(std::string_view key, const std::vector<std::string_view>& words);
    std::optional<Table> table_if(std::string_view key, const std::string& name);
    std::vector<Table> tables(std::string_view key, const std::string& name);  // an array of tables; may be empty

    // The untyped value, null when absent; counts as asked for.
    const Node* find(std::string_view key);
    const Node& require(std::string_view key);

    // All keys, in the order of the file.
    const std::vector<Member>& members() const noexcept { return node_->members; }

    // The same, for tables whose keys are the user's own names: they count as asked for.
    const std::vector<Member>& all_members();

    // Refuses what nobody asked for.
    void finish() const;

    // "'key' in [pool]"
    std::string spelled(std::string_view key) const;
    std::int64_t to_integer(const Node& value, const std::string& what, Range range) const;
    std::vector<std::int64_t> to_integers(const Node& value, const std::string& what, Range range) const;
    const std::string& to_string(const Node& value, const std::string& what) const;
    const std::vector<Node>& to_array(const Node& value, const std::string& what) const;
    Table to_table(const Node& value, const std::string& what, const std::string& name) const;
    [[noreturn]] void fail(Place place, const std::string& sentence) const;

private:
    const Node& of_kind(const Node& value, NodeKind kind, const std::string& what) const;
    void ask(std::string_view key);
    [[noreturn]] void missing(std::string_view key) const;
    [[noreturn]] void unknown(const Member& member) const;

    const Document* document_;
    const Node* node_;
    std::string name_;
    std::vector<std::string> asked_;
    bool all_asked_ = false;
};

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_spelling.h>

#include <algorithm>
#include <array>

namespace kvpane::invariants::explorer {

namespace {

constexpr std::string_view same_text = "x";
constexpr std::string_view ids = "abc";  // one character each
static_assert(ids.size() == most_contents);

// The number of the content behind a cell of a node, 0 for none.
Prefix content_behind(std::span<const ContentMark> marks, std::size_t cell) {
    for (const ContentMark& mark : marks) {
        if (mark.begin <= cell && cell < mark.end) {
            return static_cast<Prefix>(ids.find(mark.id) + 1);
        }
    }
    return 0;
}

}  // namespace

kvpane::Scope scope_of(Prefix leading) {
    switch (leading) {
        case 2: return {.adapter = same_text};
        case 3: return {.salt = same_text};
        default: return {};
    }
}

Prefix leading_digit(const kvpane::Scope& scope) {
    for (Prefix digit = 1; digit <= most_scopes; ++digit) {
        if (scope == scope_of(digit)) {
            return digit;
        }
    }
    return 0;
}

std::string_view content_id(Prefix number) { return ids.substr(number - 1, 1); }

Prefix prefix_of(const PrefixTree& tree, ContentId node, const Spelling& spelling) {
    std::array<ContentId, most_length> path{};
    std::size_t depth = 0;
    for (; depth < path.size() && !tree.is_root(node); node = tree.parent(node)) {
        path[depth++] = node;
    }
    Prefix prefix = leading_digit(tree.scope(node));
    while (depth > 0) {
        const ContentId at = path[--depth];
        const std::span<const Token> tokens = tree.tokens(at);
        for (std::size_t cell = 0; cell < tokens.size(); ++cell) {
            const Prefix content = content_behind(tree.marks(at), cell);
            prefix = prefix * spelling.base + static_cast<Prefix>(tokens[cell]) + spelling.alphabet * content;
        }
    }
    return prefix;
}

}  // namespace kvpane::invariants::explorer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <kvpane/allocator/prefix_tree.h>
#include <kvpane/allocator/scope.h>
#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/explorer_limits.h>

// What the digits of a prefix mean: see Prefix.
namespace kvpane::invariants::explorer {

struct Spelling {
    explicit Spelling(const ExploreConfig& config)
        : alphabet(config.alphabet), base(std::max(config.alphabet * (config.contents + 1), config.scopes + 1)) {}

    Prefix alphabet;
    Prefix base;  // larger than each digit
};

// The scope of a leading digit: the second and the third differ in which part says the same text.
kvpane::Scope scope_of(Prefix leading);
// 0 when there is no such scope.
Prefix leading_digit(const kvpane::Scope& scope);

// The id of an external content, numbered from 1.
std::string_view content_id(Prefix number);

// The prefix that a node of the tree ends, by its ancestors. A broken tree may have no root.
Prefix prefix_of(const PrefixTree& tree, ContentId node, const Spelling& spelling);

}  // namespace kvpane::invariants::explorer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <kvpane/invariants/audit.h>

// What the prefix index says, compared with what stands in the cells.
namespace kvpane::invariants {

// The judge's number of a scope.
using ScopeNumber = std::function<std::uint32_t(const Scope&)>;

// X1: each block that is known by a content holds exactly these tokens behind exactly these predecessors, in this scope
// and group; a whole block, unless parts are found too. COST O(nodes and cells that are indexed).
Found find_X1(const Scene& scene, const ScopeNumber& number_of);

// X3: each block that is known by a content is found where that content is looked up, and nothing else is.
// COST O(blocks * copies of one content).
Found find_X3(const Scene& scene);

// The longest prefix of a prompt that a new sequence may take over, at most `most` tokens: looked for in the cells of
// the blocks that are indexed, length by length, without the index. `chains` are those of the prompt's tokens.
// COST O(indexed cells + groups * most * W).
Length longest_hit(const Scene& scene, std::span<const std::uint64_t> chains, Length most,
                   std::span<const spec::Rule> rules);

// Follows the events of a Manager and keeps what they say is stored.
class IndexWatch {
public:
    // Reads what is new. Where events were lost it starts anew from the index itself.
    Found read(const Scene& scene);

    // X3: what the events say is stored is what blocks hold: tokens, predecessor, scope and group. REQUIRES read() before.
    // COST O(indexed blocks * (block_size + log of them)).
    Found compare(const Scene& scene) const;

private:
    struct Content {
        std::uint64_t parent = 0;
        std::vector<Token> tokens;
        Scope scope;

        friend bool operator==(const Content&, const Content&) = default;
    };
    using Key = std::pair<std::uint64_t, std::uint32_t>;  // name of the content, group
    using Stored = std::map<Key, Content>;

    static Stored stored_in(const Scene& scene);

    Stored stored_;
    std::uint64_t next_ = 1;
};

}  // namespace kvpane::invariants

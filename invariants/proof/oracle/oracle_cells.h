// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <kvpane/allocator/prefix_tree.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/proof/oracle/oracle_machine.h>

namespace kvpane::invariants::oracle {

// The cells of the machine are numbers: one for each (scope, external content and the place in it, token).
class CellNumbers {
public:
    std::int64_t scope(const Scope& scope);

    // The cell of a token at a position of a history in this scope, with these external contents.
    std::int64_t cell(std::int64_t scope, const std::vector<ExternalContent>& extra, Length position, Token token);

    Token token(std::int64_t cell) const { return tokens_[static_cast<std::size_t>(cell)]; }

    // All cells from position 0 to the last one of a node of the C++ index.
    Numbers cells_of(const PrefixTree& tree, ContentId node);

private:
    using Key = std::tuple<std::int64_t, std::int64_t, Length, Token>;  // scope, content (0 = none), place in it, token
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept;
    };

    std::int64_t content(std::string_view id);
    std::int64_t number(const Key& key);

    std::map<Scope, std::int64_t> scopes_;
    std::map<std::string, std::int64_t, std::less<>> contents_;
    std::unordered_map<Key, std::int64_t, Hash> numbers_;
    std::vector<Token> tokens_;  // by number
};

}  // namespace kvpane::invariants::oracle

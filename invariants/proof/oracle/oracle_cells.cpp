// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/proof/oracle/oracle_cells.h>

#include <algorithm>

#include <kvpane/invariants/record.h>

namespace kvpane::invariants::oracle {

std::size_t CellNumbers::Hash::operator()(const Key& key) const noexcept {
    const auto& [scope, content, place, token] = key;
    std::uint64_t hash = 0;
    for (const std::int64_t part : {scope, content, place, std::int64_t{token}}) {
        hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
    }
    return hash;
}

std::int64_t CellNumbers::scope(const Scope& scope) {
    return scopes_.try_emplace(scope, static_cast<std::int64_t>(scopes_.size())).first->second;
}

std::int64_t CellNumbers::content(std::string_view id) {
    const auto found = contents_.find(id);
    return found != contents_.end()
               ? found->second
               : contents_.emplace(id, static_cast<std::int64_t>(contents_.size()) + 1).first->second;
}

std::int64_t CellNumbers::number(const Key& key) {
    const auto [at, is_new] = numbers_.try_emplace(key, static_cast<std::int64_t>(tokens_.size()));
    if (is_new) {
        tokens_.push_back(std::get<Token>(key));
    }
    return at->second;
}

std::int64_t CellNumbers::cell(std::int64_t scope, const std::vector<ExternalContent>& extra, Length position,
                               Token token) {
    for (const ExternalContent& piece : extra) {
        if (piece.at <= position && position < piece.at + piece.count) {
            return number({scope, content(piece.id), position - piece.at, token});
        }
    }
    return number({scope, 0, 0, token});
}

Numbers CellNumbers::cells_of(const PrefixTree& tree, ContentId node) {
    std::vector<ContentId> path;
    for (; !tree.is_root(node); node = tree.parent(node)) {
        path.push_back(node);
    }
    const std::int64_t in_scope = scope(owned(tree.scope(node)));
    Numbers cells;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
        const std::span<const Token> tokens = tree.tokens(*at);
        const std::span<const ContentMark> marks = tree.marks(*at);
        for (std::uint32_t i = 0; i < tokens.size(); ++i) {
            const auto mark = std::ranges::find_if(
                marks, [&](const ContentMark& piece) { return piece.begin <= i && i < piece.end; });
            cells.push_back(mark == marks.end()
                                ? number({in_scope, 0, 0, tokens[i]})
                                : number({in_scope, content(mark->id), mark->skipped + (i - mark->begin), tokens[i]}));
        }
    }
    return cells;
}

}  // namespace kvpane::invariants::oracle

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/audit_index.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

Found found(Invariant invariant, std::string what, Site site = {}) {
    return Finding{invariant, std::move(what), std::move(site)};
}

template <class F>
Found first_of_indexed(const Scene& scene, F look) {
    const BlockPool& pool = scene.manager.pool();
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        if (pool.content(block) != no_content) {
            if (Found finding = look(block, pool.content(block))) {
                return finding;
            }
        }
    }
    return std::nullopt;
}

// Where each prefix of the tree ends: its length, and the chain of its last token.
class Prefixes {
public:
    Prefixes(const PrefixTree& tree, const ScopeNumber& number_of) : tree_(tree), number_of_(number_of) {}

    struct End {
        Length length = 0;
        std::uint64_t chain = 0;
        std::uint32_t scope = 0;
    };

    // Ancestors first, without recursion: prefixes are long.
    const End& end(ContentId node) {
        std::vector<ContentId> path;
        while (!ends_.contains(node)) {
            path.push_back(node);
            if (tree_.is_root(node)) {
                break;
            }
            node = tree_.parent(node);
        }
        for (auto at = path.rbegin(); at != path.rend(); ++at) {
            ends_[*at] = tree_.is_root(*at) ? root(*at) : behind(*at, ends_.at(tree_.parent(*at)));
        }
        return ends_.at(path.empty() ? node : path.front());
    }

    // The chain behind each token of the node.
    std::vector<std::uint64_t> chains(ContentId node) {
        const End before = end(tree_.parent(node));
        std::vector<std::uint64_t> chains;
        std::uint64_t chain = before.chain;
        for (const Token token : tree_.tokens(node)) {
            const auto offset = static_cast<std::uint32_t>(chains.size());
            chain = next_chain(chain, before.length + offset, token, content_at(node, offset));
            chains.push_back(chain);
        }
        return chains;
    }

private:
    End root(ContentId node) const {
        const std::uint32_t scope = number_of_(owned(tree_.scope(node)));
        return {0, first_chain(scope), scope};
    }

    End behind(ContentId node, const End& before) {
        const std::vector<std::uint64_t> all = chains(node);
        return {before.length + static_cast<Length>(all.size()), all.back(), before.scope};
    }

    std::uint64_t content_at(ContentId node, std::uint32_t offset) const {
        for (const ContentMark& mark : tree_.marks(node)) {
            if (mark.begin <= offset && offset < mark.end) {
                return content_code(mark.id, mark.skipped + Length{offset - mark.begin});
            }
        }
        return 0;
    }

    const PrefixTree& tree_;
    const ScopeNumber& number_of_;
    std::unordered_map<ContentId, End> ends_;
};

}  // namespace

Found find_X1(const Scene& scene, const ScopeNumber& number_of) {
    const PrefixIndex* index = scene.manager.index();
    if (index == nullptr) {
        return first_of_indexed(scene, [](BlockId block, ContentId) {
            return found(Invariant::X1, text("block ", to_index(block), " is known, and the prefix cache is off"),
                         {.block = block});
        });
    }
    const PrefixTree& tree = index->tree();
    Prefixes prefixes(tree, number_of);
    const bool by_token = scene.manager.config().prefix_cache.granularity == Granularity::token;
    return first_of_indexed(scene, [&](BlockId block, ContentId node) -> Found {
        const std::vector<std::uint64_t> chains = prefixes.chains(node);
        const Prefixes::End end = prefixes.end(node);
        if (!by_token && chains.size() != scene.shadow.block_size()) {
            return found(Invariant::X1, text("block ", to_index(block), " is indexed with ", chains.size(), " cells"),
                         {.block = block});
        }
        for (std::size_t offset = 0; offset < chains.size(); ++offset) {
            const Length position = end.length - static_cast<Length>(chains.size() - offset);
            const ShadowCell due{
                position, chains[offset], tree.tokens(node)[offset], end.scope, to_index(index->group(block)), nobody};
            const ShadowCell& cell = scene.shadow.at(block, static_cast<Length>(offset));
            if (!cell.same_as(due)) {
                return found(
                    Invariant::X1,
                    text("block ", to_index(block), ", cell ", offset, ": the index says ", describe(due), ", found ",
                         describe(cell)),
                    {.group = due.group, .position = position, .block = block, .expected = due, .found = cell});
            }
        }
        return std::nullopt;
    });
}

Found find_X3(const Scene& scene) {
    const PrefixIndex* index = scene.manager.index();
    if (index == nullptr) {
        return std::nullopt;
    }
    std::int64_t known = 0;
    Found finding = first_of_indexed(scene, [&](BlockId block, ContentId node) -> Found {
        ++known;
        BlockId copy = index->oldest(node, index->group(block));
        while (copy != null_block && copy != block) {
            copy = index->younger(copy);
        }
        if (copy == null_block) {
            return found(Invariant::X3, text("block ", to_index(block), " is known, and not found under its content"),
                         {.block = block});
        }
        return std::nullopt;
    });
    if (!finding && known != index->entries()) {
        return found(Invariant::X3, text(known, " blocks are known, the index counts ", index->entries()));
    }
    return finding;
}

Length longest_hit(const Scene& scene, std::span<const std::uint64_t> chains, Length most,
                   std::span<const spec::Rule> rules) {
    const PrefixIndex* index = scene.manager.index();
    if (index == nullptr) {
        return 0;
    }
    const Length block_size = scene.shadow.block_size();
    const bool by_token = scene.manager.config().prefix_cache.granularity == Granularity::token;
    // In each group: the chains that some indexed block ends with, and all that stand in one.
    std::vector<std::unordered_set<std::uint64_t>> ends(rules.size());
    std::vector<std::unordered_set<std::uint64_t>> cells(rules.size());
    static_cast<void>(first_of_indexed(scene, [&](BlockId block, ContentId node) -> Found {
        const std::uint32_t group = to_index(index->group(block));
        const auto length = static_cast<Length>(index->tree().tokens(node).size());
        for (Length offset = 0; offset < length; ++offset) {
            cells[group].insert(scene.shadow.at(block, offset).chain);
        }
        if (length == block_size) {
            ends[group].insert(scene.shadow.at(block, block_size - 1).chain);
        }
        return std::nullopt;
    }));
    const auto has_block = [&](std::size_t group, Length block) {
        return ends[group].contains(chains[static_cast<std::size_t>((block + 1) * block_size - 1)]);
    };
    const auto serves = [&](std::size_t group, Length cut) {
        const Length whole = cut / block_size;
        if (cut % block_size != 0 && !cells[group].contains(chains[static_cast<std::size_t>(cut - 1)])) {
            return false;
        }
        for (Length block = 0; block < whole; ++block) {
            const bool ends_the_cut = (block + 1) * block_size == cut;
            bool is_seen = block * block_size < rules[group].sinks;
            for (Length p = block * block_size; p < (block + 1) * block_size; ++p) {
                is_seen = is_seen || spec::query_sees(cut, p, rules[group].window, rules[group].sinks);
            }
            if ((is_seen || ends_the_cut) && !has_block(group, block)) {
                return false;
            }
        }
        return true;
    };
    for (Length cut = most; cut > 0; --cut) {
        if (cut % block_size != 0 && !by_token) {
            continue;
        }
        bool all = true;
        for (std::size_t group = 0; group < rules.size() && all; ++group) {
            all = serves(group, cut);
        }
        if (all) {
            return cut;
        }
    }
    return 0;
}

IndexWatch::Stored IndexWatch::stored_in(const Scene& scene) {
    Stored stored;
    const PrefixIndex& index = *scene.manager.index();
    const PrefixTree& tree = index.tree();
    static_cast<void>(first_of_indexed(scene, [&](BlockId block, ContentId node) -> Found {
        const std::span<const Token> tokens = tree.tokens(node);
        stored[Key(tree.serial(node), to_index(index.group(block)))] = {
            tree.serial(tree.parent(node)), {tokens.begin(), tokens.end()}, owned(tree.scope(node))};
        return std::nullopt;
    }));
    return stored;
}

Found IndexWatch::read(const Scene& scene) {
    if (scene.manager.index() == nullptr) {
        return std::nullopt;
    }
    const CacheEvents& events = scene.manager.index()->events();
    if (events.first() > next_) {
        stored_ = stored_in(scene);
        next_ = events.next();
        return std::nullopt;
    }
    for (; next_ < events.next(); ++next_) {
        const CacheEvent event = events.read(next_);
        const Key key(event.content, to_index(event.group));
        const auto content = [&] {
            return Content{event.parent, {event.tokens.begin(), event.tokens.end()}, owned(event.scope)};
        };
        bool is_news = true;
        switch (event.kind) {
            case CacheEvent::Kind::stored: is_news = stored_.try_emplace(key, content()).second; break;
            case CacheEvent::Kind::removed: is_news = stored_.erase(key) == 1; break;
            case CacheEvent::Kind::cleared: stored_.clear(); break;
        }
        if (!is_news || event.number != next_) {
            return found(Invariant::X3, text("event ", event.number, " at place ", next_,
                                             " stores what is stored, or "
                                             "removes what is not there"));
        }
    }
    return std::nullopt;
}

Found IndexWatch::compare(const Scene& scene) const {
    if (scene.manager.index() == nullptr) {
        return std::nullopt;
    }
    const Stored stored = stored_in(scene);
    if (stored != stored_) {
        return found(Invariant::X3,
                     text("the events say that ", stored_.size(), " contents are stored, the blocks hold ",
                          stored.size(), stored.size() == stored_.size() ? " others" : ""));
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <kvpane/allocator/cache_events.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/prefix_tree.h>
#include <kvpane/allocator/sibling_index.h>

namespace kvpane {

struct PrefixIndexOptions {
    bool by_token = false;       // find blocks that match in part, too
    bool constant_hash = false;  // for tests: identity must not depend on the hash
    std::size_t events = 4096;   // that are kept for readers
};

// Which blocks hold which content: for each prefix and each group the physical copies, oldest first. Two copies of one
// content are legal (two sequences computed it side by side); to the outside they are one: `stored` is emitted with the
// first, `removed` with the last.
//
// The pool knows what a block is known by (BlockPool::content), the index where content is found (X3: a bijection).
class PrefixIndex {
public:
    PrefixIndex(std::uint32_t block_size, std::uint32_t blocks, std::uint32_t groups,
                const PrefixIndexOptions& options);

    PrefixTree& tree() noexcept { return tree_; }
    const PrefixTree& tree() const noexcept { return tree_; }

    // After this, `more` new nodes and a copy of each in every group need no memory.
    void make_room(std::size_t more);

    // From now on `block` is found as the youngest copy of `node` in `group`, and uses the node.
    void publish(ContentId node, GroupId group, BlockId block);

    // `block`, a copy of `node`, is found no more. COST O(1), or O(block_size) lookups with by_token.
    void withdraw(ContentId node, BlockId block);

    // The oldest copy, null_block when there is none.
    BlockId oldest(ContentId node, GroupId group) const noexcept {
        const std::size_t at = list(node, group);
        return at < lists_.size() ? lists_[at].oldest : null_block;
    }
    // Brings what oldest() will read into the caches, without waiting.
    void prefetch(ContentId node) const noexcept {
        if (const std::size_t at = list(node, GroupId{0}); at < lists_.size()) {
            __builtin_prefetch(&lists_[at]);
        }
    }
    GroupId group(BlockId block) const noexcept { return links_[to_index(block)].group; }

    // The next younger copy of the same content in the same group, null_block behind the last.
    BlockId younger(BlockId block) const noexcept { return links_[to_index(block)].younger; }

    // The longest beginning of `content` behind `parent` that some block in `group` has; nothing without by_token.
    SiblingIndex::Found find_beginning(ContentId parent, GroupId group, const BlockContent& content) const noexcept {
        return siblings_ ? siblings_->find(tree_, parent, group, content) : SiblingIndex::Found{};
    }

    std::uint32_t entries() const noexcept { return entries_; }

    // While a clearing is open, withdraw() emits nothing: end_clearing() emits one event for all of it.
    void begin_clearing() noexcept { clearing_ = true; }
    void end_clearing(std::uint64_t blocks);

    // Adds which copy of each content is the older one. COST O(blocks).
    void add_to(Digest& digest) const noexcept;
    CacheEvents& events() noexcept { return events_; }
    const CacheEvents& events() const noexcept { return events_; }

private:
    friend struct Tamper;

    struct List {
        BlockId oldest = null_block;
        BlockId youngest = null_block;
    };
    struct Link {
        BlockId older = null_block;
        BlockId younger = null_block;
        GroupId group{0};
    };

    std::size_t list(ContentId node, GroupId group) const noexcept {
        return std::size_t{static_cast<std::uint32_t>(node)} * groups_ + to_index(group);
    }
    void emit(CacheEvent::Kind kind, ContentId node, GroupId group);

    PrefixTree tree_;
    std::optional<SiblingIndex> siblings_;
    CacheEvents events_;
    std::vector<List> lists_;  // [nodes, n_groups] grows with the tree
    std::vector<Link> links_;  // [blocks + 1]
    std::uint32_t groups_;
    std::uint32_t entries_ = 0;
    bool clearing_ = false;
};

}  // namespace kvpane

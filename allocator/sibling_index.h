// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kvpane/allocator/content_hash.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/prefix_tree.h>

namespace kvpane {

// Finds, among the blocks that continue one prefix, those that begin alike: for token-granular hits. Every block is
// known under each of its beginnings (1, 2, ... all of its cells), each beginning lists its blocks oldest first.
//
// COST: add, remove and find look up O(block_size) beginnings, however many siblings there are; each is compared token
// by token, so block_size^2 / 2 comparisons at most. Memory: 8 bytes a cell of the pool, 48 a distinct beginning.
class SiblingIndex {
public:
    SiblingIndex(std::uint32_t blocks, std::uint32_t block_size, bool constant_hash);

    // After this, `more` blocks can be added without memory.
    void make_room(std::size_t more);

    // `block` holds the content of `node` in `group`. REQUIRES it is not in the index.
    void add(const PrefixTree& tree, ContentId node, GroupId group, BlockId block);

    // REQUIRES the same node as in add(), still in use.
    void remove(const PrefixTree& tree, ContentId node, BlockId block) noexcept;

    struct Found {
        std::uint32_t cells = 0;  // of the longest beginning that some block has; 0 = none
        BlockId oldest = null_block;
    };

    // The longest beginning of `content` that a block behind `parent` in `group` has, at most content.tokens.size().
    Found find(const PrefixTree& tree, ContentId parent, GroupId group, const BlockContent& content) const noexcept;

private:
    friend struct Tamper;

    struct Beginning {
        std::uint64_t hash = 0;
        BlockId oldest = null_block;  // null_block: an empty slot
        BlockId youngest = null_block;
        std::uint32_t cells = 0;
    };
    struct Owner {
        ContentId node = no_content;
        GroupId group{0};
    };

    std::size_t link(BlockId block, std::uint32_t cells) const noexcept {
        return std::size_t{to_index(block)} * block_size_ + cells - 1;
    }
    std::uint64_t first_hash(ContentId parent, GroupId group) const noexcept;
    std::size_t probe(const PrefixTree& tree, std::uint64_t hash, ContentId parent, GroupId group,
                      const BlockContent& content, std::uint32_t cells) const noexcept;
    KVPANE_WRAPS void erase(std::size_t gap) noexcept;
    void grow();

    ContentHash hash_;
    std::uint32_t block_size_;
    std::vector<Beginning> table_;  // open addressing, linear probing, a power of two, at most half full
    std::size_t used_ = 0;
    std::vector<BlockId> next_;      // [blocks + 1, block_size] the next younger block with this beginning
    std::vector<BlockId> previous_;  // [blocks + 1, block_size]
    std::vector<Owner> owners_;      // [blocks + 1]
};

}  // namespace kvpane

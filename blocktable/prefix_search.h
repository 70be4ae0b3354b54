// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <kvpane/allocator/prefix_index.h>
#include <kvpane/blocktable/block_shape.h>
#include <kvpane/blocktable/config.h>

namespace kvpane {

// The longest reusable prefix of a prompt.
struct Match {
    Length tokens = 0;            // the cut: so many tokens need not be computed
    std::uint32_t blocks = 0;     // whole blocks among them
    std::uint32_t cells = 0;      // behind those, found at the beginning of a block of which they are copied
    ContentId node = no_content;  // where the whole blocks end; no_content: the scope was never seen
};

// Finds the longest cut over all groups at once. A cut needs in each group only the blocks that the next query sees
// (and the sinks, and the block that holds position cut - 1); earlier ones may be gone.
//
// One walk down the tree notes, for each depth and group, the last block that is missing so far; whether a depth can be
// the cut is then one comparison a group. No group has a length of its own, so nothing must be made to agree.
class PrefixSearch {
public:
    // The references must outlive the search.
    PrefixSearch(const Config& config, const BlockShape& shape, const PrefixIndex& index);

    // The longest cut of at most `most` tokens. COST O(block_size) for each block looked at.
    const Match& find(std::span<const Token> tokens, const Scope& scope, std::span<const ExternalContent> extra,
                      Length most);

    // Of the last find(): the first logical block that `group` needs; the sinks' blocks aside.
    std::uint32_t first_block(std::uint32_t group) const noexcept;

    // The block to reuse at a logical index below match.blocks, and the one to copy from behind them.
    BlockId block(std::uint32_t entry, std::uint32_t group) const noexcept {
        return index_.oldest(path_[entry], GroupId{group});
    }
    BlockId source(std::uint32_t group) const noexcept { return sources_[group]; }

private:
    void descend(std::span<const Token> tokens, std::span<const ExternalContent> extra, Length most);
    void look_ahead(std::span<const Token> tokens, std::span<const ExternalContent> extra, std::size_t entry,
                    std::size_t whole_blocks);
    BlockContent content(std::span<const Token> tokens, std::span<const ExternalContent> extra, std::size_t entry);
    bool note_gaps(ContentId node, std::uint32_t entry);
    bool serves(std::uint32_t depth, std::uint32_t cells) const noexcept;
    std::uint32_t beginning(std::span<const Token> tokens, std::span<const ExternalContent> extra, Length most,
                            std::uint32_t depth);
    ContentId node_at(std::uint32_t depth) const noexcept { return depth == 0 ? root_ : path_[depth - 1]; }

    static constexpr std::size_t stride = 8;  // blocks; about as many lines as a core can wait for
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

    const Config& config_;
    const BlockShape& shape_;
    const PrefixIndex& index_;
    Match match_;
    ContentId root_ = no_content;
    std::vector<ContentId> path_;         // [depth] the node that ends with block i
    std::vector<std::uint64_t> hashes_;   // [whole blocks hashed so far]
    std::vector<std::uint32_t> gap_end_;  // [depth + 1, n_groups] one behind the last missing block before that depth,
                                          // or `never` when one of the sinks is missing
    std::vector<BlockId> sources_;        // [n_groups]
    std::vector<ContentMark> marks_;      // scratch
};

}  // namespace kvpane

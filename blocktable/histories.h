// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kvpane/allocator/prefix_index.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

// The external content of the block that starts at position `begin`, clipped to its first `cells` cells.
// `out` keeps its capacity. REQUIRES `extra` in ascending order of position.
void clip_marks(std::span<const ExternalContent> extra, Length begin, std::uint32_t cells,
                std::vector<ContentMark>& out);

// What each sequence has committed, as the prefix index names it: the node of its last whole block, and the tokens
// behind that. Only kept while the prefix cache is on; a slot belongs to the sequence in the same slot.
//
// Every change that may need memory has a make_room() before it, so that applying a plan cannot fail.
class Histories {
public:
    Histories(const BlockShape& shape, PrefixTree& tree) : shape_(shape), tree_(tree) {}

    // Becomes what `other` is; the nodes are those of a copy of its tree.
    void assign(const Histories& other);

    // After this, a sequence (or one that begins with such content) may complete so many blocks without memory for what
    // stands behind its tokens.
    void make_room(std::uint32_t index, std::size_t blocks);
    void make_room(std::span<const ExternalContent> extra, std::size_t blocks);

    // Makes sure that slot `index` exists.
    void make_slot(std::uint32_t index);

    // A new sequence with the first `length` tokens of `prompt`, whose whole blocks end at `node`; becomes a user of
    // it. Without a node the scope's root is used, and made if need be. REQUIRES the slot, unused.
    void begin(std::uint32_t index, const Scope& scope, std::span<const ExternalContent> extra, ContentId node,
               std::span<const Token> tail);

    // Adds one token. Gives the node of the block that it completes, `no_content` when it completes none.
    ContentId add(std::uint32_t index, Length position, Token token);

    // Goes back from `length` tokens to `to`. COST O(blocks gone back).
    void rewind(std::uint32_t index, Length length, Length to) noexcept;

    // Slot `child` becomes the first `at` tokens of slot `parent`, which has `length`. REQUIRES both slots.
    void fork(std::uint32_t parent, Length length, std::uint32_t child, Length at);

    void end(std::uint32_t index) noexcept;

    // The node of the partly filled tail, as one more user; `no_content` when the tail is empty.
    ContentId use_tail(std::uint32_t index, Length length);

    void add_to(Digest& digest, std::uint32_t index) const noexcept;

private:
    friend struct Tamper;

    struct Owned {
        Length at = 0;
        Length count = 0;
        std::string id;
    };
    struct History {
        ContentId node = no_content;  // of the last whole block; used
        std::vector<Token> tail;      // [length mod block_size]
        std::vector<Owned> extra;     // of the prompt
    };

    BlockContent content(const History& history, Length begin);
    void view(const History& history);

    const BlockShape& shape_;
    PrefixTree& tree_;
    std::vector<History> histories_;      // [slots]
    std::vector<ExternalContent> views_;  // scratch
    std::vector<ContentMark> marks_;      // scratch
};

}  // namespace kvpane

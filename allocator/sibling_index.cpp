// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/sibling_index.h>

#include <algorithm>

namespace kvpane {

namespace {

// Whether two contents agree in their first `cells` cells.
bool begin_alike(const BlockContent& a, const BlockContent& b, std::uint32_t cells) noexcept {
    if (!std::ranges::equal(a.tokens.first(cells), b.tokens.first(cells))) {
        return false;
    }
    const auto reaches_in = [&](const ContentMark& mark) { return mark.begin < cells; };
    const auto n = std::ranges::count_if(a.marks, reaches_in);
    if (n != std::ranges::count_if(b.marks, reaches_in)) {
        return false;
    }
    return std::equal(a.marks.begin(), a.marks.begin() + n, b.marks.begin(), [&](ContentMark x, ContentMark y) {
        x.end = std::min(x.end, cells);
        y.end = std::min(y.end, cells);
        return x == y;
    });
}

BlockContent content_of(const PrefixTree& tree, ContentId node) noexcept {
    return {tree.tokens(node), tree.marks(node)};
}

}  // namespace

SiblingIndex::SiblingIndex(std::uint32_t blocks, std::uint32_t block_size, bool constant_hash)
    : hash_(constant_hash), block_size_(block_size), table_(64), next_((blocks + std::size_t{1}) * block_size),
      previous_((blocks + std::size_t{1}) * block_size), owners_(blocks + std::size_t{1}) {}

std::uint64_t SiblingIndex::first_hash(ContentId parent, GroupId group) const noexcept {
    return hash_.number(static_cast<std::uint32_t>(parent), to_index(group));
}

// The slot of a beginning, or the empty one where it would stand.
std::size_t SiblingIndex::probe(const PrefixTree& tree, std::uint64_t hash, ContentId parent, GroupId group,
                                const BlockContent& content, std::uint32_t cells) const noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash & mask;
    for (; table_[at].oldest != null_block; at = (at + 1) & mask) {
        const Beginning& beginning = table_[at];
        if (beginning.hash != hash || beginning.cells != cells) {
            continue;
        }
        const Owner& owner = owners_[to_index(beginning.oldest)];
        if (owner.group == group && tree.parent(owner.node) == parent &&
            begin_alike(content_of(tree, owner.node), content, cells)) {
            break;
        }
    }
    return at;
}

void SiblingIndex::make_room(std::size_t more) {
    while (2 * (used_ + more * block_size_) > table_.size()) {
        grow();
    }
}

void SiblingIndex::add(const PrefixTree& tree, ContentId node, GroupId group, BlockId block) {
    make_room(1);
    const BlockContent content = content_of(tree, node);
    owners_[to_index(block)] = {node, group};
    std::uint64_t hash = first_hash(tree.parent(node), group);
    for (std::uint32_t cells = 1; cells <= content.tokens.size(); ++cells) {
        hash = hash_.number(hash, static_cast<std::uint32_t>(content.tokens[cells - 1]));
        Beginning& beginning = table_[probe(tree, hash, tree.parent(node), group, content, cells)];
        const BlockId before = beginning.youngest;
        if (beginning.oldest == null_block) {
            beginning = {hash, block, block, cells};
            ++used_;
        } else {
            next_[link(before, cells)] = block;
            beginning.youngest = block;
        }
        previous_[link(block, cells)] = before;
        next_[link(block, cells)] = null_block;
    }
}

void SiblingIndex::remove(const PrefixTree& tree, ContentId node, BlockId block) noexcept {
    const BlockContent content = content_of(tree, node);
    const GroupId group = owners_[to_index(block)].group;
    std::uint64_t hash = first_hash(tree.parent(node), group);
    for (std::uint32_t cells = 1; cells <= content.tokens.size(); ++cells) {
        hash = hash_.number(hash, static_cast<std::uint32_t>(content.tokens[cells - 1]));
        const std::size_t at = probe(tree, hash, tree.parent(node), group, content, cells);
        Beginning& beginning = table_[at];
        const BlockId before = previous_[link(block, cells)];
        const BlockId after = next_[link(block, cells)];
        (before == null_block ? beginning.oldest : next_[link(before, cells)]) = after;
        (after == null_block ? beginning.youngest : previous_[link(after, cells)]) = before;
        if (beginning.oldest == null_block) {
            erase(at);
        }
    }
    owners_[to_index(block)] = {};
}

SiblingIndex::Found SiblingIndex::find(const PrefixTree& tree, ContentId parent, GroupId group,
                                       const BlockContent& content) const noexcept {
    Found found;
    std::uint64_t hash = first_hash(parent, group);
    for (std::uint32_t cells = 1; cells <= content.tokens.size(); ++cells) {
        hash = hash_.number(hash, static_cast<std::uint32_t>(content.tokens[cells - 1]));
        const Beginning& beginning = table_[probe(tree, hash, parent, group, content, cells)];
        if (beginning.oldest == null_block) {
            break;
        }
        found = {cells, beginning.oldest};
    }
    return found;
}

void SiblingIndex::erase(std::size_t gap) noexcept {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = (gap + 1) & mask; table_[at].oldest != null_block; at = (at + 1) & mask) {
        const std::size_t home = table_[at].hash & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table_[gap] = table_[at];
            gap = at;
        }
    }
    table_[gap] = {};
    --used_;
}

void SiblingIndex::grow() {
    std::vector<Beginning> old(2 * table_.size());
    old.swap(table_);
    const std::size_t mask = table_.size() - 1;
    for (const Beginning& beginning : old) {
        if (beginning.oldest != null_block) {
            std::size_t at = beginning.hash & mask;
            while (table_[at].oldest != null_block) {
                at = (at + 1) & mask;
            }
            table_[at] = beginning;
        }
    }
}

}  // namespace kvpane

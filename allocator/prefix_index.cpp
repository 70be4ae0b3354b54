// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/prefix_index.h>

namespace kvpane {

PrefixIndex::PrefixIndex(std::uint32_t block_size, std::uint32_t blocks, std::uint32_t groups,
                         const PrefixIndexOptions& options)
    : tree_(block_size, blocks, options.constant_hash), events_(options.events, block_size),
      lists_((blocks + std::size_t{1}) * groups), links_(blocks + std::size_t{1}), groups_(groups) {
    if (options.by_token) {
        siblings_.emplace(blocks, block_size, options.constant_hash);
    }
}

void PrefixIndex::make_room(std::size_t more) {
    tree_.make_room(more);
    if (const std::size_t lists = (tree_.slots() + more) * groups_; lists > lists_.size()) {
        lists_.resize(2 * lists);
    }
    if (siblings_) {
        siblings_->make_room(more * groups_);
    }
}

void PrefixIndex::publish(ContentId node, GroupId group, BlockId block) {
    const std::size_t at = list(node, group);
    if (siblings_) {
        siblings_->add(tree_, node, group, block);
    }
    List& copies = lists_[at];
    links_[to_index(block)] = {copies.youngest, null_block, group};
    const bool is_first = copies.oldest == null_block;
    (is_first ? copies.oldest : links_[to_index(copies.youngest)].younger) = block;
    copies.youngest = block;
    tree_.use(node);
    ++entries_;
    if (is_first) {
        emit(CacheEvent::Kind::stored, node, group);
    }
}

void PrefixIndex::withdraw(ContentId node, BlockId block) {
    const Link link = links_[to_index(block)];
    if (siblings_) {
        siblings_->remove(tree_, node, block);
    }
    List& copies = lists_[list(node, link.group)];
    (link.older == null_block ? copies.oldest : links_[to_index(link.older)].younger) = link.younger;
    (link.younger == null_block ? copies.youngest : links_[to_index(link.younger)].older) = link.older;
    links_[to_index(block)] = {};
    --entries_;
    if (copies.oldest == null_block && !clearing_) {
        emit(CacheEvent::Kind::removed, node, link.group);
    }
    tree_.drop(node);
}

void PrefixIndex::end_clearing(std::uint64_t blocks) {
    clearing_ = false;
    events_.count_cleared(blocks);
    events_.emit({.kind = CacheEvent::Kind::cleared});
}

void PrefixIndex::add_to(Digest& digest) const noexcept {
    digest.add(entries_);
    for (const Link& link : links_) {
        digest.add((std::uint64_t{to_index(link.older)} << 32U) | to_index(link.younger));
    }
}

void PrefixIndex::emit(CacheEvent::Kind kind, ContentId node, GroupId group) {
    const bool stored = kind == CacheEvent::Kind::stored;
    events_.emit({.kind = kind,
                  .group = group,
                  .content = tree_.serial(node),
                  .parent = tree_.serial(tree_.parent(node)),
                  .tokens = stored ? tree_.tokens(node) : std::span<const Token>{},
                  .scope = stored ? tree_.scope(node) : Scope{}});
}

}  // namespace kvpane

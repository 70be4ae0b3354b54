// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/prefix_search.h>

#include <algorithm>

#include <kvpane/blocktable/histories.h>
#include <kvpane/blocktable/window.h>

namespace kvpane {

PrefixSearch::PrefixSearch(const Config& config, const BlockShape& shape, const PrefixIndex& index)
    : config_(config), shape_(shape), index_(index), sources_(config.groups.size()) {}

const Match& PrefixSearch::find(std::span<const Token> tokens, const Scope& scope,
                                std::span<const ExternalContent> extra, Length most) {
    match_ = {};
    root_ = index_.tree().find_root(scope);
    if (root_ == no_content) {
        return match_;
    }
    descend(tokens, extra, most);
    for (auto depth = static_cast<std::uint32_t>(path_.size());; --depth) {
        if (const std::uint32_t cells = beginning(tokens, extra, most, depth); cells > 0 && serves(depth, cells)) {
            match_ = {shape_.begin(depth) + Length{cells}, depth, cells, node_at(depth)};
            break;
        }
        if (depth == 0 || serves(depth, 0)) {
            match_ = {shape_.begin(depth), depth, 0, node_at(depth)};
            break;
        }
    }
    return match_;
}

// The content of the whole block at a logical index.
BlockContent PrefixSearch::content(std::span<const Token> tokens, std::span<const ExternalContent> extra,
                                   std::size_t entry) {
    const BlockContent plain{tokens.subspan(entry * shape_.size(), shape_.size())};
    if (extra.empty()) {
        return plain;
    }
    clip_marks(extra, shape_.begin(static_cast<Length>(entry)), shape_.size(), marks_);
    return {plain.tokens, marks_};
}

// Each block of the walk would wait for memory three times in a row: slot, node, list. Hashes need none of that: they
// are taken two strides before the walk gets there, and nodes are fetched one stride before (benchmark W2: 3 times as
// fast).
void PrefixSearch::look_ahead(std::span<const Token> tokens, std::span<const ExternalContent> extra, std::size_t entry,
                              std::size_t whole_blocks) {
    const PrefixTree& tree = index_.tree();
    const std::size_t hashed = hashes_.size();
    std::uint64_t hash = hashed == 0 ? tree.hash(root_) : hashes_.back();
    hashes_.resize(std::min(entry + 3 * stride, whole_blocks));
    for (std::size_t i = hashed; i < hashes_.size(); ++i) {
        hash = tree.child_hash(hash, content(tokens, extra, i));
        tree.prefetch_slot(hash);
        hashes_[i] = hash;
    }
    const std::size_t end = std::min(entry + 2 * stride, whole_blocks);
    for (std::size_t i = entry == 0 ? 0 : entry + stride; i < end; ++i) {
        index_.prefetch(tree.prefetch_node(hashes_[i]));
    }
}

// Follows the whole blocks of the prompt as far as the tree knows them, and notes what each group lacks.
void PrefixSearch::descend(std::span<const Token> tokens, std::span<const ExternalContent> extra, Length most) {
    const std::size_t n_groups = config_.groups.size();
    const auto whole_blocks = static_cast<std::size_t>(shape_.index(most));
    path_.clear();
    hashes_.clear();
    gap_end_.assign(n_groups, 0);
    ContentId node = root_;
    for (std::size_t entry = 0; entry < whole_blocks; ++entry) {
        if (entry % stride == 0) {
            look_ahead(tokens, extra, entry, whole_blocks);
        }
        node = index_.tree().find_child(node, content(tokens, extra, entry), hashes_[entry]);
        if (node == no_content) {
            return;
        }
        path_.push_back(node);
        if (!note_gaps(node, static_cast<std::uint32_t>(entry))) {
            return;
        }
    }
}

// Whether a deeper cut is possible: full attention sees everything, behind a missing block there is no cut any more.
bool PrefixSearch::note_gaps(ContentId node, std::uint32_t entry) {
    const std::size_t n_groups = config_.groups.size();
    bool can_go_on = true;
    for (std::size_t group = 0; group < n_groups; ++group) {
        const GroupConfig& config = config_.groups[group];
        std::uint32_t gap_end = gap_end_[gap_end_.size() - n_groups];
        if (index_.oldest(node, GroupId{static_cast<std::uint32_t>(group)}) == null_block) {
            const bool is_sink = shape_.begin(entry) < config.sinks;
            gap_end = is_sink || gap_end == never ? never : entry + 1;
            can_go_on = can_go_on && config.window != 0;
        }
        gap_end_.push_back(gap_end);
    }
    return can_go_on;
}

// Whether a cut `cells` behind `depth` whole blocks has every whole block that it needs.
bool PrefixSearch::serves(std::uint32_t depth, std::uint32_t cells) const noexcept {
    const std::size_t n_groups = config_.groups.size();
    for (std::size_t group = 0; group < n_groups; ++group) {
        const Length seen = shape_.index(need(shape_.begin(depth) + Length{cells}, config_.groups[group].window));
        // The block that holds position cut - 1 is needed also where the next query does not see it (window 1).
        const Length first = cells > 0 ? seen : std::min(seen, Length{depth} - 1);
        if (Length{gap_end_[depth * n_groups + group]} > first) {
            return false;
        }
    }
    return true;
}

// How many cells behind `depth` whole blocks every group has at the beginning of some block; notes the oldest of each.
std::uint32_t PrefixSearch::beginning(std::span<const Token> tokens, std::span<const ExternalContent> extra,
                                      Length most, std::uint32_t depth) {
    if (config_.prefix_cache.granularity != Granularity::token) {
        return 0;
    }
    const Length begin = shape_.begin(depth);
    auto cells = static_cast<std::uint32_t>(std::min(most - begin, Length{shape_.size()}));
    if (depth < path_.size()) {
        cells = std::min(cells, shape_.size() - 1);  // the whole block was tried one step deeper
    }
    for (std::uint32_t pass = 0; pass < 2; ++pass) {  // first the length that all groups share, then its oldest blocks
        for (std::uint32_t group = 0; group < config_.groups.size() && cells > 0; ++group) {
            clip_marks(extra, begin, cells, marks_);
            const BlockContent wanted{tokens.subspan(static_cast<std::size_t>(begin), cells), marks_};
            const auto found = index_.find_beginning(node_at(depth), GroupId{group}, wanted);
            cells = found.cells;
            sources_[group] = found.oldest;
        }
    }
    return cells;
}

std::uint32_t PrefixSearch::first_block(std::uint32_t group) const noexcept {
    const auto seen = static_cast<std::uint32_t>(shape_.index(need(match_.tokens, config_.groups[group].window)));
    return match_.cells > 0 || match_.blocks == 0 ? std::min(seen, match_.blocks) : std::min(seen, match_.blocks - 1);
}

}  // namespace kvpane

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

// Follows the whole blocks of the prompt as far as the tree knows them, and notes what each group lacks.
void PrefixSearch::descend(std::span<const Token> tokens, std::span<const ExternalContent> extra, Length most) {
    const std::size_t n_groups = config_.groups.size();
    const PrefixTree& tree = index_.tree();
    path_.clear();
    gap_end_.assign(n_groups, 0);
    sinks_missing_.assign(n_groups, false);
    ContentId node = root_;
    for (Length begin = 0; begin + Length{shape_.size()} <= most; begin += Length{shape_.size()}) {
        clip_marks(extra, begin, shape_.size(), marks_);
        node = tree.find_child(node, {tokens.subspan(static_cast<std::size_t>(begin), shape_.size()), marks_});
        if (node == no_content) {
            return;
        }
        const auto entry = static_cast<std::uint32_t>(path_.size());
        bool some_group_can_go_on = true;
        path_.push_back(node);
        for (std::size_t group = 0; group < n_groups; ++group) {
            const bool missing = index_.oldest(node, GroupId{static_cast<std::uint32_t>(group)}) == null_block;
            const std::size_t before = gap_end_.size() - n_groups;
            gap_end_.push_back(missing ? entry + 1 : gap_end_[before]);
            sinks_missing_.push_back(sinks_missing_[before] || (missing && begin < config_.groups[group].sinks));
            // Full attention sees everything: behind a missing block there is no cut any more.
            some_group_can_go_on = some_group_can_go_on && !(missing && config_.groups[group].window == 0);
        }
        if (!some_group_can_go_on) {
            return;
        }
    }
}

// Whether a cut `cells` behind `depth` whole blocks has every whole block that it needs.
bool PrefixSearch::serves(std::uint32_t depth, std::uint32_t cells) const noexcept {
    const std::size_t n_groups = config_.groups.size();
    for (std::size_t group = 0; group < n_groups; ++group) {
        const Length seen = shape_.index(need(shape_.begin(depth) + Length{cells}, config_.groups[group].window));
        // The block that holds position cut - 1 is needed also where the next query does not see it (window 1).
        const Length first = cells > 0 ? seen : std::min(seen, Length{depth} - 1);
        if (Length{gap_end_[depth * n_groups + group]} > first || sinks_missing_[depth * n_groups + group]) {
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

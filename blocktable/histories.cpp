// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/histories.h>

#include <algorithm>
#include <utility>

namespace kvpane {

void clip_marks(std::span<const ExternalContent> extra, Length begin, std::uint32_t cells,
                std::vector<ContentMark>& out) {
    out.clear();
    const Length end = begin + Length{cells};
    for (const ExternalContent& piece : extra) {
        const Length from = std::max(begin, piece.at);
        const Length to = std::min(end, piece.at + piece.count);
        if (from < to) {
            out.push_back({static_cast<std::uint32_t>(from - begin), static_cast<std::uint32_t>(to - begin),
                           from - piece.at, piece.id});
        }
    }
}

void Histories::assign(const Histories& other) {
    histories_ = other.histories_;
    // A copied vector has no room to spare, and add() must not need memory.
    std::ranges::for_each(histories_, [&](History& history) { history.tail.reserve(shape_.size()); });
}

void Histories::make_room(std::uint32_t index, std::size_t blocks) {
    if (!histories_[index].extra.empty()) {
        view(histories_[index]);
        make_room(views_, blocks);
    }
}

void Histories::make_room(std::span<const ExternalContent> extra, std::size_t blocks) {
    Length touched = 0;  // blocks that such content lies in, at most
    std::size_t characters = 0;
    for (const ExternalContent& piece : extra) {
        touched += shape_.blocks_for(piece.count) + 1;
        characters += piece.id.size();
    }
    views_.reserve(extra.size());
    marks_.reserve(extra.size());
    tree_.make_room_for_marks(std::min(blocks, static_cast<std::size_t>(touched)),
                              std::min<std::size_t>(extra.size(), shape_.size()), characters);
}

void Histories::make_slot(std::uint32_t index) {
    while (histories_.size() <= index) {
        History history;
        history.tail.reserve(shape_.size());
        histories_.push_back(std::move(history));
    }
}

void Histories::begin(std::uint32_t index, const Scope& scope, std::span<const ExternalContent> extra, ContentId node,
                      std::span<const Token> tail) {
    History& history = histories_[index];
    history.extra.clear();
    for (const ExternalContent& piece : extra) {
        history.extra.push_back({piece.at, piece.count, std::string(piece.id)});
    }
    history.tail.assign(tail.begin(), tail.end());
    if (node == no_content) {
        history.node = tree_.use_root(scope);
    } else {
        tree_.use(node);
        history.node = node;
    }
}

ContentId Histories::add(std::uint32_t index, Length position, Token token) {
    History& history = histories_[index];
    history.tail.push_back(token);
    if (history.tail.size() < shape_.size()) {
        return no_content;
    }
    const ContentId node = tree_.use_child(history.node, content(history, position + 1 - Length{shape_.size()}));
    tree_.drop(history.node);  // the child uses it
    history.node = node;
    history.tail.clear();
    return node;
}

void Histories::rewind(std::uint32_t index, Length length, Length to) noexcept {
    History& history = histories_[index];
    const Length blocks = shape_.index(to);
    if (blocks == shape_.index(length)) {
        history.tail.resize(static_cast<std::size_t>(shape_.offset(to)));
        return;
    }
    ContentId node = history.node;
    for (Length depth = shape_.index(length); depth > blocks + 1; --depth) {
        node = tree_.parent(node);
    }
    const auto kept = tree_.tokens(node).first(static_cast<std::size_t>(shape_.offset(to)));
    history.tail.assign(kept.begin(), kept.end());
    const ContentId parent = tree_.parent(node);
    tree_.use(parent);
    tree_.drop(history.node);
    history.node = parent;
}

void Histories::fork(std::uint32_t parent, Length length, std::uint32_t child, Length at) {
    History& copy = histories_[child];
    copy.extra = histories_[parent].extra;
    copy.tail = histories_[parent].tail;
    copy.node = histories_[parent].node;
    tree_.use(copy.node);
    rewind(child, length, at);
}

void Histories::end(std::uint32_t index) noexcept {
    History& history = histories_[index];
    tree_.drop(history.node);
    history.node = no_content;
    history.tail.clear();
    history.extra.clear();
}

ContentId Histories::use_tail(std::uint32_t index, Length length) {
    const History& history = histories_[index];
    return history.tail.empty() ? no_content
                                : tree_.use_child(history.node, content(history, length - shape_.offset(length)));
}

void Histories::add_to(Digest& digest, std::uint32_t index) const noexcept {
    const History& history = histories_[index];
    digest.add(tree_.serial(history.node));
    std::ranges::for_each(history.tail, [&](Token token) { digest.add(static_cast<std::uint32_t>(token)); });
}

void Histories::view(const History& history) {
    views_.clear();
    for (const Owned& piece : history.extra) {
        views_.push_back({piece.at, piece.count, piece.id});
    }
}

BlockContent Histories::content(const History& history, Length begin) {
    if (history.extra.empty()) {
        return {history.tail};
    }
    view(history);
    clip_marks(views_, begin, static_cast<std::uint32_t>(history.tail.size()), marks_);
    return {history.tail, marks_};
}

}  // namespace kvpane

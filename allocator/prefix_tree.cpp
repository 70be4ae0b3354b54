// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/prefix_tree.h>

#include <algorithm>
#include <bit>

#include <kvpane/allocator/promise.h>

namespace kvpane {

namespace {

// Texts of at least 16 characters live on the heap, so that the views survive when a vector moves its strings.
constexpr std::size_t on_the_heap = 16;

// Appends `text` to `store` and gives the view of it. REQUIRES that `store` has room: views must stay valid.
std::string_view keep(std::string& store, std::string_view text) {
    const std::size_t at = store.size();
    store.append(text);
    return std::string_view(store).substr(at);
}

}  // namespace

PrefixTree::PrefixTree(std::uint32_t block_size, std::size_t expected_nodes, bool constant_hash)
    : hash_(constant_hash), block_size_(block_size), scopes_(1), marks_(1) {
    nodes_.reserve(expected_nodes + 1);
    nodes_.emplace_back();
    tokens_.reserve((expected_nodes + 1) * block_size);
    tokens_.resize(block_size);
    table_.resize(std::bit_ceil(2 * (expected_nodes + 8)));
}

ContentId PrefixTree::find_root(const Scope& scope) const noexcept {
    return probe(scope_hash(scope),
                 [&](const Node& node) { return node.parent == no_content && scopes_[node.label].view == scope; });
}

ContentId PrefixTree::find_child(ContentId parent, const BlockContent& content) const noexcept {
    return find_child(parent, content, child_hash(hash(parent), content));
}

ContentId PrefixTree::find_child(ContentId parent, const BlockContent& content, std::uint64_t hash) const noexcept {
    return probe(hash, [&](const Node& node) {
        const auto id = static_cast<ContentId>(&node - nodes_.data());
        return node.parent == parent && std::ranges::equal(tokens(id), content.tokens) &&
               std::ranges::equal(marks_[node.label].marks, content.marks);
    });
}

ContentId PrefixTree::use_root(const Scope& scope) {
    if (const ContentId found = find_root(scope); found != no_content) {
        use(found);
        return found;
    }
    const std::uint32_t label = own(scope);
    const ContentId node = new_node(scope_hash(scope), no_content);
    nodes_[index(node)].label = label;
    return node;
}

ContentId PrefixTree::use_child(ContentId parent, const BlockContent& content) {
    const std::uint64_t hash = child_hash(this->hash(parent), content);
    if (const ContentId found = find_child(parent, content, hash); found != no_content) {
        use(found);
        return found;
    }
    const std::uint32_t label = content.marks.empty() ? 0 : own(content.marks);
    const ContentId node = new_node(hash, parent);
    nodes_[index(node)].label = label;
    nodes_[index(node)].length = static_cast<std::uint32_t>(content.tokens.size());
    std::ranges::copy(content.tokens, tokens_.begin() + static_cast<std::ptrdiff_t>(index(node)) * block_size_);
    use(parent);
    return node;
}

void PrefixTree::drop(ContentId node) noexcept {
    while (node != no_content) {
        Node& gone = nodes_[index(node)];
        promise(gone.uses > 0, "X1", "a prefix was given up that nobody uses");
        if (--gone.uses > 0) {
            return;
        }
        erase(node);
        if (gone.parent == no_content) {
            scopes_[gone.label].next_free = free_scope_;
            free_scope_ = gone.label;
        } else if (gone.label != 0) {
            marks_[gone.label].next_free = free_marks_;
            free_marks_ = gone.label;
        }
        const ContentId parent = gone.parent;
        gone.parent = free_nodes_;
        free_nodes_ = node;
        --live_;
        node = parent;
    }
}

std::uint64_t PrefixTree::child_hash(std::uint64_t parent_hash, const BlockContent& content) const noexcept {
    std::uint64_t hash = hash_.tokens(parent_hash, content.tokens);
    for (const ContentMark& mark : content.marks) {
        hash = hash_.number(hash, (std::uint64_t{mark.begin} << 32U) | mark.end);
        hash = hash_.text(hash_.number(hash, static_cast<std::uint64_t>(mark.skipped)), mark.id);
    }
    return hash;
}

void PrefixTree::prefetch_slot(std::uint64_t hash) const noexcept {
    __builtin_prefetch(table_.data() + (hash & (table_.size() - 1)));
}

ContentId PrefixTree::prefetch_node(std::uint64_t hash) const noexcept {
    const ContentId node = table_[hash & (table_.size() - 1)];
    const Token* tokens = tokens_.data() + std::size_t{index(node)} * block_size_;
    __builtin_prefetch(&nodes_[index(node)]);
    __builtin_prefetch(&nodes_[index(node)].label);  // a node may lie on two lines, and so may the tokens
    __builtin_prefetch(tokens);
    __builtin_prefetch(tokens + block_size_ - 1);
    return node;
}

std::uint64_t PrefixTree::scope_hash(const Scope& scope) const noexcept {
    std::uint64_t hash = hash_.text(1, scope.model);
    hash = hash_.text(hash, scope.adapter);
    hash = hash_.number(hash, static_cast<std::uint64_t>(scope.adapter_id));
    hash = hash_.text(hash, scope.tenant);
    return hash_.text(hash, scope.salt);
}

template <class Same>
ContentId PrefixTree::probe(std::uint64_t hash, Same same) const noexcept {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = hash & mask; table_[at] != no_content; at = (at + 1) & mask) {
        const Node& node = nodes_[index(table_[at])];
        if (node.hash == hash && same(node)) {
            return table_[at];
        }
    }
    return no_content;
}

void PrefixTree::make_room(std::size_t more) {
    while (2 * (live_ + more) > table_.size()) {
        grow_table();
    }
    const std::size_t slots = nodes_.size() + more;
    if (slots > nodes_.capacity()) {
        nodes_.reserve(2 * slots);
    }
    if (slots * block_size_ > tokens_.capacity()) {
        tokens_.reserve(2 * slots * block_size_);
    }
}

ContentId PrefixTree::new_node(std::uint64_t hash, ContentId parent) {
    make_room(1);
    if (free_nodes_ == no_content) {
        tokens_.resize(tokens_.size() + block_size_);
        nodes_.emplace_back();
        free_nodes_ = static_cast<ContentId>(nodes_.size() - 1);
    }
    const ContentId node = free_nodes_;
    free_nodes_ = nodes_[index(node)].parent;
    nodes_[index(node)] = {hash, ++last_serial_, parent, parent == no_content ? node : nodes_[index(parent)].root, 1, 0,
                           0};
    insert(node);
    ++live_;
    return node;
}

void PrefixTree::insert(ContentId node) noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = nodes_[index(node)].hash & mask;
    while (table_[at] != no_content) {
        at = (at + 1) & mask;
    }
    table_[at] = node;
}

// Moves later entries of the run into the gap, so that no tombstone is left behind.
void PrefixTree::erase(ContentId node) noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t gap = nodes_[index(node)].hash & mask;
    while (table_[gap] != node) {
        gap = (gap + 1) & mask;
    }
    for (std::size_t at = (gap + 1) & mask; table_[at] != no_content; at = (at + 1) & mask) {
        const std::size_t home = nodes_[index(table_[at])].hash & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table_[gap] = table_[at];
            gap = at;
        }
    }
    table_[gap] = no_content;
}

void PrefixTree::grow_table() {
    std::vector<ContentId> old(2 * table_.size());
    old.swap(table_);
    for (const ContentId node : old) {
        if (node != no_content) {
            insert(node);
        }
    }
}

void PrefixTree::make_room_for_marks(std::size_t more, std::size_t marks, std::size_t characters) {
    std::uint32_t last = 0;
    for (std::uint32_t label = free_marks_; more > 0; --more) {
        if (label == 0) {
            marks_.emplace_back();
            label = static_cast<std::uint32_t>(marks_.size() - 1);
            (last == 0 ? free_marks_ : marks_[last].next_free) = label;
        }
        marks_[label].text.reserve(characters + on_the_heap);
        marks_[label].marks.reserve(marks);
        last = label;
        label = marks_[label].next_free;
    }
}

std::uint32_t PrefixTree::own(const Scope& scope) {
    if (free_scope_ == 0) {
        scopes_.emplace_back();
        free_scope_ = static_cast<std::uint32_t>(scopes_.size() - 1);
    }
    const std::uint32_t label = free_scope_;
    scopes_[label].own(scope);
    free_scope_ = scopes_[label].next_free;
    return label;
}

std::uint32_t PrefixTree::own(std::span<const ContentMark> marks) {
    if (free_marks_ == 0) {
        marks_.emplace_back();
        free_marks_ = static_cast<std::uint32_t>(marks_.size() - 1);
    }
    const std::uint32_t label = free_marks_;
    marks_[label].own(marks);
    free_marks_ = marks_[label].next_free;
    return label;
}

void PrefixTree::OwnedScope::own(const Scope& scope) {
    text.reserve(text_size(scope) + on_the_heap);
    view = copy_scope(scope, text);
}

PrefixTree::OwnedScope& PrefixTree::OwnedScope::operator=(const OwnedScope& other) {
    if (this != &other) {
        own(other.view);
        next_free = other.next_free;
    }
    return *this;
}

void PrefixTree::OwnedMarks::own(std::span<const ContentMark> of) {
    std::size_t characters = on_the_heap;
    std::ranges::for_each(of, [&](const ContentMark& mark) { characters += mark.id.size(); });
    text.clear();
    text.reserve(characters);
    marks.assign(of.begin(), of.end());
    for (ContentMark& mark : marks) {
        mark.id = keep(text, mark.id);
    }
}

PrefixTree::OwnedMarks& PrefixTree::OwnedMarks::operator=(const OwnedMarks& other) {
    if (this != &other) {
        own(other.marks);
        next_free = other.next_free;
    }
    return *this;
}

}  // namespace kvpane

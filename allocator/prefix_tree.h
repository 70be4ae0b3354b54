// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kvpane/allocator/content_hash.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/scope.h>

namespace kvpane {

// A piece of external content inside one block: cells [begin, end) stand for the cells of content `id` from `skipped`
// on. Part of a block's identity.
struct ContentMark {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    Length skipped = 0;
    std::string_view id{};

    friend bool operator==(const ContentMark&, const ContentMark&) = default;
};

// What one block holds, beside everything before it: up to block_size tokens, and the external content behind them.
struct BlockContent {
    std::span<const Token> tokens;
    std::span<const ContentMark> marks{};
};

// The identities of prefixes: a tree with one root for each scope, in which a node is "these tokens behind that node".
// Two prefixes are equal if and only if they end at the same node; a hash finds the candidate, the stored tokens and
// the parent's identity decide.
//
// A node lives as long as somebody uses it: a sequence that stands there, a block that is known by it, or a child. So an
// identity outlives its own block while a descendant needs it (windows drop the early blocks first).
//
// COST: find, hold and drop are O(block_size) expected; dropping the last use also frees ancestors that nobody else
// uses. Memory grows like a std::vector when there are more nodes than `expected_nodes`, and is kept.
class PrefixTree {
public:
    PrefixTree(std::uint32_t block_size, std::size_t expected_nodes, bool constant_hash);

    // The root of a scope, `no_content` when nobody uses it. Nothing changes.
    ContentId find_root(const Scope& scope) const noexcept;

    // The child of `parent` with this content, `no_content` when nobody uses it. Nothing changes.
    ContentId find_child(ContentId parent, const BlockContent& content) const noexcept;

    // The same, made when there is none; the caller becomes a user.
    ContentId use_root(const Scope& scope);
    ContentId use_child(ContentId parent, const BlockContent& content);

    // After this, `more` new nodes need no memory (their external content aside, see below).
    void make_room(std::size_t more);

    // After this, `more` of these may have up to `marks` pieces of external content, with ids of `characters` together.
    void make_room_for_marks(std::size_t more, std::size_t marks, std::size_t characters);

    // Ids handed out so far lie below this.
    std::size_t slots() const noexcept { return nodes_.size(); }

    void use(ContentId node) noexcept { ++nodes_[index(node)].uses; }
    void drop(ContentId node) noexcept;

    bool is_root(ContentId node) const noexcept { return nodes_[index(node)].parent == no_content; }
    ContentId parent(ContentId node) const noexcept { return nodes_[index(node)].parent; }
    std::span<const Token> tokens(ContentId node) const noexcept {
        return {tokens_.data() + std::size_t{index(node)} * block_size_, nodes_[index(node)].length};
    }

    std::span<const ContentMark> marks(ContentId node) const noexcept {
        return marks_[nodes_[index(node)].label].marks;
    }

    // Names the node for ever: no other one gets the number, not even in the same memory.
    std::uint64_t serial(ContentId node) const noexcept { return nodes_[index(node)].serial; }

    // The hash of a prefix: what find_child() would look for. Lets a search hash some blocks before it gets there.
    std::uint64_t hash(ContentId node) const noexcept { return nodes_[index(node)].hash; }
    std::uint64_t child_hash(std::uint64_t parent_hash, const BlockContent& content) const noexcept;
    ContentId find_child(ContentId parent, const BlockContent& content, std::uint64_t hash) const noexcept;

    // Bring what find_child() will read into the caches, without waiting: the slot of the table; then, best some blocks
    // later, what the slot names. The latter gives the node that is there, most often the right one.
    void prefetch_slot(std::uint64_t hash) const noexcept;
    ContentId prefetch_node(std::uint64_t hash) const noexcept;

    std::size_t nodes() const noexcept { return live_; }
    const Scope& scope(ContentId node) const noexcept {
        return scopes_[nodes_[index(nodes_[index(node)].root)].label].view;
    }

private:
    friend struct Tamper;

    struct Node {
        std::uint64_t hash = 0;
        std::uint64_t serial = 0;
        ContentId parent = no_content;  // of a root: no_content; of a free node: the next free one
        ContentId root = no_content;
        std::uint32_t uses = 0;
        std::uint32_t length = 0;  // tokens; 0 for a root
        std::uint32_t label = 0;   // of a root: its scope, in scopes_; else its marks, in marks_
    };
    // Both own the text that their views point into: a copy gets views of its own.
    struct OwnedScope {
        OwnedScope() = default;
        OwnedScope(const OwnedScope& other) { *this = other; }
        OwnedScope(OwnedScope&&) = default;
        OwnedScope& operator=(const OwnedScope& other);
        OwnedScope& operator=(OwnedScope&&) = default;
        void own(const Scope& scope);

        std::string text;  // all parts
        Scope view;
        std::uint32_t next_free = 0;
    };
    struct OwnedMarks {
        OwnedMarks() = default;
        OwnedMarks(const OwnedMarks& other) { *this = other; }
        OwnedMarks(OwnedMarks&&) = default;
        OwnedMarks& operator=(const OwnedMarks& other);
        OwnedMarks& operator=(OwnedMarks&&) = default;
        void own(std::span<const ContentMark> of);

        std::string text;
        std::vector<ContentMark> marks;
        std::uint32_t next_free = 0;
    };

    static std::uint32_t index(ContentId node) noexcept { return static_cast<std::uint32_t>(node); }
    std::uint64_t scope_hash(const Scope& scope) const noexcept;
    bool is_child(ContentId node, ContentId parent, const BlockContent& content) const noexcept;
    template <class Same>
    ContentId probe(std::uint64_t hash, Same same) const noexcept;
    ContentId new_node(std::uint64_t hash, ContentId parent);
    void insert(ContentId node) noexcept;
    KVPANE_WRAPS void erase(ContentId node) noexcept;
    void grow_table();
    std::uint32_t own(const Scope& scope);
    std::uint32_t own(std::span<const ContentMark> marks);

    ContentHash hash_;
    std::uint32_t block_size_;
    std::vector<Node> nodes_;         // [nodes + 1]; 0 is `no_content`
    std::vector<Token> tokens_;       // [nodes + 1, block_size]
    std::vector<ContentId> table_;    // open addressing, linear probing; a power of two, at most half full
    std::vector<OwnedScope> scopes_;  // by label; 0 = none
    std::vector<OwnedMarks> marks_;   // by label; 0 = no marks
    std::uint32_t free_scope_ = 0;    // the labels free for use, a list; 0 ends it
    std::uint32_t free_marks_ = 0;
    ContentId free_nodes_ = no_content;
    std::size_t live_ = 0;
    std::uint64_t last_serial_ = 0;
};

}  // namespace kvpane

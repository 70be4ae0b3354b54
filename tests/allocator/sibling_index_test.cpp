// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include <kvpane/allocator/prefix_tree.h>
#include <kvpane/allocator/sibling_index.h>

#include "support/kv.h"
#include "support/workloads.h"

namespace kvpane::testing {

namespace {

constexpr std::uint32_t block_size = 4;
constexpr std::uint32_t blocks = 64;
constexpr GroupId group{0};

// A tree and the index over it; blocks are added with the tokens that they hold behind the root.
class Siblings {
public:
    explicit Siblings(bool constant_hash)
        : tree_(block_size, blocks, constant_hash), index_(blocks, block_size, constant_hash) {
        root_ = tree_.use_root({});
        index_.make_room(blocks);
    }

    ContentId root() const { return root_; }

    void add(std::uint32_t block, const Tokens& tokens, ContentId parent, GroupId in = group,
             const std::vector<ContentMark>& marks = {}) {
        nodes_[block] = tree_.use_child(parent, {tokens, marks});
        index_.add(tree_, nodes_[block], in, BlockId{block});
    }
    void add(std::uint32_t block, const Tokens& tokens) { add(block, tokens, root_); }

    void remove(std::uint32_t block) {
        index_.remove(tree_, nodes_.at(block), BlockId{block});
        tree_.drop(nodes_.at(block));
        nodes_.erase(block);
    }

    SiblingIndex::Found find(const Tokens& tokens, ContentId parent, GroupId in = group,
                             const std::vector<ContentMark>& marks = {}) const {
        return index_.find(tree_, parent, in, {tokens, marks});
    }
    void expect(const Tokens& tokens, std::uint32_t cells, std::uint32_t block) const {
        const SiblingIndex::Found found = find(tokens, root_);
        BOOST_TEST(found.cells == cells);
        BOOST_TEST(found.oldest == BlockId{block});
    }

    ContentId node(std::uint32_t block) const { return nodes_.at(block); }

private:
    PrefixTree tree_;
    SiblingIndex index_;
    ContentId root_ = no_content;
    std::map<std::uint32_t, ContentId> nodes_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sibling_indices)

BOOST_AUTO_TEST_CASE(the_longest_beginning_is_found_and_the_oldest_of_those_that_have_it) {
    for (const bool constant_hash : {false, true}) {
        Siblings siblings(constant_hash);
        siblings.expect({1, 2, 3, 4}, 0, 0);
        siblings.add(1, {1, 2, 3, 4});
        siblings.add(2, {1, 2, 9, 9});
        siblings.add(3, {1, 2, 3, 5});
        siblings.add(4, {1, 2, 3});
        siblings.expect({1, 2, 3, 4}, 4, 1);
        siblings.expect({1, 2, 3, 5}, 4, 3);
        siblings.expect({1, 2, 3, 7}, 3, 1);
        siblings.expect({1, 2, 9, 7}, 3, 2);
        siblings.expect({1, 2}, 2, 1);
        siblings.expect({1, 7}, 1, 1);
        siblings.expect({7, 2, 3, 4}, 0, 0);
        siblings.remove(1);
        siblings.expect({1, 2, 3, 4}, 3, 3);
        siblings.expect({1, 7}, 1, 2);
        siblings.remove(2);
        siblings.remove(3);
        siblings.expect({1, 2, 9, 9}, 2, 4);
        siblings.remove(4);
        siblings.expect({1, 2, 3, 4}, 0, 0);
    }
}

BOOST_AUTO_TEST_CASE(copies_of_one_content_stand_in_a_row_by_age) {
    Siblings siblings(false);
    siblings.add(5, {1, 2, 3, 4});
    siblings.add(6, {1, 2, 3, 4});
    siblings.expect({1, 2, 3, 4}, 4, 5);
    siblings.remove(5);
    siblings.expect({1, 2, 3, 4}, 4, 6);
    siblings.add(5, {1, 2, 3, 4});
    siblings.expect({1, 2, 3, 4}, 4, 6);
}

BOOST_AUTO_TEST_CASE(parents_and_groups_are_kept_apart) {
    for (const bool constant_hash : {false, true}) {
        Siblings siblings(constant_hash);
        siblings.add(1, {1, 2, 3, 4});
        siblings.add(2, {1, 2, 3, 4}, siblings.node(1));
        siblings.add(3, {1, 2, 3, 4}, siblings.root(), GroupId{1});
        BOOST_TEST(siblings.find({1, 2}, siblings.root()).oldest == BlockId{1});
        BOOST_TEST(siblings.find({1, 2}, siblings.node(1)).oldest == BlockId{2});
        BOOST_TEST(siblings.find({1, 2}, siblings.root(), GroupId{1}).oldest == BlockId{3});
        BOOST_TEST(siblings.find({1, 2}, siblings.node(2)).cells == 0U);
        BOOST_TEST(siblings.find({1, 2}, siblings.node(1), GroupId{1}).cells == 0U);
        siblings.remove(2);
        BOOST_TEST(siblings.find({1, 2}, siblings.root()).oldest == BlockId{1});
    }
}

BOOST_AUTO_TEST_CASE(external_content_limits_a_common_beginning) {
    Siblings siblings(false);
    const std::vector<ContentMark> image{{1, 3, 0, "a"}};
    siblings.add(1, {7, 7, 7, 7}, siblings.root(), group, image);
    const auto cells = [&](const std::vector<ContentMark>& marks) {
        return siblings.find({7, 7, 7, 7}, siblings.root(), group, marks).cells;
    };
    BOOST_TEST(cells(image) == 4U);
    BOOST_TEST(cells({}) == 1U);
    BOOST_TEST(cells({{1, 2, 0, "a"}}) == 2U);
    BOOST_TEST(cells({{1, 4, 0, "a"}}) == 3U);
    BOOST_TEST(cells({{1, 3, 0, "b"}}) == 1U);
    BOOST_TEST(cells({{1, 3, 1, "a"}}) == 1U);
    BOOST_TEST(cells({{0, 3, 0, "a"}}) == 0U);
}

BOOST_AUTO_TEST_CASE(many_siblings_come_and_go_as_in_a_naive_list) {
    for (const bool constant_hash : {false, true}) {
        Siblings siblings(constant_hash);
        std::vector<std::pair<std::uint32_t, Tokens>> known;  // oldest first
        Lcg lcg(11);
        const auto some = [&](std::uint64_t most) {
            Tokens out;
            for (std::uint64_t n = 1 + lcg.below(most); n > 0; --n) {
                out.push_back(static_cast<Token>(lcg.below(3)));
            }
            return out;
        };
        for (int round = 0; round < 4000; ++round) {
            const auto block = static_cast<std::uint32_t>(1 + lcg.below(blocks));
            const auto at = std::ranges::find(known, block, &std::pair<std::uint32_t, Tokens>::first);
            if (at == known.end()) {
                known.emplace_back(block, some(block_size));
                siblings.add(block, known.back().second);
            } else if (lcg.below(2) == 0) {
                siblings.remove(block);
                known.erase(at);
            }
            const Tokens asked = some(block_size);
            std::uint32_t cells = 0;
            std::uint32_t oldest = 0;
            for (const auto& [other, tokens] : known) {
                const auto common =
                    static_cast<std::uint32_t>(std::ranges::mismatch(tokens, asked).in2 - asked.begin());
                if (common > cells) {
                    cells = common;
                    oldest = other;
                }
            }
            const SiblingIndex::Found found = siblings.find(asked, siblings.root());
            BOOST_TEST_REQUIRE(found.cells == cells);
            BOOST_TEST_REQUIRE(found.oldest == BlockId{oldest});
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

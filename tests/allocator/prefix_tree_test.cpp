// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <kvpane/allocator/prefix_tree.h>

#include "support/kv.h"
#include "support/workloads.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

constexpr bool both_hashes[] = {false, true};

ContentId find(const PrefixTree& tree, ContentId parent, const Tokens& tokens,
               const std::vector<ContentMark>& marks = {}) {
    return tree.find_child(parent, {tokens, marks});
}

ContentId use(PrefixTree& tree, ContentId parent, const Tokens& tokens, const std::vector<ContentMark>& marks = {}) {
    return tree.use_child(parent, {tokens, marks});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_trees)

BOOST_AUTO_TEST_CASE(equal_prefixes_are_one_node_and_different_ones_are_not) {
    for (const bool constant_hash : both_hashes) {
        PrefixTree tree(4, 16, constant_hash);
        BOOST_TEST(tree.find_root({}) == no_content);
        const ContentId root = tree.use_root({});
        BOOST_TEST(tree.find_root({}) == root);
        BOOST_TEST(tree.is_root(root));
        const ContentId a = use(tree, root, {1, 2, 3, 4});
        BOOST_TEST(use(tree, root, {1, 2, 3, 4}) == a);
        const ContentId shorter = use(tree, root, {1, 2, 3});
        BOOST_TEST(shorter != a);
        const ContentId same_tokens_later = use(tree, a, {1, 2, 3, 4});
        BOOST_TEST(same_tokens_later != a);
        BOOST_TEST(find(tree, root, {1, 2, 3, 5}) == no_content);
        BOOST_TEST(find(tree, shorter, {1, 2, 3, 4}) == no_content);
        BOOST_TEST(find(tree, a, {1, 2, 3, 4}) == same_tokens_later);
        BOOST_TEST(tree.nodes() == 4U);
        BOOST_TEST(tree.tokens(a) == Tokens({1, 2, 3, 4}), per_element());
        BOOST_TEST(tree.tokens(shorter) == Tokens({1, 2, 3}), per_element());
        BOOST_TEST(tree.parent(same_tokens_later) == a);
        BOOST_TEST(!tree.is_root(a));
    }
}

BOOST_AUTO_TEST_CASE(scopes_have_roots_of_their_own) {
    for (const bool constant_hash : both_hashes) {
        PrefixTree tree(4, 16, constant_hash);
        const std::vector<Scope> scopes{{},
                                        {.model = "x"},
                                        {.adapter = "x"},
                                        {.tenant = "x"},
                                        {.salt = "x"},
                                        {.adapter_id = 1},
                                        {.adapter = "ab", .tenant = "c"},
                                        {.adapter = "a", .tenant = "bc"}};
        std::vector<ContentId> roots;
        for (const Scope& scope : scopes) {
            BOOST_TEST(tree.find_root(scope) == no_content);
            roots.push_back(tree.use_root(scope));
        }
        for (std::size_t i = 0; i < scopes.size(); ++i) {
            BOOST_TEST(tree.find_root(scopes[i]) == roots[i]);
            BOOST_TEST((tree.scope(roots[i]) == scopes[i]));
            const ContentId child = use(tree, roots[i], {1});
            BOOST_TEST((tree.scope(child) == scopes[i]));
        }
        BOOST_TEST(tree.nodes() == 2 * scopes.size());
    }
}

BOOST_AUTO_TEST_CASE(a_scope_is_kept_when_the_callers_text_is_gone) {
    PrefixTree tree(4, 4, false);
    ContentId root = no_content;
    {
        const std::string text(100, 't');
        root = tree.use_root({.tenant = text});
    }
    BOOST_TEST(tree.scope(root).tenant == std::string(100, 't'));
}

BOOST_AUTO_TEST_CASE(external_content_tells_nodes_apart) {
    for (const bool constant_hash : both_hashes) {
        PrefixTree tree(4, 16, constant_hash);
        const ContentId root = tree.use_root({});
        const Tokens tokens{7, 7, 7, 7};
        const std::vector<std::vector<ContentMark>> all{
            {},
            {{1, 3, 0, "a"}},
            {{1, 3, 0, "b"}},
            {{1, 3, 4, "a"}},
            {{1, 4, 0, "a"}},
            {{0, 3, 0, "a"}},
            {{1, 2, 0, "a"}, {2, 3, 0, "a"}},
        };
        std::vector<ContentId> nodes;
        for (const auto& marks : all) {
            BOOST_TEST(find(tree, root, tokens, marks) == no_content);
            nodes.push_back(use(tree, root, tokens, marks));
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            BOOST_TEST(find(tree, root, tokens, all[i]) == nodes[i]);
            const auto marks = tree.marks(nodes[i]);
            BOOST_TEST((std::vector<ContentMark>(marks.begin(), marks.end()) == all[i]));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_node_lives_as_long_as_a_user_or_a_descendant_needs_it) {
    PrefixTree tree(2, 8, false);
    const ContentId root = tree.use_root({});
    const ContentId a = use(tree, root, {1, 2});
    const ContentId b = use(tree, a, {3, 4});
    const ContentId c = use(tree, b, {5});
    tree.drop(root);
    tree.drop(a);
    tree.drop(b);
    BOOST_TEST(tree.nodes() == 4U);
    BOOST_TEST(find(tree, root, {1, 2}) == a);
    tree.use(b);
    tree.drop(c);
    BOOST_TEST(find(tree, b, {5}) == no_content);
    BOOST_TEST(tree.nodes() == 3U);
    tree.drop(b);  // takes all of them along
    BOOST_TEST(tree.nodes() == 0U);
    BOOST_TEST(tree.find_root({}) == no_content);
}

BOOST_AUTO_TEST_CASE(every_user_counts) {
    PrefixTree tree(2, 8, false);
    const ContentId root = tree.use_root({});
    const ContentId a = use(tree, root, {1});
    use(tree, root, {1});
    tree.use(a);
    tree.drop(a);
    tree.drop(a);
    BOOST_TEST(find(tree, root, {1}) == a);
    tree.drop(a);
    BOOST_TEST(find(tree, root, {1}) == no_content);
    BOOST_TEST(tree.nodes() == 1U);
}

BOOST_AUTO_TEST_CASE(a_serial_names_a_node_for_ever) {
    PrefixTree tree(2, 2, false);
    const ContentId root = tree.use_root({});
    std::map<std::uint64_t, int> seen;
    for (int round = 0; round < 20; ++round) {
        const ContentId node = use(tree, root, {1});
        BOOST_TEST(++seen[tree.serial(node)] == 1);
        tree.drop(node);
    }
    BOOST_TEST(tree.slots() < 10U);  // the memory is used again
}

BOOST_AUTO_TEST_CASE(a_hash_that_is_computed_ahead_finds_the_same_nodes) {
    for (const bool constant_hash : both_hashes) {
        PrefixTree tree(4, 8, constant_hash);
        const ContentId root = tree.use_root({.tenant = "t"});
        const Tokens tokens{1, 2, 3, 4};
        const std::vector<ContentMark> marks{{0, 2, 0, "a"}};
        const ContentId node = use(tree, root, tokens, marks);
        const std::uint64_t hash = tree.child_hash(tree.hash(root), {tokens, marks});
        BOOST_TEST(hash == tree.hash(node));
        tree.prefetch_slot(hash);
        tree.prefetch_node(hash);
        BOOST_TEST(tree.find_child(root, {tokens, marks}, hash) == node);
    }
}

BOOST_AUTO_TEST_CASE(a_tree_grows_and_shrinks_like_a_naive_one) {
    for (const bool constant_hash : both_hashes) {
        PrefixTree tree(3, 4, constant_hash);
        const ContentId root = tree.use_root({});
        std::map<Tokens, std::pair<ContentId, int>> known;  // by the whole prefix: node, uses
        known[{}] = {root, 1};
        Lcg lcg(7);
        const int rounds = constant_hash ? 1000 : 4000;
        for (int round = 0; round < rounds; ++round) {
            auto at = std::next(known.begin(), static_cast<std::ptrdiff_t>(lcg.below(known.size())));
            const Tokens prefix = at->first;
            if (lcg.below(3) == 0) {
                if (!prefix.empty() && at->second.second > 0) {
                    tree.drop(at->second.first);
                    at->second.second -= 1;
                }
            } else if (prefix.size() < 12 && prefix.size() % 3 == 0) {
                Tokens part;
                for (std::uint64_t n = 1 + lcg.below(3); n > 0; --n) {
                    part.push_back(static_cast<Token>(lcg.below(3)));
                }
                Tokens longer = prefix;
                longer.insert(longer.end(), part.begin(), part.end());
                const ContentId found = find(tree, at->second.first, part);
                const auto same = known.find(longer);
                BOOST_TEST_REQUIRE(found == (same == known.end() ? no_content : same->second.first));
                const ContentId node = use(tree, at->second.first, part);
                auto& entry = known[longer];
                entry = {node, entry.second + 1};
            }
            // Forget what nobody needs, deepest first.
            for (auto last = known.rbegin(); last != known.rend();) {
                const Tokens& key = last->first;
                const auto next = known.upper_bound(key);
                const bool has_descendant = next != known.end() && next->first.size() > key.size() &&
                                            std::equal(key.begin(), key.end(), next->first.begin()) &&
                                            key.size() % 3 == 0;
                if (last->second.second == 0 && !has_descendant) {
                    last = std::make_reverse_iterator(known.erase(std::next(last).base()));
                } else {
                    ++last;
                }
            }
            BOOST_TEST_REQUIRE(tree.nodes() == known.size());
        }
        for (const auto& [prefix, entry] : known) {
            if (!prefix.empty()) {
                const std::size_t begin = (prefix.size() - 1) / 3 * 3;
                const Tokens head(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(begin));
                const Tokens part(prefix.begin() + static_cast<std::ptrdiff_t>(begin), prefix.end());
                BOOST_TEST(find(tree, known.at(head).first, part) == entry.first);
            }
        }
        BOOST_TEST(known.size() > 20U);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/prefix_index.h>

#include "support/kv.h"

namespace kvpane::testing {

namespace {

PrefixIndexOptions options(bool by_token, bool constant_hash = false) {
    PrefixIndexOptions out;
    out.by_token = by_token;
    out.constant_hash = constant_hash;
    return out;
}

std::uint64_t digest_of(const PrefixIndex& index) {
    Digest digest;
    index.add_to(digest);
    return digest.value();
}

// An index of blocks of four with the node {1, 2, 3, 4} in it.
struct OneNode {
    PrefixIndex index;
    ContentId root = no_content;
    ContentId node = no_content;

    explicit OneNode(bool by_token = false) : index(4, 8, 2, options(by_token)) {
        index.make_room(8);
        root = index.tree().use_root({});
        const Tokens tokens{1, 2, 3, 4};
        node = index.tree().use_child(root, {tokens, {}});
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_indices)

BOOST_AUTO_TEST_CASE(the_oldest_copy_is_found_in_each_group) {
    OneNode one;
    BOOST_TEST(one.index.oldest(one.node, first_group) == null_block);
    one.index.publish(one.node, first_group, BlockId{3});
    one.index.publish(one.node, first_group, BlockId{1});
    one.index.publish(one.node, second_group, BlockId{2});
    one.index.publish(one.node, first_group, BlockId{4});
    BOOST_TEST(one.index.entries() == 4U);
    BOOST_TEST(one.index.oldest(one.node, first_group) == BlockId{3});
    BOOST_TEST(one.index.oldest(one.node, second_group) == BlockId{2});
    BOOST_TEST(one.index.group(BlockId{2}) == second_group);
    BOOST_TEST(one.index.younger(BlockId{3}) == BlockId{1});
    BOOST_TEST(one.index.younger(BlockId{1}) == BlockId{4});
    BOOST_TEST(one.index.younger(BlockId{4}) == null_block);
    one.index.withdraw(one.node, BlockId{1});
    BOOST_TEST(one.index.younger(BlockId{3}) == BlockId{4});
    one.index.withdraw(one.node, BlockId{3});
    BOOST_TEST(one.index.oldest(one.node, first_group) == BlockId{4});
    one.index.withdraw(one.node, BlockId{4});
    BOOST_TEST(one.index.oldest(one.node, first_group) == null_block);
    BOOST_TEST(one.index.oldest(one.node, second_group) == BlockId{2});
    BOOST_TEST(one.index.entries() == 1U);
}

BOOST_AUTO_TEST_CASE(stored_goes_with_the_first_copy_and_removed_with_the_last) {
    OneNode one;
    one.index.publish(one.node, first_group, BlockId{1});
    one.index.publish(one.node, first_group, BlockId{2});
    one.index.publish(one.node, second_group, BlockId{3});
    BOOST_TEST(one.index.events().totals().stored == 2U);
    one.index.withdraw(one.node, BlockId{1});
    BOOST_TEST(one.index.events().totals().removed == 0U);
    one.index.withdraw(one.node, BlockId{2});
    BOOST_TEST(one.index.events().totals().removed == 1U);
    BOOST_TEST(one.index.events().read(3).group == first_group);
    BOOST_TEST(one.index.events().read(3).content == one.index.events().read(1).content);
}

BOOST_AUTO_TEST_CASE(an_entry_uses_its_node) {
    OneNode one;
    one.index.publish(one.node, first_group, BlockId{1});
    one.index.tree().drop(one.node);
    one.index.tree().drop(one.root);
    const Tokens tokens{1, 2, 3, 4};
    BOOST_TEST(one.index.tree().find_child(one.root, {tokens, {}}) == one.node);
    one.index.withdraw(one.node, BlockId{1});
    BOOST_TEST(one.index.tree().nodes() == 0U);
}

BOOST_AUTO_TEST_CASE(a_clearing_is_one_event_for_all_of_it) {
    OneNode one;
    one.index.publish(one.node, first_group, BlockId{1});
    one.index.publish(one.node, second_group, BlockId{2});
    one.index.begin_clearing();
    one.index.withdraw(one.node, BlockId{1});
    one.index.withdraw(one.node, BlockId{2});
    one.index.end_clearing(2);
    BOOST_TEST(one.index.events().next() == 4U);
    BOOST_TEST((one.index.events().read(3).kind == CacheEvent::Kind::cleared));
    BOOST_TEST(one.index.events().totals().removed == 0U);
    BOOST_TEST(one.index.events().totals().cleared == 2U);
}

BOOST_AUTO_TEST_CASE(beginnings_are_found_only_by_token) {
    const Tokens asked{1, 2, 9};
    for (const bool by_token : {false, true}) {
        OneNode one(by_token);
        one.index.publish(one.node, first_group, BlockId{1});
        const auto found = one.index.find_beginning(one.root, first_group, {asked, {}});
        BOOST_TEST(found.cells == (by_token ? 2U : 0U));
        BOOST_TEST(found.oldest == (by_token ? BlockId{1} : null_block));
        BOOST_TEST(one.index.find_beginning(one.root, second_group, {asked, {}}).cells == 0U);
        one.index.withdraw(one.node, BlockId{1});
        BOOST_TEST(one.index.find_beginning(one.root, first_group, {asked, {}}).cells == 0U);
    }
}

BOOST_AUTO_TEST_CASE(the_age_of_copies_is_part_of_the_digest) {
    OneNode one;
    OneNode two;
    one.index.publish(one.node, first_group, BlockId{1});
    two.index.publish(two.node, first_group, BlockId{2});
    one.index.publish(one.node, first_group, BlockId{2});
    two.index.publish(two.node, first_group, BlockId{1});
    BOOST_TEST(digest_of(one.index) != digest_of(two.index));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <vector>

#include <kvpane/blocktable/block_table.h>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

constexpr BlockShape shape(4);

BlockTable table_of_blocks(std::uint32_t count, std::uint32_t sink_blocks = 0) {
    BlockTable table(sink_blocks);
    for (std::uint32_t id = 1; id <= count; ++id) {
        table.append(BlockId{id});
    }
    return table;
}

Ids entries_of(const BlockTable& table) {
    Ids out;
    for (std::uint32_t entry = 0; entry < table.size(); ++entry) {
        out.push_back(to_index(table[entry]));
    }
    return out;
}

std::uint64_t digest_of(const BlockTable& table) {
    Digest digest;
    table.add_to(digest);
    return digest.value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(block_tables)

BOOST_AUTO_TEST_CASE(a_new_table_holds_nothing) {
    const BlockTable table(2);
    BOOST_TEST(table.size() == 0U);
    BOOST_TEST(table.held() == 0U);
    BOOST_TEST(table.run_is_empty());
    BOOST_TEST(table[0] == null_block);
    BOOST_TEST(table.first_resident(shape, 0) == 0);
}

BOOST_AUTO_TEST_CASE(dropping_the_front_leaves_holes_and_the_sinks) {
    BlockTable table = table_of_blocks(5, 1);
    table.drop_front(3);
    BOOST_TEST(entries_of(table) == Ids({1, 0, 0, 4, 5}), per_element());
    BOOST_TEST(table.held() == 3U);
    BOOST_TEST(table.sinks() == 1U);
    BOOST_TEST(table.first() == 3U);
    BOOST_TEST(table.sink_part().size() == 1U);
    BOOST_TEST(table.run_part().size() == 2U);
    BOOST_TEST(table.holds(0));
    BOOST_TEST(!table.holds(2));
    BOOST_TEST(!table.holds(5));
    BOOST_TEST(table.first_resident(shape, 18) == 12);
}

BOOST_AUTO_TEST_CASE(the_first_block_kept_is_the_one_that_holds_the_position) {
    BlockTable table = table_of_blocks(5, 1);
    BOOST_TEST(table.first_after(shape, 0) == 1U);  // the sinks stay
    BOOST_TEST(table.first_after(shape, 7) == 1U);
    BOOST_TEST(table.first_after(shape, 8) == 2U);
    BOOST_TEST(table.first_after(shape, 100) == 5U);
    table.drop_front(3);
    BOOST_TEST(table.first_after(shape, 8) == 3U);  // never backwards
}

BOOST_AUTO_TEST_CASE(cells_are_held_in_the_sinks_and_in_the_run_and_nowhere_between) {
    BlockTable table = table_of_blocks(5, 1);
    table.drop_front(3);
    BOOST_TEST(table.holds_cells(shape, 0, 4));
    BOOST_TEST(table.holds_cells(shape, 12, 18));
    BOOST_TEST(!table.holds_cells(shape, 3, 5));
    BOOST_TEST(!table.holds_cells(shape, 11, 13));
    BOOST_TEST(!table.holds_cells(shape, 4, 12));
    BOOST_TEST(!table.holds_cells(shape, 0, 18));
    BOOST_TEST(table.holds_cells(shape, 7, 7));  // none asked for, none missing
}

BOOST_AUTO_TEST_CASE(shrinking_forgets_the_blocks_behind_the_new_end) {
    BlockTable table = table_of_blocks(5);
    BOOST_TEST(table.end_after(shape, 9) == 3U);
    BOOST_TEST(table.end_after(shape, 8) == 2U);
    table.shrink(shape, 9);
    BOOST_TEST(entries_of(table) == Ids({1, 2, 3}), per_element());
    table.shrink(shape, 8);
    BOOST_TEST(entries_of(table) == Ids({1, 2}), per_element());
    table.shrink(shape, 0);
    BOOST_TEST(table.size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_filled_hole_misses_the_cells_before_the_write) {
    BlockTable table = table_of_blocks(3);
    table.drop_front(2);
    table.shrink(shape, 6);
    BOOST_TEST(entries_of(table) == Ids({0, 0}), per_element());
    BOOST_TEST(table.first_resident(shape, 6) == 6);
    table.fill_tail_hole(BlockId{9}, 6);
    BOOST_TEST(entries_of(table) == Ids({0, 9}), per_element());
    BOOST_TEST(table.first_resident(shape, 8) == 6);
    BOOST_TEST(table.holds_cells(shape, 6, 8));
    BOOST_TEST(!table.holds_cells(shape, 5, 8));
    BOOST_TEST(!table.holds_cells(shape, 4, 5));
    BOOST_TEST(table.end_after(shape, 7) == 2U);  // cell 6 stays
    BOOST_TEST(table.end_after(shape, 6) == 1U);  // nothing of the block would
    table.shrink(shape, 6);
    BOOST_TEST(entries_of(table) == Ids({0, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(missing_cells_are_forgotten_when_their_block_slides_out) {
    BlockTable table = table_of_blocks(2);
    table.drop_front(2);
    table.shrink(shape, 6);
    table.fill_tail_hole(BlockId{9}, 6);
    table.append(BlockId{10});
    table.drop_front(2);
    BOOST_TEST(table.first_resident(shape, 12) == 8);
    BOOST_TEST(table.holds_cells(shape, 8, 12));
}

BOOST_AUTO_TEST_CASE(a_prefix_of_a_table_is_a_copy_up_to_its_cells) {
    BlockTable parent = table_of_blocks(5, 1);
    parent.drop_front(2);
    BlockTable child(1);
    child.assign_prefix(parent, shape, 14);
    BOOST_TEST(entries_of(child) == Ids({1, 0, 3, 4}), per_element());
    BOOST_TEST(child.first_resident(shape, 14) == 8);
    child.assign_prefix(parent, shape, 3);
    BOOST_TEST(entries_of(child) == Ids({1}), per_element());
    child.assign_prefix(parent, shape, 0);
    BOOST_TEST(child.size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_prefix_that_ends_before_the_cells_of_a_filled_hole_does_not_hold_the_block) {
    BlockTable parent = table_of_blocks(2);
    parent.drop_front(2);
    parent.shrink(shape, 6);
    parent.fill_tail_hole(BlockId{9}, 6);
    BlockTable child;
    child.assign_prefix(parent, shape, 7);
    BOOST_TEST(entries_of(child) == Ids({0, 9}), per_element());
    BOOST_TEST(child.first_resident(shape, 7) == 6);
    child.assign_prefix(parent, shape, 6);
    BOOST_TEST(entries_of(child) == Ids({0, 0}), per_element());
    BOOST_TEST(child.first_resident(shape, 6) == 6);
}

BOOST_AUTO_TEST_CASE(a_replaced_block_stands_where_the_old_one_stood) {
    BlockTable table = table_of_blocks(3);
    table.replace(2, BlockId{7});
    BOOST_TEST(entries_of(table) == Ids({1, 2, 7}), per_element());
}

BOOST_AUTO_TEST_CASE(a_cleared_table_is_like_a_new_one) {
    BlockTable table = table_of_blocks(3, 1);
    table.drop_front(2);
    table.clear();
    BOOST_TEST(table.size() == 0U);
    BOOST_TEST(digest_of(table) == digest_of(BlockTable(1)));
    table.append(BlockId{4});
    BOOST_TEST(entries_of(table) == Ids({4}), per_element());
    BOOST_TEST(table.first_resident(shape, 2) == 0);
}

BOOST_AUTO_TEST_CASE(what_stands_behind_a_hole_is_no_part_of_the_digest) {
    BlockTable one = table_of_blocks(3);
    BlockTable two;
    for (const std::uint32_t id : {8U, 2U, 3U}) {
        two.append(BlockId{id});
    }
    BOOST_TEST(digest_of(one) != digest_of(two));
    one.drop_front(1);
    two.drop_front(1);
    BOOST_TEST(digest_of(one) == digest_of(two));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
// T1 to T5: each broken on purpose in the tables of real sequences, and caught by its number.
#include "invariants/breaking.h"

namespace kvpane::invariants {

using testing::plain;
using testing::windowed;

namespace {

// Window 4 in blocks of 2: of eight tokens the last four are held, blocks 2 and 3 of the table.
Config small_window() { return windowed(2, 12, 4); }
const Tokens eight = {1, 2, 3, 4, 5, 6, 7, 8};

}  // namespace

BOOST_AUTO_TEST_SUITE(breaking_the_tables)

BOOST_AUTO_TEST_CASE(breaking_T1_a_length_that_nobody_committed) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    ++Tamper::length(broken.kv(), broken.handle(0));
    broken.audit_expects(Invariant::T1, "sequence #0: expected length 5 and 0 reserved, found 6 and 0");
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_table_that_is_too_short) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    const BlockId last = broken.block(0, 1);
    broken.table(0).shrink(BlockShape(4), 4);
    BlockPool::Batch batch;
    Tamper::pool(broken.kv()).give_back(batch, last);
    broken.audit_expects(Invariant::T1, "the table has 1 entries for 5 positions");
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_hole_among_the_resident_positions) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    BlockPool::Batch batch;
    Tamper::pool(broken.kv()).give_back(batch, std::exchange(Tamper::entry(broken.table(0), 1), null_block));
    broken.audit_expects(Invariant::T1, "positions from 0 on are resident, logical block 1 is a hole");
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_block_that_stands_twice_in_one_table) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    Tamper::exchange(broken.kv(), broken.table(0), 1, broken.block(0, 0));
    broken.audit_expects(Invariant::T1, "block 1 stands twice in the tables of this sequence");
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_block_in_the_tables_of_two_groups) {
    Config config = plain(4, 8);
    config.groups = {GroupConfig{"full"}, GroupConfig{"other"}};
    Broken broken(config);
    broken.run(admit(0, {1, 2, 3}));
    broken.run(admit(1, {1, 2, 3}));
    Tamper::exchange(broken.kv(), broken.table(1, GroupId{1}), 0, broken.block(0, 0, GroupId{0}));
    broken.audit_expects(Invariant::T1, "sequence #1, group other: block 1 stands in tables of two groups");
}

BOOST_AUTO_TEST_CASE(breaking_T2_a_block_that_the_next_query_sees_is_gone) {
    Broken broken(small_window());
    broken.run(admit(0, eight));
    const BlockId needed = broken.block(0, 2);
    broken.table(0).drop_front(3);
    BlockPool::Batch batch;
    Tamper::pool(broken.kv()).give_back(batch, needed);
    broken.audit_expects(Invariant::T2, "position 4: its block is gone");
}

BOOST_AUTO_TEST_CASE(breaking_T2_a_block_wholly_outside_is_kept) {
    Broken broken(small_window());
    broken.run(admit(0, eight));
    Tamper::entry(broken.table(0), 1) = Tamper::pool(broken.kv()).take().block;
    Tamper::first(broken.table(0)) = 1;
    broken.audit_expects(Invariant::T2, "position 2: its block is kept, and wholly outside");
}

BOOST_AUTO_TEST_CASE(breaking_T2_a_sink_block_is_gone) {
    Broken broken(windowed(2, 12, 4, 1));
    broken.run(admit(0, eight));
    BlockPool::Batch batch;
    Tamper::pool(broken.kv()).give_back(batch, std::exchange(Tamper::entry(broken.table(0), 0), null_block));
    broken.audit_expects(Invariant::T2, "position 0: its block is gone");
}

BOOST_AUTO_TEST_CASE(breaking_T2_a_first_resident_position_that_is_wrong) {
    Broken broken(small_window());
    broken.run(admit(0, eight));
    Tamper::missing_below(broken.table(0)) = 5;
    broken.audit_expects(Invariant::T2, "the first resident position is 4, the table says 5");
}

BOOST_AUTO_TEST_CASE(breaking_T3_another_sequences_cells_of_the_same_positions) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    broken.run(admit(1, {1, 2, 9}));
    std::swap(Tamper::entry(broken.table(0), 0), Tamper::entry(broken.table(1), 0));
    broken.audit_expects(Invariant::T3, "sequence #0, group full, position 2, slot 10: expected position 2 token 3");
}

BOOST_AUTO_TEST_CASE(breaking_T3_equal_tokens_behind_another_past) {
    Broken broken(plain(1, 8));
    broken.run(admit(0, {1, 7}));
    broken.run(admit(1, {2, 7}));
    std::swap(Tamper::entry(broken.table(0), 1), Tamper::entry(broken.table(1), 1));
    broken.audit_expects(Invariant::T3, "position 1, slot 4: expected position 1 token 7");
}

BOOST_AUTO_TEST_CASE(breaking_T3_equal_prompts_of_two_tenants) {
    Broken broken(plain(4, 8));
    Operation theirs = admit(1, {1, 2, 3});
    theirs.scope.tenant = "b";
    broken.run(admit(0, {1, 2, 3}));
    broken.run(theirs);
    std::swap(Tamper::entry(broken.table(0), 0), Tamper::entry(broken.table(1), 0));
    broken.audit_expects(Invariant::T3, "scope 1");
}

BOOST_AUTO_TEST_CASE(breaking_T3_a_block_that_was_never_written) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    BlockPool& pool = Tamper::pool(broken.kv());
    BlockPool::Batch batch;
    pool.give_back(batch, std::exchange(Tamper::entry(broken.table(0), 0), pool.take().block));
    broken.audit_expects(Invariant::T3, "found poison");
}

BOOST_AUTO_TEST_CASE(breaking_T3_a_copy_that_nobody_ran) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    broken.run(fork(0, 1));
    const Operation diverge = append(1, {4});
    Tamper::apply(broken.checked, diverge, [] {}, [] {});
    broken.expect_sound();
    Tamper::shadow(broken.checked).poison_block(broken.block(1, 0));
    broken.audit_expects(Invariant::T3, "sequence #1, group full, position 0, slot 8");
}

BOOST_AUTO_TEST_CASE(breaking_T4_two_blocks_of_a_table_change_places) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5, 6, 7, 8}));
    std::swap(Tamper::entry(broken.table(0), 0), Tamper::entry(broken.table(0), 1));
    broken.audit_expects(Invariant::T4, "position 0, slot 8: expected position 0 token 1");
}

BOOST_AUTO_TEST_CASE(breaking_T5_a_reserved_cell_in_a_block_that_another_table_names) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4}));
    broken.run(reserve(0, 2));
    broken.run(admit(1, {5, 6, 7}));
    Tamper::exchange(broken.kv(), broken.table(1), 0, broken.block(0, 1));
    broken.audit_expects(Invariant::T5, "sequence #0, group full, position 4 is reserved in block 2 with 2 references");
}

BOOST_AUTO_TEST_CASE(breaking_T5_a_slot_that_the_table_does_not_name) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4}));
    broken.run(reserve(0, 2));
    BlockPool& pool = Tamper::pool(broken.kv());
    BlockPool::Batch batch;
    pool.give_back(batch, std::exchange(Tamper::entry(broken.table(0), 1), pool.take().block));
    broken.audit_expects(Invariant::T5, "position 4: slot 8 was handed out, the table says 12");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

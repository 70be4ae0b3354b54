// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/interpreter.h>
#include <kvpane/invariants/shadow_cells.h>

namespace kvpane::invariants {

namespace {

ShadowCell cell(Length position, Token token) { return {position, 7, token, 0, 0, 3}; }

// Four positions in blocks 2 and 5 of two cells each.
struct Written {
    ShadowCells shadow{8, 2};
    std::vector<BlockId> run = {BlockId{2}, BlockId{5}};

    Written() {
        shadow.write(Slot{4}, cell(0, 10));
        shadow.write(Slot{5}, cell(1, 11));
        shadow.write(Slot{10}, cell(2, 12));
        shadow.write(Slot{11}, cell(3, 13));
    }
};

std::vector<Length> positions(const std::vector<HeldCell>& cells) {
    std::vector<Length> out;
    for (const HeldCell& held : cells) {
        out.push_back(held.position);
    }
    return out;
}

using Positions = std::vector<Length>;

}  // namespace

BOOST_AUTO_TEST_SUITE(shadow_cells)

BOOST_AUTO_TEST_CASE(a_cell_that_was_never_written_is_poison) {
    ShadowCells shadow(8, 4);
    BOOST_TEST(shadow.at(Slot{4}).is_poison());
    shadow.write(Slot{5}, cell(0, 1));
    BOOST_TEST(shadow.at(Slot{4}).is_poison());
    BOOST_TEST(shadow.at(Slot{6}).is_poison());
    BOOST_TEST(shadow.at(Slot{5}).same_as(cell(0, 1)));
}

BOOST_AUTO_TEST_CASE(poison_takes_the_block_or_the_slot_and_nothing_else) {
    Written written;
    written.shadow.poison_block(BlockId{2});
    BOOST_TEST(written.shadow.at(Slot{4}).is_poison());
    BOOST_TEST(written.shadow.at(Slot{5}).is_poison());
    const std::vector<Slot> slots = {Slot{10}};
    written.shadow.poison_slots(slots);
    BOOST_TEST(written.shadow.at(Slot{10}).is_poison());
    BOOST_TEST(written.shadow.at(Slot{11}).same_as(cell(3, 13)));
}

BOOST_AUTO_TEST_CASE(what_a_block_held_before_it_was_poison_does_not_come_back) {
    Written written;
    written.shadow.poison_block(BlockId{2});
    written.shadow.write(Slot{5}, cell(9, 9));
    BOOST_TEST(written.shadow.at(Slot{4}).is_poison());
}

BOOST_AUTO_TEST_CASE(a_copy_takes_the_first_cells_and_poison_with_them) {
    Written written;
    written.shadow.copy(BlockId{2}, BlockId{7}, 1);
    BOOST_TEST(written.shadow.at(Slot{14}).same_as(cell(0, 10)));
    BOOST_TEST(written.shadow.at(Slot{15}).is_poison());
    written.shadow.copy(BlockId{1}, BlockId{7}, 1);  // never written
    BOOST_TEST(written.shadow.at(Slot{14}).is_poison());
}

BOOST_AUTO_TEST_CASE(the_null_block_and_what_lies_behind_the_pool_are_not_covered) {
    const ShadowCells shadow(8, 4);
    BOOST_TEST(!shadow.covers(Slot{3}));
    BOOST_TEST(shadow.covers(Slot{4}));
    BOOST_TEST(shadow.covers(Slot{35}));
    BOOST_TEST(!shadow.covers(Slot{36}));
    BOOST_TEST(!shadow.covers(Slot{-1}));
    BOOST_TEST(!shadow.covers(null_block));
    BOOST_TEST(shadow.covers(BlockId{8}));
    BOOST_TEST(!shadow.covers(BlockId{9}));
}

BOOST_AUTO_TEST_CASE(a_cell_is_the_same_only_with_position_token_scope_group_and_past) {
    const ShadowCell one{1, 2, 3, 4, 5, 6};
    BOOST_TEST(one.same_as(ShadowCell{1, 2, 3, 4, 5, 99}));  // whoever wrote it
    BOOST_TEST(!one.same_as(ShadowCell{9, 2, 3, 4, 5, 6}));
    BOOST_TEST(!one.same_as(ShadowCell{1, 9, 3, 4, 5, 6}));
    BOOST_TEST(!one.same_as(ShadowCell{1, 2, 9, 4, 5, 6}));
    BOOST_TEST(!one.same_as(ShadowCell{1, 2, 3, 9, 5, 6}));
    BOOST_TEST(!one.same_as(ShadowCell{1, 2, 3, 4, 9, 6}));
}

BOOST_AUTO_TEST_CASE(a_shadow_beyond_eight_gibibytes_is_refused_with_a_sentence) {
    try {
        const ShadowCells shadow(most_blocks, 16);
        BOOST_TEST(false, "a shadow of a terabyte was made");
    } catch (const std::invalid_argument& problem) {
        BOOST_TEST(std::string(problem.what()) ==
                   "checking needs a shadow of 34359738352 cells, more than 268435456 (8 GiB): use fewer blocks, or "
                   "check off");
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(interpreter)

BOOST_AUTO_TEST_CASE(a_table_reads_back_block_by_block_and_stops_at_the_length) {
    const Written written;
    const std::vector<HeldCell> cells = interpret({{}, written.run, 0, 2, 0}, written.shadow, 3);
    BOOST_TEST(positions(cells) == (Positions{0, 1, 2}));
    BOOST_TEST(cells[2].slot == Slot{10});
    BOOST_TEST(cells[2].cell.token == 12);
}

BOOST_AUTO_TEST_CASE(positions_come_from_the_place_in_the_table_and_not_from_the_cells) {
    const Written written;
    const std::vector<HeldCell> cells = interpret({{}, written.run, 3, 5, 6}, written.shadow, 10);
    BOOST_TEST(positions(cells) == (Positions{6, 7, 8, 9}));
    BOOST_TEST(cells[0].cell.position == 0);
}

BOOST_AUTO_TEST_CASE(sinks_read_first_and_holes_not_at_all) {
    const Written written;
    const std::vector<BlockId> sinks = {BlockId{2}};
    const std::vector<BlockId> run = {BlockId{5}};
    BOOST_TEST(positions(interpret({sinks, run, 4, 5, 8}, written.shadow, 10)) == (Positions{0, 1, 8, 9}));
    BOOST_TEST(positions(interpret({sinks, {}, 1, 1, 0}, written.shadow, 1)) == Positions{0});
    BOOST_TEST(positions(interpret({}, written.shadow, 0)) == Positions{});
}

BOOST_AUTO_TEST_CASE(cells_that_are_missing_at_the_start_of_the_run_are_not_read) {
    const Written written;
    BOOST_TEST(positions(interpret({{}, written.run, 3, 5, 7}, written.shadow, 10)) == (Positions{7, 8, 9}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

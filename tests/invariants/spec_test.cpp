// SPDX-License-Identifier: Apache-2.0
// The specification against values worked out by hand from docs/scenario-format.md. Its boundaries are static_asserts.
#include <boost/test/unit_test.hpp>

#include <vector>

#include <kvpane/invariants/spec.h>

namespace kvpane::invariants::spec {

namespace {

std::vector<Length> positions(const Visible& visible, Length n) {
    std::vector<Length> out;
    for (Length position = -2; position < n + 2; ++position) {
        if (visible.has(position)) {
            out.push_back(position);
        }
    }
    return out;
}

using Positions = std::vector<Length>;

}  // namespace

BOOST_AUTO_TEST_SUITE(specification)

BOOST_AUTO_TEST_CASE(full_attention_shows_the_entire_history) {
    BOOST_TEST(positions(visible(4, 0, 0), 4) == (Positions{0, 1, 2, 3}));
    BOOST_TEST(positions(seen_next(4, 0, 0), 4) == (Positions{0, 1, 2, 3}));
    BOOST_TEST(positions(visible(0, 0, 0), 0) == Positions{});
}

BOOST_AUTO_TEST_CASE(a_window_shows_the_last_w_and_the_next_query_sees_one_less) {
    BOOST_TEST(positions(visible(9, 4, 0), 9) == (Positions{5, 6, 7, 8}));
    BOOST_TEST(positions(seen_next(9, 4, 0), 9) == (Positions{6, 7, 8}));
}

BOOST_AUTO_TEST_CASE(sinks_come_first_and_are_not_counted_twice) {
    BOOST_TEST(positions(visible(9, 4, 2), 9) == (Positions{0, 1, 5, 6, 7, 8}));
    BOOST_TEST(positions(visible(5, 4, 3), 5) == (Positions{0, 1, 2, 3, 4}));
    BOOST_TEST(positions(visible(2, 4, 3), 2) == (Positions{0, 1}));
}

BOOST_AUTO_TEST_CASE(a_window_of_one_sees_nothing_that_is_committed) {
    BOOST_TEST(positions(visible(9, 1, 0), 9) == Positions{8});
    BOOST_TEST(positions(seen_next(9, 1, 0), 9) == Positions{});
}

BOOST_AUTO_TEST_CASE(whole_blocks_leave_and_slack_keeps_them_longer) {
    // W 8 in blocks of 4, as in the scenario of chunks that jump: 16 committed tokens, the next query sees 9 and later.
    BOOST_TEST(begin_of_kept(16, {8, 0, 0, 4}) == 8);
    BOOST_TEST(begin_of_kept(16, {8, 0, 1, 4}) == 8);
    BOOST_TEST(begin_of_kept(16, {8, 0, 2, 4}) == 4);
    // Right after the commit the last 8 are kept: what the query at 15 saw.
    BOOST_TEST(begin_of_kept(15, {8, 0, 0, 4}) == 8);
    BOOST_TEST(begin_of_kept(14, {8, 0, 0, 4}) == 4);
}

BOOST_AUTO_TEST_CASE(a_holding_knows_its_blocks_by_their_cells) {
    Holding holding{{4, 3, 0, 4}, 0, 0};  // sinks 3: the first block stays
    holding.end = 22;
    holding.release_before(22);
    BOOST_TEST(holding.low == 16);
    BOOST_TEST(holding.has_block(0));
    BOOST_TEST(!holding.has_block(1));
    BOOST_TEST(!holding.has_block(3));
    BOOST_TEST(holding.has_block(4));
    BOOST_TEST(holding.has_block(5));
    BOOST_TEST(!holding.has_block(6));
    BOOST_TEST(holding.blocks() == 3);
    BOOST_TEST(holding.first_resident() == 16);
    BOOST_TEST(holding.has(3));
    BOOST_TEST(!holding.has(4));
}

BOOST_AUTO_TEST_CASE(a_holding_can_be_cut_to_where_its_query_still_sees_everything) {
    Holding holding{{4, 0, 0, 4}, 8, 14};
    BOOST_TEST(holding.can_cut(11));
    BOOST_TEST(!holding.can_cut(10));  // its query sees 7
    BOOST_TEST(holding.can_cut(0));
    holding.cut(11);
    BOOST_TEST(holding.low == 8);
    BOOST_TEST(holding.end == 11);
}

BOOST_AUTO_TEST_CASE(a_window_of_one_can_be_cut_anywhere_and_then_holds_nothing) {
    Holding holding{{1, 0, 0, 4}, 12, 14};
    BOOST_TEST(holding.can_cut(6));
    holding.cut(6);
    BOOST_TEST(holding.blocks() == 0);
    BOOST_TEST(holding.first_resident() == 6);
    holding.end = 7;  // a block that begins with missing cells
    BOOST_TEST(holding.has_block(1));
    BOOST_TEST(!holding.has(5));
    BOOST_TEST(holding.has(6));
    BOOST_TEST(holding.first_resident() == 6);
}

BOOST_AUTO_TEST_CASE(a_run_that_reaches_the_sinks_is_unbroken_from_the_start) {
    BOOST_TEST((Holding{{4, 4, 0, 4}, 4, 9}.first_resident()) == 0);
    BOOST_TEST((Holding{{4, 4, 0, 4}, 8, 12}.first_resident()) == 8);
}

BOOST_AUTO_TEST_CASE(a_chunk_needs_the_window_before_it_and_one_block_for_the_edge) {
    BOOST_TEST(most_blocks(1, {8, 0, 0, 4}) == 3);
    BOOST_TEST(most_blocks(9, {8, 0, 0, 4}) == 5);
    BOOST_TEST(most_blocks(1, {1, 0, 0, 1}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants::spec

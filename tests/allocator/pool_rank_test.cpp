// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

constexpr Rank low{.priority = -1, .frequency = 0};
constexpr Rank usual{};
constexpr Rank used{.priority = 0, .frequency = 3};
constexpr Rank high{.priority = 2, .frequency = 0};

// Blocks 1..ranks.size() live, with content and these ranks.
BlockPool ranked(std::uint32_t blocks, const std::vector<Rank>& ranks) {
    BlockPool pool(blocks, IdleOrder::contentless_to_front);
    const Ids ids = take(pool, static_cast<int>(ranks.size()));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        pool.make_rank(ranks[i]);
        pool.set_content(BlockId{ids[i]}, ContentId{10 + ids[i]}, ranks[i]);
    }
    return pool;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pool_ranks)

BOOST_AUTO_TEST_CASE(lower_ranks_go_first_and_within_one_the_longest_idle) {
    BlockPool pool = ranked(8, {high, usual, used, low, usual, low});
    give_back(pool, Ids{6, 5, 4, 3, 2, 1});  // given back 1, 2, ..., 6
    BOOST_TEST(queue_of(pool) == Ids({7, 8, 4, 6, 2, 5, 3, 1}), per_element());
    expect_conservation(pool);
    BOOST_TEST(take(pool, 8) == Ids({7, 8, 4, 6, 2, 5, 3, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(the_priority_counts_before_the_frequency) {
    BOOST_TEST((low < usual));
    BOOST_TEST((usual < used));
    BOOST_TEST((used < high));
    BlockPool pool = ranked(2, {high, used});
    give_back(pool, Ids{2, 1});
    BOOST_TEST(queue_of(pool) == Ids({2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_new_rank_of_a_living_block_counts_when_it_becomes_idle) {
    BlockPool pool = ranked(3, {usual, usual, usual});
    pool.make_rank(high);
    pool.set_rank(BlockId{1}, high);
    BOOST_TEST((pool.rank(BlockId{1}) == high));
    give_back(pool, Ids{3, 2, 1});
    BOOST_TEST(queue_of(pool) == Ids({2, 3, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(an_idle_block_joins_the_list_of_its_new_rank_at_once_and_last) {
    BlockPool pool = ranked(4, {high, usual, usual, high});
    give_back(pool, Ids{4, 3, 2, 1});
    BOOST_TEST(queue_of(pool) == Ids({2, 3, 1, 4}), per_element());
    pool.set_rank(BlockId{1}, usual);
    BOOST_TEST(queue_of(pool) == Ids({2, 3, 1, 4}), per_element());
    pool.set_rank(BlockId{2}, high);
    BOOST_TEST(queue_of(pool) == Ids({3, 1, 4, 2}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_block_that_loses_its_content_keeps_its_place_among_its_rank) {
    BlockPool pool = ranked(4, {high, usual, high});
    give_back(pool, Ids{3, 2, 1});
    pool.drop_content(BlockId{1});
    BOOST_TEST(queue_of(pool) == Ids({4, 2, 1, 3}), per_element());
    BOOST_TEST(pool.state(BlockId{1}) == BlockState::free);
    take(pool, 3);
    give_back(pool, Ids{1});  // now it has none
    BOOST_TEST(queue_of(pool) == Ids({1, 3}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(what_comes_back_without_content_goes_before_every_rank) {
    BlockPool pool = ranked(4, {low, low});
    give_back(pool, Ids{1, 2});
    take(pool, 2);
    give_back(pool, Ids{3, 4});
    BOOST_TEST(queue_of(pool) == Ids({4, 3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(fenced_blocks_join_their_ranks_when_the_step_ends) {
    BlockPool pool = ranked(4, {high, usual, low});
    BOOST_TEST(pool.step_begin(StepId{1}).has_value());
    give_back(pool, Ids{3, 2, 1});
    BOOST_TEST(queue_of(pool) == Ids({4}), per_element());
    BOOST_TEST(pool.step_end(StepId{1}).has_value());
    BOOST_TEST(queue_of(pool) == Ids({4, 3, 2, 1}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(many_ranks_stay_in_order_in_whatever_order_they_are_met) {
    std::vector<Rank> ranks;
    for (const std::int64_t priority : {5, -3, 9, 0, 7, -8, 2}) {
        ranks.push_back({priority, 0});
    }
    BlockPool pool = ranked(7, ranks);
    give_back(pool, Ids{1, 2, 3, 4, 5, 6, 7});
    BOOST_TEST(queue_of(pool) == Ids({6, 2, 4, 7, 1, 5, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(ranks_are_part_of_the_digest) {
    BlockPool one = ranked(2, {usual});
    BlockPool two = ranked(2, {usual});
    BOOST_TEST(digest_of(one) == digest_of(two));
    one.make_rank(high);
    two.make_rank(high);
    one.set_rank(BlockId{1}, high);
    BOOST_TEST(digest_of(one) != digest_of(two));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

namespace kvpane::testing {

namespace {

using boost::test_tools::per_element;

void begin(BlockPool& pool, std::uint64_t step) { BOOST_TEST_REQUIRE(pool.step_begin(StepId{step}).has_value()); }
void end(BlockPool& pool, std::uint64_t step) { BOOST_TEST_REQUIRE(pool.step_end(StepId{step}).has_value()); }

// All `blocks` blocks live.
BlockPool all_live(std::uint32_t blocks, IdleOrder order) {
    BlockPool pool(blocks, order);
    take(pool, static_cast<int>(blocks));
    return pool;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pool_fences)

BOOST_AUTO_TEST_CASE(a_block_given_up_during_a_step_is_neither_idle_nor_live_until_it_ends) {
    BlockPool pool = all_live(3, IdleOrder::all_to_back);
    begin(pool, 1);
    BOOST_TEST(pool.step_is_open());
    give_back(pool, Ids{1, 2});
    BOOST_TEST(pool.state(BlockId{1}) == BlockState::fenced);
    BOOST_TEST(pool.refs(BlockId{1}) == 0U);
    BOOST_TEST(partition_of(pool) == (Partition{0, 0, 1, 2}));
    BOOST_TEST(queue_of(pool).empty());
    expect_conservation(pool);
    end(pool, 1);
    BOOST_TEST(!pool.step_is_open());
    BOOST_TEST(queue_of(pool) == Ids({2, 1}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 1, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(idle_blocks_may_be_taken_while_a_step_is_open) {
    BlockPool pool(3, IdleOrder::all_to_back);
    begin(pool, 1);
    BOOST_TEST(take(pool, 2) == Ids({1, 2}), per_element());
    end(pool, 1);
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(overlapping_steps_free_in_the_order_in_which_blocks_were_given_up) {
    BlockPool pool = all_live(6, IdleOrder::all_to_back);
    begin(pool, 1);
    give_back(pool, Ids{1});
    begin(pool, 2);
    give_back(pool, Ids{2, 3});
    end(pool, 1);  // block 1 waited for step 1 alone
    BOOST_TEST(queue_of(pool) == Ids({1}), per_element());
    begin(pool, 3);
    give_back(pool, Ids{4});
    end(pool, 3);  // block 4 waits for step 2 as well
    BOOST_TEST(queue_of(pool) == Ids({1}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{1, 0, 2, 3}));
    end(pool, 2);
    BOOST_TEST(queue_of(pool) == Ids({1, 3, 2, 4}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_step_that_begins_later_does_not_hold_a_block_back) {
    BlockPool pool = all_live(2, IdleOrder::all_to_back);
    begin(pool, 1);
    give_back(pool, Ids{2});
    begin(pool, 2);
    end(pool, 1);
    BOOST_TEST(queue_of(pool) == Ids({2}), per_element());
    BOOST_TEST(pool.step_is_open());
}

BOOST_AUTO_TEST_CASE(the_fence_can_be_walked_and_tells_how_many_steps_each_block_waits_for) {
    BlockPool pool = all_live(4, IdleOrder::all_to_back);
    begin(pool, 1);
    give_back(pool, Ids{3});
    begin(pool, 2);
    give_back(pool, Ids{1});
    Ids fenced;
    for (BlockId block = pool.next_fenced(null_block); block != null_block; block = pool.next_fenced(block)) {
        fenced.push_back(to_index(block));
    }
    BOOST_TEST(fenced == Ids({3, 1}), per_element());
    BOOST_TEST(pool.waits_for(BlockId{3}) == 1U);
    BOOST_TEST(pool.waits_for(BlockId{1}) == 2U);
    BOOST_TEST(pool.waits_for(BlockId{2}) == 0U);  // live
    end(pool, 2);
    BOOST_TEST(pool.waits_for(BlockId{1}) == 1U);
    end(pool, 1);
    BOOST_TEST((pool.next_fenced(null_block) == null_block));
}

BOOST_AUTO_TEST_CASE(steps_may_end_newest_first) {
    BlockPool pool = all_live(3, IdleOrder::all_to_back);
    begin(pool, 1);
    begin(pool, 2);
    give_back(pool, Ids{1});
    end(pool, 2);
    BOOST_TEST(queue_of(pool).empty());
    give_back(pool, Ids{3});
    end(pool, 1);
    BOOST_TEST(queue_of(pool) == Ids({1, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(with_the_cache_on_all_that_becomes_ready_at_once_joins_the_front_as_one_batch) {
    BlockPool pool = all_live(6, IdleOrder::contentless_to_front);
    give_back(pool, Ids{6});
    begin(pool, 1);
    give_back(pool, Ids{1, 2});
    give_back(pool, Ids{4, 5});
    end(pool, 1);
    BOOST_TEST(queue_of(pool) == Ids({2, 1, 5, 4, 6}), per_element());
}

BOOST_AUTO_TEST_CASE(a_fenced_block_with_content_becomes_cached_at_the_end_of_the_queue) {
    BlockPool pool(5, IdleOrder::contentless_to_front);
    take(pool, 3);
    pool.set_content(BlockId{1}, ContentId{7}, Rank{});
    pool.set_content(BlockId{3}, ContentId{8}, Rank{});
    begin(pool, 1);
    give_back(pool, Ids{1, 2, 3});
    BOOST_TEST(pool.state(BlockId{1}) == BlockState::fenced);
    BOOST_TEST(pool.content(BlockId{1}) == ContentId{7});
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 0, 3}));
    end(pool, 1);
    BOOST_TEST(queue_of(pool) == Ids({2, 4, 5, 3, 1}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{3, 2, 0, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_fenced_block_that_loses_its_content_becomes_free) {
    BlockPool pool(3, IdleOrder::contentless_to_front);
    take(pool, 2);
    pool.set_content(BlockId{1}, ContentId{7}, Rank{});
    begin(pool, 1);
    give_back(pool, Ids{1});
    pool.drop_content(BlockId{1});
    BOOST_TEST(partition_of(pool) == (Partition{1, 0, 1, 1}));
    end(pool, 1);
    BOOST_TEST(queue_of(pool) == Ids({1, 3}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 1, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_block_that_others_hold_is_not_fenced) {
    BlockPool pool = all_live(2, IdleOrder::all_to_back);
    pool.share(BlockId{1});
    begin(pool, 1);
    give_back(pool, Ids{1});
    BOOST_TEST(partition_of(pool) == (Partition{0, 0, 2, 0}));
    end(pool, 1);
    BOOST_TEST(queue_of(pool).empty());
}

BOOST_AUTO_TEST_CASE(beginning_an_open_step_and_ending_a_closed_one_are_refused_and_change_nothing) {
    BlockPool pool(2, IdleOrder::all_to_back);
    begin(pool, 1);
    const std::uint64_t before = digest_of(pool);
    BOOST_TEST(pool.step_begin(StepId{1}).error() == Error::invalid_argument);
    BOOST_TEST(pool.step_end(StepId{2}).error() == Error::invalid_argument);
    BOOST_TEST(digest_of(pool) == before);
    end(pool, 1);
    BOOST_TEST(pool.step_end(StepId{1}).error() == Error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(waiting_blocks_and_open_steps_are_part_of_the_digest) {
    BlockPool one = all_live(2, IdleOrder::all_to_back);
    BlockPool two = all_live(2, IdleOrder::all_to_back);
    begin(one, 1);
    BOOST_TEST(digest_of(one) != digest_of(two));
    begin(two, 1);
    BOOST_TEST(digest_of(one) == digest_of(two));
    give_back(one, Ids{1});
    give_back(one, Ids{2});
    give_back(two, Ids{2});
    give_back(two, Ids{1});
    BOOST_TEST(digest_of(one) != digest_of(two));  // they will queue in another order
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

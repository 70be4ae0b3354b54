// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

namespace kvpane::testing {

namespace {

using boost::test_tools::per_element;

BlockPool uncached(std::uint32_t blocks) { return {blocks, IdleOrder::all_to_back}; }
BlockPool caching(std::uint32_t blocks) { return {blocks, IdleOrder::contentless_to_front}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(pool_order)

BOOST_AUTO_TEST_CASE(at_the_start_all_blocks_are_free_and_queue_by_ascending_id) {
    for (const IdleOrder order : {IdleOrder::all_to_back, IdleOrder::contentless_to_front}) {
        const BlockPool pool(5, order);
        BOOST_TEST(queue_of(pool) == Ids({1, 2, 3, 4, 5}), per_element());
        BOOST_TEST(partition_of(pool) == (Partition{5, 0, 0, 0}));
        expect_conservation(pool);
    }
}

BOOST_AUTO_TEST_CASE(the_smallest_pool_holds_one_block) {
    BlockPool pool = uncached(1);
    BOOST_TEST(take(pool, 1) == Ids({1}), per_element());
    BOOST_TEST(queue_of(pool).empty());
    give_back(pool, Ids{1});
    BOOST_TEST(queue_of(pool) == Ids({1}), per_element());
}

BOOST_AUTO_TEST_CASE(blocks_are_taken_from_the_front_with_one_reference_and_no_content) {
    BlockPool pool = caching(3);
    const BlockPool::Taken taken = pool.take();
    BOOST_TEST(taken.block == BlockId{1});
    BOOST_TEST(taken.evicted == no_content);
    BOOST_TEST(pool.refs(taken.block) == 1U);
    BOOST_TEST(pool.content(taken.block) == no_content);
    BOOST_TEST(pool.state(taken.block) == BlockState::live);
    BOOST_TEST(queue_of(pool) == Ids({2, 3}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(a_table_is_given_back_deepest_first) {
    BlockPool off = uncached(5);
    give_back(off, take(off, 3));
    BOOST_TEST(queue_of(off) == Ids({4, 5, 3, 2, 1}), per_element());
    BlockPool on = caching(5);
    give_back(on, take(on, 3));
    BOOST_TEST(queue_of(on) == Ids({3, 2, 1, 4, 5}), per_element());
}

BOOST_AUTO_TEST_CASE(with_the_cache_off_every_block_joins_at_the_end_whatever_the_batch) {
    BlockPool pool = uncached(6);
    take(pool, 6);
    give_back(pool, Ids{3, 5});
    give_back(pool, Ids{1, 2});
    BOOST_TEST(queue_of(pool) == Ids({5, 3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(with_the_cache_on_the_latest_batch_goes_in_front_of_the_earlier_ones) {
    BlockPool pool = caching(6);
    take(pool, 6);
    give_back(pool, Ids{3, 5});
    give_back(pool, Ids{1, 2});
    BOOST_TEST(queue_of(pool) == Ids({2, 1, 5, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(two_pieces_of_one_batch_keep_the_order_in_which_they_were_given) {
    BlockPool on = caching(6);
    take(on, 6);
    give_back(on, {{1, 2}, {4, 5, 6}});
    BOOST_TEST(queue_of(on) == Ids({2, 1, 6, 5, 4}), per_element());
    BlockPool off = uncached(6);
    take(off, 6);
    give_back(off, {{1, 2}, {4, 5, 6}});
    BOOST_TEST(queue_of(off) == Ids({2, 1, 6, 5, 4}), per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_parts_into_contentless_blocks_in_front_and_known_ones_at_the_end) {
    BlockPool pool = caching(6);
    take(pool, 5);
    pool.set_content(BlockId{1}, ContentId{11}, Rank{});
    pool.set_content(BlockId{3}, ContentId{13}, Rank{});
    give_back(pool, Ids{1, 2, 3, 4, 5});
    BOOST_TEST(queue_of(pool) == Ids({5, 4, 2, 6, 3, 1}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{4, 2, 0, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(single_blocks_of_one_batch_keep_their_order_too) {
    BlockPool pool = caching(4);
    take(pool, 4);
    BlockPool::Batch batch;
    for (const std::uint32_t id : {2U, 4U, 1U}) {
        pool.give_back(batch, BlockId{id});
    }
    BOOST_TEST(queue_of(pool) == Ids({2, 4, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(only_the_last_reference_sends_a_block_to_the_queue) {
    BlockPool pool = uncached(2);
    take(pool, 1);
    pool.share(BlockId{1});
    pool.share(BlockId{1});
    BOOST_TEST(pool.refs(BlockId{1}) == 3U);
    BOOST_TEST(partition_of(pool) == (Partition{1, 0, 1, 0}));
    give_back(pool, Ids{1});
    give_back(pool, Ids{1});
    BOOST_TEST(pool.refs(BlockId{1}) == 1U);
    BOOST_TEST(queue_of(pool) == Ids({2}), per_element());
    give_back(pool, Ids{1});
    BOOST_TEST(pool.refs(BlockId{1}) == 0U);
    BOOST_TEST(queue_of(pool) == Ids({2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_block_that_others_still_hold_is_passed_over_in_its_batch) {
    BlockPool pool = caching(5);
    take(pool, 4);
    pool.share(BlockId{3});
    give_back(pool, Ids{1, 2, 3, 4});
    BOOST_TEST(queue_of(pool) == Ids({4, 2, 1, 5}), per_element());
    BOOST_TEST(pool.refs(BlockId{3}) == 1U);
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(the_queue_drains_to_nothing_and_fills_again) {
    BlockPool pool = uncached(3);
    for (int round = 0; round < 4; ++round) {
        const Ids all = take(pool, 3);
        BOOST_TEST(pool.idle_blocks() == 0U);
        BOOST_TEST(pool.next_idle(null_block) == null_block);
        give_back(pool, all);
        expect_conservation(pool);
    }
    BOOST_TEST(queue_of(pool) == Ids({1, 2, 3}), per_element());  // reversed an even number of times
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

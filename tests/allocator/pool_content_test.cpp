// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

namespace kvpane::testing {

namespace {

using boost::test_tools::per_element;

// Blocks 1..known are idle and known by the contents 101, 102, ...; queue: known + 1 ... blocks, known, ..., 1.
BlockPool pool_that_knows(std::uint32_t known, std::uint32_t blocks) {
    BlockPool pool(blocks, IdleOrder::contentless_to_front);
    const Ids ids = take(pool, static_cast<int>(known));
    for (const std::uint32_t id : ids) {
        pool.set_content(BlockId{id}, ContentId{100 + id}, Rank{});
    }
    give_back(pool, ids);
    return pool;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pool_content)

BOOST_AUTO_TEST_CASE(an_idle_block_with_content_is_cached_and_queues_behind_those_without) {
    const BlockPool pool = pool_that_knows(2, 4);
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 2, 1}), per_element());
    BOOST_TEST(pool.state(BlockId{1}) == BlockState::cached);
    BOOST_TEST(pool.content(BlockId{1}) == ContentId{101});
    BOOST_TEST(partition_of(pool) == (Partition{2, 2, 0, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_live_block_with_content_is_live) {
    BlockPool pool(2, IdleOrder::contentless_to_front);
    take(pool, 1);
    pool.set_content(BlockId{1}, ContentId{9}, Rank{});
    BOOST_TEST(pool.state(BlockId{1}) == BlockState::live);
    BOOST_TEST(partition_of(pool) == (Partition{1, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(several_blocks_may_share_one_content) {
    BlockPool pool(3, IdleOrder::contentless_to_front);
    take(pool, 2);
    pool.set_content(BlockId{1}, ContentId{9}, Rank{});
    pool.set_content(BlockId{2}, ContentId{9}, Rank{});
    give_back(pool, Ids{1, 2});
    BOOST_TEST(pool.content(BlockId{1}) == ContentId{9});
    BOOST_TEST(pool.content(BlockId{2}) == ContentId{9});
    BOOST_TEST(partition_of(pool) == (Partition{1, 2, 0, 0}));
}

BOOST_AUTO_TEST_CASE(reviving_takes_a_cached_block_out_of_the_queue_and_keeps_its_content) {
    BlockPool pool = pool_that_knows(3, 4);
    pool.revive(BlockId{2});
    BOOST_TEST(queue_of(pool) == Ids({4, 3, 1}), per_element());
    BOOST_TEST(pool.refs(BlockId{2}) == 1U);
    BOOST_TEST(pool.content(BlockId{2}) == ContentId{102});
    BOOST_TEST(partition_of(pool) == (Partition{1, 2, 1, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_revived_block_joins_the_end_again_as_the_most_recently_used) {
    BlockPool pool = pool_that_knows(3, 4);
    pool.revive(BlockId{3});
    give_back(pool, Ids{3});
    BOOST_TEST(queue_of(pool) == Ids({4, 2, 1, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(taking_a_cached_block_drops_and_reports_its_content) {
    BlockPool pool = pool_that_knows(2, 2);
    const BlockPool::Taken taken = pool.take();
    BOOST_TEST(taken.block == BlockId{2});
    BOOST_TEST(taken.evicted == ContentId{102});
    BOOST_TEST(pool.content(BlockId{2}) == no_content);
    BOOST_TEST(partition_of(pool) == (Partition{0, 1, 1, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(an_idle_block_that_loses_its_content_keeps_its_place_in_the_queue) {
    BlockPool pool = pool_that_knows(3, 4);
    pool.drop_content(BlockId{2});
    BOOST_TEST(queue_of(pool) == Ids({4, 3, 2, 1}), per_element());
    BOOST_TEST(pool.state(BlockId{2}) == BlockState::free);
    BOOST_TEST(partition_of(pool) == (Partition{2, 2, 0, 0}));
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_live_block_that_loses_its_content_goes_to_the_front_later) {
    BlockPool pool(3, IdleOrder::contentless_to_front);
    take(pool, 2);
    pool.set_content(BlockId{1}, ContentId{5}, Rank{});
    pool.drop_content(BlockId{1});
    BOOST_TEST(partition_of(pool) == (Partition{1, 0, 2, 0}));
    give_back(pool, Ids{1});
    BOOST_TEST(queue_of(pool) == Ids({1, 3}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(with_the_cache_off_blocks_without_content_still_queue_before_the_others) {
    BlockPool pool(3, IdleOrder::all_to_back);
    take(pool, 3);
    pool.set_content(BlockId{3}, ContentId{5}, Rank{});
    give_back(pool, Ids{3});
    give_back(pool, Ids{1});
    give_back(pool, Ids{2});
    BOOST_TEST(queue_of(pool) == Ids({1, 2, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(content_is_part_of_the_digest) {
    BlockPool pool = pool_that_knows(2, 3);
    const std::uint64_t before = digest_of(pool);
    pool.drop_content(BlockId{1});
    BOOST_TEST(digest_of(pool) != before);
}

BOOST_AUTO_TEST_CASE(references_and_the_order_of_the_queue_are_part_of_the_digest) {
    BlockPool one(4, IdleOrder::all_to_back);
    BlockPool two(4, IdleOrder::all_to_back);
    BOOST_TEST(digest_of(one) == digest_of(two));
    take(one, 2);
    BOOST_TEST(digest_of(one) != digest_of(two));
    take(two, 2);
    BOOST_TEST(digest_of(one) == digest_of(two));
    one.share(BlockId{1});
    BOOST_TEST(digest_of(one) != digest_of(two));
    two.share(BlockId{1});
    give_back(one, Ids{1, 2, 1});
    give_back(two, Ids{2, 1, 1});
    BOOST_TEST(queue_of(one) != queue_of(two));
    BOOST_TEST(digest_of(one) != digest_of(two));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

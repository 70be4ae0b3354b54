// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

// Blocks 1 and 2 are live and known, 3 and 4 are free.
BlockPool two_known() {
    BlockPool pool(4, IdleOrder::contentless_to_front);
    for (const std::uint32_t id : take(pool, 2)) {
        pool.set_content(BlockId{id}, ContentId{10 + id}, Rank{});
    }
    return pool;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pool_pins)

BOOST_AUTO_TEST_CASE(a_pinned_idle_block_is_cached_and_in_no_queue) {
    BlockPool pool = two_known();
    give_back(pool, Ids{1, 2});
    pool.pin(BlockId{2});
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 1}), per_element());
    BOOST_TEST(partition_of(pool) == (Partition{2, 2, 0, 0}));
    BOOST_TEST(pool.pinned_blocks() == 1U);
    BOOST_TEST(pool.idle_blocks() == 3U);
    BOOST_TEST(pool.state(BlockId{2}) == BlockState::cached);
    BOOST_TEST(!pool.is_takeable(BlockId{2}));
    BOOST_TEST(pool.is_takeable(BlockId{1}));
    pool.unpin(BlockId{2});
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 1, 2}), per_element());
    BOOST_TEST(pool.pinned_blocks() == 0U);
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(a_pin_is_one_more_holder_however_often_it_nests) {
    BlockPool pool = two_known();
    BOOST_TEST(pool.holders(BlockId{1}) == 1U);
    pool.pin(BlockId{1});
    pool.pin(BlockId{1});
    BOOST_TEST(pool.pins(BlockId{1}) == 2U);
    BOOST_TEST(pool.holders(BlockId{1}) == 2U);
    BOOST_TEST(pool.refs(BlockId{1}) == 1U);
    BOOST_TEST(pool.pinned_blocks() == 1U);
    give_back(pool, Ids{1});
    BOOST_TEST(pool.holders(BlockId{1}) == 1U);
    pool.unpin(BlockId{1});
    BOOST_TEST(queue_of(pool) == Ids({3, 4}), per_element());
    pool.unpin(BlockId{1});
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_pinned_block_can_be_revived_and_given_back) {
    BlockPool pool = two_known();
    give_back(pool, Ids{1, 2});
    pool.pin(BlockId{1});
    pool.revive(BlockId{1});
    BOOST_TEST(partition_of(pool) == (Partition{2, 1, 1, 0}));
    give_back(pool, Ids{1});
    BOOST_TEST(partition_of(pool) == (Partition{2, 2, 0, 0}));
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(a_pinned_block_waits_behind_a_fence_like_any_other_and_then_in_no_queue) {
    BlockPool pool = two_known();
    pool.pin(BlockId{1});
    BOOST_TEST(pool.step_begin(StepId{1}).has_value());
    give_back(pool, Ids{1, 2});
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 0, 2}));
    BOOST_TEST(pool.step_end(StepId{1}).has_value());
    BOOST_TEST(partition_of(pool) == (Partition{2, 2, 0, 0}));
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 2}), per_element());
    pool.unpin(BlockId{1});
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_fenced_block_with_content_can_be_revived) {
    BlockPool pool = two_known();
    BOOST_TEST(pool.step_begin(StepId{1}).has_value());
    give_back(pool, Ids{1, 2});
    pool.revive(BlockId{2});
    BOOST_TEST(partition_of(pool) == (Partition{2, 0, 1, 1}));
    BOOST_TEST(pool.content(BlockId{2}) == ContentId{12});
    BOOST_TEST(pool.step_end(StepId{1}).has_value());
    BOOST_TEST(partition_of(pool) == (Partition{2, 1, 1, 0}));
    give_back(pool, Ids{2});
    BOOST_TEST(queue_of(pool) == Ids({3, 4, 1, 2}), per_element());
    expect_conservation(pool);
}

BOOST_AUTO_TEST_CASE(pins_are_part_of_the_digest) {
    BlockPool one = two_known();
    BlockPool two = two_known();
    one.pin(BlockId{1});
    BOOST_TEST(digest_of(one) != digest_of(two));
    two.pin(BlockId{1});
    BOOST_TEST(digest_of(one) == digest_of(two));
    one.pin(BlockId{1});
    BOOST_TEST(digest_of(one) != digest_of(two));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

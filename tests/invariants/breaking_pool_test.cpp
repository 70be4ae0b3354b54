// SPDX-License-Identifier: Apache-2.0
// P1, P2, P3: each broken on purpose in the state of a real pool, and caught by its number.
#include "invariants/breaking.h"

namespace kvpane::invariants {

using testing::plain;

BOOST_AUTO_TEST_SUITE(breaking_the_pool)

BOOST_AUTO_TEST_CASE(breaking_P1_a_counter_that_is_not_its_recount) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    ++Tamper::free_counter(broken.kv());
    broken.audit_expects(Invariant::P1, "the pool counts 7 free blocks, there are 6");
}

BOOST_AUTO_TEST_CASE(breaking_P1_a_state_that_no_counter_knows) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    Tamper::content(broken.kv(), BlockId{7}) = ContentId{1};
    broken.audit_expects(Invariant::P1, "the pool counts 6 free blocks, there are 5");
}

BOOST_AUTO_TEST_CASE(breaking_P1_a_block_behind_a_fence_that_has_fallen) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    broken.run(step_begin(1));
    broken.run(release(0));
    BOOST_TEST(broken.kv().pool().fenced_blocks() == 2U);
    const BlockId second{1};  // given up after block 2
    const BlockId kept_back = Tamper::next(broken.kv(), BlockId{2});
    BOOST_TEST(kept_back == second);
    const BlockId end_of_the_fence{broken.kv().pool().blocks() + 1};
    Tamper::next(broken.kv(), BlockId{2}) = end_of_the_fence;  // the fence forgets the second
    broken.checked.apply(step_end(1));
    broken.expect(Invariant::P1, "1 blocks are fenced, and no step is open");
}

BOOST_AUTO_TEST_CASE(breaking_P1_a_block_in_flight_that_is_not_fenced) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    broken.run(step_begin(1));
    BOOST_TEST(Tamper::pool(broken.kv()).step_end(StepId{1}).has_value());  // the pool forgets it, the engine does not
    broken.checked.apply(release(0));
    broken.expect(Invariant::P1,
                  "block 1 was given up while step 1 was open, which has not ended, and it is not fenced");
}

BOOST_AUTO_TEST_CASE(breaking_P2_a_reference_too_many) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    ++Tamper::refs(broken.kv(), broken.block(0, 1));
    broken.audit_expects(Invariant::P2, "block 2 has 2 references and stands in 1 tables");
}

BOOST_AUTO_TEST_CASE(breaking_P2_a_fork_that_is_not_counted) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    broken.run(fork(0, 1));
    --Tamper::refs(broken.kv(), broken.block(0, 0));
    broken.checked.apply(check());
    broken.expect(Invariant::P2, "block 1 has 1 references and stands in 2 tables");
}

BOOST_AUTO_TEST_CASE(breaking_P2_an_owner_of_the_null_block) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1}));
    Tamper::refs(broken.kv(), null_block) = 1;
    broken.audit_expects(Invariant::P2, "block 0 has 1 references and stands in 0 tables");
}

BOOST_AUTO_TEST_CASE(breaking_P2_a_block_that_does_not_exist) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1}));
    Tamper::entry(broken.table(0), 0) = BlockId{99};
    broken.audit_expects(Invariant::P2, "there is no block 99");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_free_block_that_the_queue_skips) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    Tamper::next(broken.kv(), BlockId{4}) = BlockId{6};
    broken.audit_expects(Invariant::P3, "block 5 is free and not queued");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_queue_that_runs_in_a_circle) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    Tamper::next(broken.kv(), BlockId{6}) = BlockId{4};
    broken.audit_expects(Invariant::P3, "block 4 is queued twice");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_live_block_in_the_queue) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    Tamper::next(broken.kv(), null_block) = broken.block(0, 1);
    broken.audit_expects(Invariant::P3, "block 2 is queued and live");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

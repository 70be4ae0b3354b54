// SPDX-License-Identifier: Apache-2.0
// The order of the free queue: each rule broken on purpose, behind the Manager's back, and told.
#include "invariants/breaking.h"

#include <kvpane/invariants/queue_watch.h>

#include "support/cache.h"

namespace kvpane::invariants {

namespace {

using namespace kvpane::testing;

// A Manager, and what the watch says of an operation that `fault` stands for.
struct Queue {
    explicit Queue(const Config& config) : kv(config) {}

    template <class Fault>
    void expect(const Operation& operation, const Outcome& outcome, Fault fault, const std::string& what) {
        watch.before(kv, sequence);
        fault();
        const auto wrong = watch.wrong_order(kv, operation, outcome, sequence);
        BOOST_TEST_REQUIRE(wrong.has_value());
        BOOST_TEST(*wrong == what);
    }
    template <class Fault>
    void expect(const Operation& operation, Fault fault, const std::string& what) {
        expect(operation, {}, fault, what);
    }

    BlockPool& pool() { return Tamper::pool(kv); }

    Manager kv;
    SequenceHandle sequence;
    QueueWatch watch;
};

const auto no_fault = [] {};

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_watch)

BOOST_AUTO_TEST_CASE(breaking_P3_a_block_that_is_taken_out_of_turn) {
    Queue queue(plain(4, 8));
    const std::vector<Slot> slots = {20, 21};
    Outcome outcome;
    outcome.step.slots = slots;
    queue.expect(append(0, {1, 2}), outcome, no_fault, "block 5 was taken, and block 1 stood before it in the queue");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_sequence_that_gives_back_its_first_block_first) {
    for (const Config& config : {plain(4, 8), caching(4, 8)}) {
        Queue queue(config);
        queue.sequence = admit_prompt(queue.kv, tokens(1, 8)).sequence;
        BlockPool::Batch batch;
        const auto give_back = [&] {
            queue.pool().give_back(batch, BlockId{1});
            queue.pool().give_back(batch, BlockId{2});
        };
        queue.expect(release(0), give_back,
                     "block 1 joined the queue before block 2, which stood deeper in the same table");
    }
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_free_block_that_joins_behind_others) {
    Queue queue(caching(4, 8));
    queue.sequence = admit_prompt(queue.kv, {1, 2, 3}).sequence;
    BlockPool::Batch batch{BlockId{8}};
    queue.expect(
        release(0), [&] { queue.pool().give_back(batch, BlockId{1}); },
        "block 1 has no content and joined the queue behind block 8");
}

BOOST_AUTO_TEST_CASE(breaking_P3_an_eviction_that_drops_another_block_than_the_first) {
    Queue queue(caching(4, 8));
    leave(queue.kv, tokens(1, 8));
    queue.expect(
        evict(1), [&] { Tamper::withdraw(queue.kv, BlockId{1}); },
        "block 2 should lose its content, for the place at which it stands in the queue");
    queue.expect(
        evict(0), [&] { Tamper::withdraw(queue.kv, BlockId{2}); },
        "block 2 should keep its content, for the place at which it stands in the queue");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_reset_that_leaves_a_block) {
    Queue queue(caching(4, 8));
    leave(queue.kv, tokens(1, 8));
    queue.expect(reset_cache(), no_fault,
                 "block 2 should lose its content, for the place at which it stands in the queue");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_block_whose_priority_is_lower_than_that_of_its_request) {
    Queue queue(caching(4, 8));
    queue.sequence = admit_prompt(queue.kv, tokens(1, 8), {}, 3).sequence;
    Operation admission = admit(0, tokens(1, 8));
    admission.priority = 3;
    const auto lower = [&] {
        queue.pool().make_rank({2, 0});
        queue.pool().set_rank(BlockId{2}, {2, 0});
    };
    queue.expect(admission, lower, "block 2 has the priority 2, the request that holds it 3");
}

BOOST_AUTO_TEST_CASE(breaking_P3_cached_blocks_that_are_not_in_the_order_of_their_idle_times) {
    Broken broken(caching(4, 8));
    broken.run(admit(0, tokens(1, 8)));
    broken.run(release(0));
    ++ ++Tamper::idle_since(broken.kv(), BlockId{2});
    broken.audit_expects(Invariant::P3, "block 1 is queued behind block 2, and has a lower rank or is idle for longer");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
// F1, F2, A1, A2: faults that an operation makes, and not a state alone.
#include "invariants/breaking.h"

namespace kvpane::invariants {

using testing::plain;

namespace {

constexpr auto no_fault = [] {};

}  // namespace

BOOST_AUTO_TEST_SUITE(breaking_operations)

BOOST_AUTO_TEST_CASE(breaking_F1_an_append_that_moves_blocks_of_another_sequence) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5, 6, 7, 8}));
    broken.run(admit(1, {1, 2}));
    Tamper::apply(broken.checked, append(1, {3}), no_fault,
                  [&] { std::swap(Tamper::entry(broken.table(0), 0), Tamper::entry(broken.table(0), 1)); });
    broken.expect(Invariant::F1, "sequence #0, group full, position 0");
    broken.expect(Invariant::F1, "(the operation worked on sequence #1)");
}

BOOST_AUTO_TEST_CASE(breaking_F1_a_write_into_a_block_that_another_sequence_holds) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    broken.run(admit(1, {1, 2}));
    Tamper::apply(broken.checked, append(1, {3}), no_fault,
                  [&] { Tamper::shadow(broken.checked).write(Slot{6}, ShadowCell{2, 5, 3, 0, 0, 1}); });
    broken.expect(Invariant::F1, "written by #1");
}

BOOST_AUTO_TEST_CASE(breaking_F2_a_refusal_that_leaves_something_behind) {
    Broken broken(plain(4, 2));
    broken.run(admit(0, {1, 2, 3, 4, 5}));
    const auto outcome = Tamper::apply(broken.checked, append(0, {6, 7, 8, 9}), no_fault,
                                       [&] { ++Tamper::length(broken.kv(), broken.handle(0)); });
    BOOST_TEST((outcome.error == Error::never));
    broken.expect(Invariant::F2, "the operation ended with never and the digest went from ");
}

BOOST_AUTO_TEST_CASE(breaking_F2_a_plan_that_takes_a_block) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, plan(4), no_fault, [&] { Tamper::pool(broken.kv()).take(); });
    broken.expect(Invariant::F2, "the operation ended with success");
}

BOOST_AUTO_TEST_CASE(breaking_A1_an_operation_that_copies_what_its_plan_did_not_see) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, append(0, {4}), [&] { ++Tamper::refs(broken.kv(), broken.block(0, 0)); }, no_fault);
    broken.expect(Invariant::A1, "the plan said 0 blocks and 0 copies, the operation took 1 and 1");
}

BOOST_AUTO_TEST_CASE(breaking_A1_an_operation_that_fails_although_its_plan_said_ok) {
    Broken broken(plain(4, 2));
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, append(0, {4, 5}), [&] { Tamper::pool(broken.kv()).take(); }, no_fault);
    broken.expect(Invariant::A1, "the plan said success, the operation ended with later");
}

BOOST_AUTO_TEST_CASE(breaking_A1_a_refusal_that_the_contract_does_not_know) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, truncate(0, 2), [&] { Tamper::length(broken.kv(), broken.handle(0)) = 1; }, no_fault);
    broken.expect(Invariant::A1, "sequence #0: expected success, got invalid_argument");
}

BOOST_AUTO_TEST_CASE(breaking_A1_a_success_that_the_contract_refuses) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, truncate(3, 2), no_fault, [](Outcome& outcome) { outcome.error.reset(); });
    broken.expect(Invariant::A1, "sequence #3: expected unknown_sequence, got success");
    BOOST_TEST((broken.checked.violation()->due == Error::unknown_sequence));
}

BOOST_AUTO_TEST_CASE(breaking_A1_an_admission_into_the_watermark) {
    Config config = plain(4, 5);
    config.watermark = 2;
    Broken broken(config);
    broken.run(admit(0, {1, 2, 3}));
    Tamper::apply(broken.checked, admit(1, {4, 5, 6, 7, 8}), no_fault, [&] { Tamper::pool(broken.kv()).take(); });
    broken.expect(Invariant::A1, "it was admitted, and of the 2 blocks of the watermark 1 are left");
}

BOOST_AUTO_TEST_CASE(breaking_A2_a_digest_that_does_not_see_a_change) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    const auto undo = [&] { BOOST_TEST(Tamper::pool(broken.kv()).step_end(StepId{1}).has_value()); };
    Tamper::apply(broken.checked, step_begin(1), no_fault, undo);
    broken.expect(Invariant::A2, "the operation changed the state, and the digest is ");
}

BOOST_AUTO_TEST_CASE(breaking_A2_a_twin_that_takes_its_blocks_in_another_order) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    BlockPool& pool = Tamper::pool(Tamper::twin(broken.checked));
    BlockPool::Batch batch;
    pool.give_back(batch, pool.take().block);  // the front block goes to the end
    broken.checked.apply(admit(1, {4}));
    broken.expect(Invariant::A2, "other slots or copies");
}

BOOST_AUTO_TEST_CASE(breaking_A2_a_twin_whose_state_drifts_away) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, {1, 2, 3}));
    BlockPool& pool = Tamper::pool(Tamper::twin(broken.checked));
    BlockPool::Batch batch;
    pool.give_back(batch, pool.take().block);
    broken.checked.apply(check());
    broken.expect(Invariant::A2, "other tables or pool");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

BOOST_AUTO_TEST_SUITE(admission)

BOOST_AUTO_TEST_CASE(admitting_takes_the_blocks_of_the_prompt_in_queue_order_and_hands_out_their_slots) {
    Manager kv(plain(4, 8));
    const Tokens prompt = tokens(10, 15);
    const Admission admitted = must(kv.admit({.tokens = prompt}));
    BOOST_TEST(admitted.cached_tokens == 0);
    BOOST_TEST(admitted.step.cells == 6);
    BOOST_TEST(admitted.step.blocks_taken == 2);
    BOOST_TEST(admitted.step.copies.empty());
    BOOST_TEST(slots_of(admitted.step) == Slots({4, 5, 6, 7, 8, 9}), per_element());
    BOOST_TEST(table_of(kv, admitted.sequence) == Ids({1, 2}), per_element());
    BOOST_TEST(refs_of(kv, admitted.sequence) == Ids({1, 1}), per_element());
    BOOST_TEST(kv.length(admitted.sequence).value() == 6);
    BOOST_TEST(kv.reserved(admitted.sequence).value() == 0);
    BOOST_TEST(first_resident(kv, admitted.sequence) == 0);
    BOOST_TEST(queue_of(kv) == Ids({3, 4, 5, 6, 7, 8}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{6, 0, 2, 0}));
}

BOOST_AUTO_TEST_CASE(a_prompt_may_be_computed_in_part_and_reserves_nothing_beyond) {
    Manager kv(plain(4, 8));
    const Tokens prompt = tokens(0, 9);
    const Admission admitted = must(kv.admit({.tokens = prompt, .compute = 3}));
    BOOST_TEST(kv.length(admitted.sequence).value() == 3);
    BOOST_TEST(kv.reserved(admitted.sequence).value() == 0);
    BOOST_TEST(slots_of(admitted.step) == Slots({4, 5, 6}), per_element());
    append(kv, admitted.sequence, 7);
    BOOST_TEST(kv.length(admitted.sequence).value() == 10);
    BOOST_TEST(table_of(kv, admitted.sequence) == Ids({1, 2, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(a_prompt_that_is_not_computed_holds_nothing_but_is_alive) {
    Manager kv(plain(4, 8));
    const Tokens prompt = tokens(0, 9);
    const Admission admitted = must(kv.admit({.tokens = prompt, .compute = 0}));
    BOOST_TEST(admitted.step.cells == 0);
    BOOST_TEST(admitted.step.slots.empty());
    BOOST_TEST(kv.is_alive(admitted.sequence));
    BOOST_TEST(kv.length(admitted.sequence).value() == 0);
    BOOST_TEST(table_of(kv, admitted.sequence).empty());
    BOOST_TEST(partition_of(kv) == (Partition{8, 0, 0, 0}));
    BOOST_TEST(append(kv, admitted.sequence, 1).slots.front() == 4);
}

BOOST_AUTO_TEST_CASE(with_several_groups_blocks_are_taken_group_by_group) {
    Config config = plain(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 8, 0}};
    Manager kv(config);
    const Tokens prompt = tokens(0, 8);
    const Admission admitted = must(kv.admit({.tokens = prompt}));
    BOOST_TEST(table_of(kv, admitted.sequence, first_group) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(table_of(kv, admitted.sequence, second_group) == Ids({4, 5, 6}), per_element());
    BOOST_TEST(admitted.step.cells == 9);
    BOOST_TEST(admitted.step.blocks_taken == 6);
    BOOST_TEST(admitted.step.slots.size() == 18U);
    BOOST_TEST(slots_of(admitted.step, first_group).front() == 4);
    BOOST_TEST(slots_of(admitted.step, second_group) == Slots({16, 17, 18, 19, 20, 21, 22, 23, 24}), per_element());
}

BOOST_AUTO_TEST_CASE(a_prompt_longer_than_its_window_takes_all_its_blocks_before_the_release) {
    Manager kv(windowed(4, 4, 4));
    const SequenceHandle a = admit(kv, 16);
    BOOST_TEST(table_of(kv, a) == Ids({0, 0, 0, 4}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 1}), per_element());
    BOOST_TEST(first_resident(kv, a) == 12);

    Manager tight(windowed(4, 3, 4));
    expect_refusal(tight, Error::never, [&] { return tight.admit({.tokens = some_tokens(16)}); });
}

BOOST_AUTO_TEST_CASE(senseless_prompts_are_refused) {
    Manager kv(plain(4, 8));
    const auto refuses = [&](const Prompt& prompt) {
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.admit(prompt); });
    };
    const Tokens good = tokens(0, 3);
    const Tokens bad{0, 1, -1, 2};
    refuses({.tokens = {}});
    refuses({.tokens = {}, .compute = 0});
    refuses({.tokens = bad});
    refuses({.tokens = bad, .compute = 1});  // also where it would not be written
    refuses({.tokens = good, .compute = -1});
    BOOST_TEST(kv.sequences() == 0U);
}

BOOST_AUTO_TEST_CASE(a_refused_admission_leaves_no_trace) {
    Manager kv(plain(4, 3));
    const SequenceHandle a = admit(kv, 5);
    expect_refusal(kv, Error::later, [&] { return kv.admit({.tokens = some_tokens(5)}); });
    expect_refusal(kv, Error::never, [&] { return kv.admit({.tokens = some_tokens(13)}); });
    BOOST_TEST(kv.sequences() == 1U);
    BOOST_TEST(queue_of(kv) == Ids({3}), per_element());
    must(kv.release(a));
    admit(kv, 5);
}

BOOST_AUTO_TEST_CASE(token_ids_go_up_to_the_largest_int32) {
    Manager kv(plain(4, 3));
    const Tokens prompt{0, 2'147'483'647};
    BOOST_TEST(kv.admit({.tokens = prompt}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

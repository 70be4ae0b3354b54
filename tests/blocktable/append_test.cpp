// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>
#include <vector>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

expected<Step> append_one_each(Manager& kv, const std::vector<SequenceHandle>& sequences) {
    return kv.append_batch(sequences, some_tokens(static_cast<Length>(sequences.size())));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(append_and_append_batch)

BOOST_AUTO_TEST_CASE(appending_fills_the_tail_block_before_it_takes_another) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    BOOST_TEST(slots_of(append(kv, a, 1)) == Slots({7}), per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    const Step next = append(kv, a, 5);
    BOOST_TEST(slots_of(next) == Slots({8, 9, 10, 11, 12}), per_element());
    BOOST_TEST(next.blocks_taken == 2);
    BOOST_TEST(table_of(kv, a) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(kv.length(a).value() == 9);
}

BOOST_AUTO_TEST_CASE(appending_to_a_sequence_with_reserved_cells_is_busy) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const SequenceHandle b = admit(kv, 3);
    must(reserve(kv, a, 1));
    expect_refusal(kv, Error::busy, [&] { return kv.append(a, tokens(1, 1)); });
    expect_refusal(kv, Error::busy, [&] { return append_one_each(kv, {b, a}); });
    must(kv.cancel(a));
    append(kv, a, 1);
}

BOOST_AUTO_TEST_CASE(appending_nothing_or_a_negative_token_is_refused) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.append(a, {}); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.append(a, Tokens{4, -1}); });
    const std::array<SequenceHandle, 1> one{a};
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.append_batch(one, Tokens{-1}); });
}

BOOST_AUTO_TEST_CASE(a_batch_gives_one_token_to_each_in_the_order_of_the_batch) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = admit(kv, 4);
    const SequenceHandle c = admit(kv, 3);
    const Step step = must(append_one_each(kv, {b, c, a}));
    BOOST_TEST(step.cells == 3);
    BOOST_TEST(slots_of(step) == Slots({16, 15, 20}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({2, 4}), per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1, 5}), per_element());
    BOOST_TEST(kv.length(a).value() == 5);
    BOOST_TEST(kv.length(c).value() == 4);
    BOOST_TEST(kv.reserved(a).value() == 0);
}

BOOST_AUTO_TEST_CASE(a_batch_is_all_or_nothing) {
    Manager kv(plain(4, 5));
    const SequenceHandle a = admit(kv, 4);
    const SequenceHandle b = admit(kv, 4);
    const SequenceHandle c = admit(kv, 3);
    admit(kv, 1);
    expect_refusal(kv, Error::later, [&] { return append_one_each(kv, {a, c, b}); });
    BOOST_TEST(kv.length(c).value() == 3);
    BOOST_TEST(slots_of(must(append_one_each(kv, {a, c}))) == Slots({20, 15}), per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_needs_as_many_tokens_as_sequences_and_each_sequence_once) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const SequenceHandle b = admit(kv, 3);
    const std::array<SequenceHandle, 2> both{a, b};
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.append_batch(both, tokens(1, 1)); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.append_batch(both, tokens(1, 3)); });
    expect_refusal(kv, Error::invalid_argument, [&] { return append_one_each(kv, {a, b, a}); });
    must(append_one_each(kv, {a, b}));
}

BOOST_AUTO_TEST_CASE(a_shared_tail_is_copied_for_all_of_the_batch_but_its_last_holder) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);  // 1, 2
    const SequenceHandle b = must(kv.fork(a));
    const SequenceHandle c = must(kv.fork(a));
    const Step step = must(append_one_each(kv, {c, a, b}));
    const std::vector<BlockCopy> copies{{first_group, BlockId{2}, BlockId{3}, 2},
                                        {first_group, BlockId{2}, BlockId{4}, 2}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(step.blocks_taken == 2);
    BOOST_TEST(table_of(kv, c) == Ids({1, 3}), per_element());
    BOOST_TEST(table_of(kv, a) == Ids({1, 4}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({1, 2}), per_element());
    BOOST_TEST(slots_of(step) == Slots({14, 18, 10}), per_element());
}

BOOST_AUTO_TEST_CASE(room_that_an_earlier_item_makes_serves_a_later_one_but_not_the_other_way_round) {
    // a: the next query sees 4.., block 0 goes. b: needs one block, the pool has none left.
    const auto prepare = [](Manager& kv) {
        const SequenceHandle a = admit(kv, 7);
        const SequenceHandle b = admit(kv, 2);
        append(kv, b, 2);
        return std::array<SequenceHandle, 2>{a, b};
    };
    Config config = windowed(4, 3, 4);
    config.window_release = WindowRelease::reserve;
    Manager kv(config);
    const auto [a, b] = prepare(kv);
    BOOST_TEST(queue_of(kv).empty());
    // Without any other sequence this order would fail just the same, so that the answer is final.
    expect_refusal(kv, Error::never, [&, first = b, second = a] { return append_one_each(kv, {first, second}); });
    const Step step = must(append_one_each(kv, {a, b}));
    BOOST_TEST(step.blocks_taken == 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({3, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_reserves_for_all_before_it_commits_any) {
    // In mode commit the commit of a would free block 1; it comes too late for b.
    Manager kv(windowed(4, 4, 3));
    const SequenceHandle a = admit(kv, 6);  // 1, 2: the commit of the 7th token drops block 0
    const SequenceHandle b = admit(kv, 4);  // 3
    const Step step = must(append_one_each(kv, {a, b}));
    BOOST_TEST(step.blocks_taken == 1);
    BOOST_TEST(table_of(kv, a) == Ids({0, 2}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({3, 4}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({1}), per_element());
}

BOOST_AUTO_TEST_CASE(an_empty_batch_is_refused_like_an_empty_append) {
    Manager kv(plain(4, 8));
    admit(kv, 3);
    expect_refusal(kv, Error::invalid_argument, [&] { return append_one_each(kv, {}); });
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.reserve({}); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

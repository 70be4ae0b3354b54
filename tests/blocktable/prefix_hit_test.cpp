// SPDX-License-Identifier: Apache-2.0
#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

BOOST_AUTO_TEST_SUITE(prefix_hits)

BOOST_AUTO_TEST_CASE(a_prompt_shares_the_whole_blocks_that_it_has_in_common_with_a_living_sequence) {
    Manager kv(caching(4, 10));
    const Admission a = admit_prompt(kv, tokens(0, 9));
    const Admission b = admit_prompt(kv, tokens(0, 8) + tokens(50, 53));
    BOOST_TEST(b.cached_tokens == 8);
    BOOST_TEST(b.step.cells == 5);
    BOOST_TEST(b.step.blocks_taken == 2);
    BOOST_TEST(table_of(kv, a.sequence) == Ids({1, 2, 3}), per_element());
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 2, 4, 5}), per_element());
    BOOST_TEST(refs_of(kv, b.sequence) == Ids({2, 2, 1, 1}), per_element());
    BOOST_TEST(slots_of(b.step).front() == 16);
    BOOST_TEST(kv.length(b.sequence).value() == 13);
}

BOOST_AUTO_TEST_CASE(what_an_ended_sequence_left_is_taken_out_of_the_queue_for_a_hit) {
    Manager kv(caching(4, 6));
    leave(kv, tokens(0, 12));
    BOOST_TEST(queue_of(kv) == Ids({4, 5, 6, 3, 2, 1}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{3, 3, 0, 0}));
    const Admission b = admit_prompt(kv, tokens(0, 10));
    BOOST_TEST(b.cached_tokens == 8);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 2, 4}), per_element());
    BOOST_TEST(queue_of(kv) == Ids({5, 6, 3}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{2, 1, 3, 0}));
    must(kv.release(b.sequence));
    BOOST_TEST(queue_of(kv) == Ids({4, 5, 6, 3, 2, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(at_least_one_token_is_left_to_compute) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 7));
    BOOST_TEST(found(kv, tokens(0, 7)) == 4);
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    BOOST_TEST(found(kv, tokens(0, 3)) == 0);
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    const Admission again = admit_prompt(kv, tokens(0, 7));
    BOOST_TEST(again.step.cells == 4);
}

BOOST_AUTO_TEST_CASE(a_query_of_one_token_finds_nothing) {
    Manager blocks_of_one(caching(1, 4));
    leave(blocks_of_one, {5});
    BOOST_TEST(found(blocks_of_one, {5}) == 0);
    BOOST_TEST(found(blocks_of_one, {5, 6}) == 1);
    Manager by_token(caching_by_token(4, 4));
    leave(by_token, {5});
    BOOST_TEST(found(by_token, {5}) == 0);
    BOOST_TEST(found(by_token, {5, 6}) == 1);
}

BOOST_AUTO_TEST_CASE(an_edit_in_the_middle_is_found_up_to_the_edit_and_never_behind_it) {
    Manager kv(caching(4, 16));
    leave(kv, tokens(0, 15));
    for (std::size_t at = 0; at < 16; ++at) {
        Tokens edited = tokens(0, 15);
        edited[at] = 99;
        BOOST_TEST(found(kv, edited) == static_cast<Length>(std::min<std::size_t>(at / 4 * 4, 12)));
    }
    // A block is known by all tokens before it: its own tokens elsewhere are nothing.
    BOOST_TEST(found(kv, tokens(4, 15)) == 0);
    BOOST_TEST(found(kv, tokens(4, 7) + tokens(4, 15)) == 0);
    BOOST_TEST(found(kv, tokens(0, 3) + tokens(8, 15)) == 4);
}

BOOST_AUTO_TEST_CASE(writing_on_one_branch_leaves_the_other_and_what_is_cached_alone) {
    Manager kv(caching(4, 24));
    const SequenceHandle a = admit_prompt(kv, tokens(1, 10)).sequence;
    const SequenceHandle b = must(kv.fork(a));
    feed(kv, b, tokens(30, 36));
    feed(kv, a, tokens(40, 42));
    must(kv.truncate(b, 5));
    feed(kv, b, tokens(50, 55));
    BOOST_TEST(found(kv, tokens(1, 10) + tokens(40, 42)) == 12);
    BOOST_TEST(found(kv, tokens(1, 10) + tokens(30, 36)) == 16);
    BOOST_TEST(found(kv, tokens(1, 5) + tokens(50, 55)) == 8);
    BOOST_TEST(found(kv, tokens(1, 8) + tokens(50, 55)) == 8);
}

BOOST_AUTO_TEST_CASE(a_full_cache_drops_its_oldest_entry_and_asking_does_not_refresh_it) {
    Manager kv(caching(4, 2));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(10, 13));
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    leave(kv, tokens(20, 23));
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    BOOST_TEST(found(kv, tokens(10, 14)) == 4);
    must(kv.release(
        admit_prompt(kv, tokens(10, 14)).sequence));  // a use, and the second block of it costs the other one
    BOOST_TEST(found(kv, tokens(10, 14)) == 4);
    BOOST_TEST(found(kv, tokens(20, 24)) == 0);
}

BOOST_AUTO_TEST_CASE(illegal_prompts_are_refused_wherever_a_prefix_is_asked_for) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 7));
    const Tokens negative{0, 1, 2, 3, -5};
    const Tokens good = tokens(0, 4);
    const std::vector<ExternalContent> beyond{{4, 2, "image"}};
    const std::vector<ExternalContent> before{{-1, 2, "image"}};
    const std::vector<ExternalContent> overlapping{{0, 2, "image"}, {1, 2, "image"}};
    const std::vector<ExternalContent> descending{{3, 1, "image"}, {0, 1, "image"}};
    const std::vector<Prompt> illegal{
        {.tokens = {}},
        {.tokens = negative},
        {.tokens = good, .compute = -1},
        {.tokens = good, .extra = beyond},
        {.tokens = good, .extra = before},
        {.tokens = good, .extra = overlapping},
        {.tokens = good, .extra = descending},
    };
    for (const Prompt& prompt : illegal) {
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.admit(prompt); });
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.probe(prompt); });
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.pin(prompt); });
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.unpin(prompt); });
        expect_refusal(kv, Error::invalid_argument, [&] { return kv.plan_prompt(prompt, 0); });
    }
    expect_refusal(kv, Error::invalid_argument, [&] { return kv.plan_prompt({.tokens = good}, -1); });
    BOOST_TEST(kv.statistics().queried_tokens == 8U);
}

BOOST_AUTO_TEST_CASE(a_block_is_found_only_when_its_last_cell_is_committed) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = must(kv.admit({.tokens = tokens(0, 3), .compute = 0})).sequence;
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    must(reserve(kv, a, 6));
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    must(kv.commit(a, tokens(0, 2)));
    BOOST_TEST(kv.index_entries() == 0U);
    must(kv.commit(a, tokens(3, 3)));
    BOOST_TEST(kv.index_entries() == 1U);
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    must(kv.commit(a, tokens(4, 5)));
    BOOST_TEST(kv.index_entries() == 1U);
    must(kv.release(a));
    BOOST_TEST(kv.index_entries() == 1U);
}

BOOST_AUTO_TEST_CASE(of_two_copies_of_one_content_the_older_serves_until_it_is_gone) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = must(kv.admit({.tokens = tokens(0, 4), .compute = 0})).sequence;
    const SequenceHandle b = must(kv.admit({.tokens = tokens(0, 4), .compute = 0})).sequence;
    feed(kv, a, tokens(0, 4));
    feed(kv, b, tokens(0, 4));
    BOOST_TEST(kv.index_entries() == 2U);
    BOOST_TEST(kv.cache_totals().stored == 1U);
    BOOST_TEST(table_of(kv, admit_prompt(kv, tokens(0, 4)).sequence) == Ids({1, 5}), per_element());
    const std::vector<Length> first{0};
    must(kv.uncache(a, first));
    BOOST_TEST(kv.cache_totals().removed == 0U);
    BOOST_TEST(table_of(kv, admit_prompt(kv, tokens(0, 4)).sequence) == Ids({3, 6}), per_element());
    must(kv.uncache(b, first));
    BOOST_TEST(kv.cache_totals().removed == 1U);
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
}

BOOST_AUTO_TEST_CASE(a_block_leaves_the_index_before_its_only_holder_writes_it_again) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 5)).sequence;
    must(kv.truncate(a, 2));
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);  // still whole
    must(reserve(kv, a, 1));
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    BOOST_TEST(table_of(kv, a) == Ids({1}), per_element());
    BOOST_TEST(kv.cache_totals().removed == 1U);
    must(kv.cancel(a));
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
    feed(kv, a, {9, 9});
    BOOST_TEST(found(kv, {0, 1, 9, 9, 4}) == 4);
    BOOST_TEST(found(kv, tokens(0, 4)) == 0);
}

BOOST_AUTO_TEST_CASE(a_shared_block_is_copied_before_it_is_written_and_stays_what_it_was) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 5)).sequence;
    const SequenceHandle b = admit_prompt(kv, tokens(0, 5)).sequence;
    must(kv.truncate(a, 2));
    const Step step = feed(kv, a, {9, 9});
    const std::vector<BlockCopy> copies{{first_group, BlockId{1}, BlockId{2}, 2}};
    BOOST_TEST(copies_of(step) == copies, per_element());
    BOOST_TEST(table_of(kv, a) == Ids({2}), per_element());
    BOOST_TEST(table_of(kv, b) == Ids({1, 3}), per_element());
    BOOST_TEST(found(kv, tokens(0, 4)) == 4);
    BOOST_TEST(found(kv, {0, 1, 9, 9, 4}) == 4);
}

BOOST_AUTO_TEST_CASE(a_whole_block_cut_off_by_truncate_stays_in_the_index) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 11)).sequence;
    must(kv.truncate(a, 4));
    BOOST_TEST(queue_of(kv) == Ids({4, 5, 6, 7, 8, 3, 2}), per_element());
    BOOST_TEST(found(kv, tokens(0, 12)) == 12);
    feed(kv, a, {70});
    BOOST_TEST(table_of(kv, a) == Ids({1, 4}), per_element());
    BOOST_TEST(found(kv, tokens(0, 12)) == 12);
}

BOOST_AUTO_TEST_CASE(the_hits_of_a_request_are_no_room_for_it) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7));  // two cached, two free
    const auto asks = [&](const Tokens& prompt) { return kv.admit({.tokens = prompt}); };
    expect_refusal(kv, Error::never, [&] { return asks(tokens(0, 16)); });  // five blocks in a pool of four
    const SequenceHandle other = admit_prompt(kv, {90}).sequence;
    expect_refusal(kv, Error::later, [&] { return asks(tokens(0, 15)); });
    BOOST_TEST(queue_of(kv) == Ids({4, 2, 1}), per_element());
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    // Without a hit the same blocks are room.
    BOOST_TEST(table_of(kv, admit_prompt(kv, tokens(50, 61)).sequence) == Ids({4, 2, 1}), per_element());
    must(kv.release(other));
}

BOOST_AUTO_TEST_CASE(a_hit_that_would_be_taken_next_is_kept_and_the_next_one_goes) {
    Manager kv(caching(4, 3));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(10, 17));  // queue: 1, 3, 2
    BOOST_TEST(queue_of(kv) == Ids({1, 3, 2}), per_element());
    const Admission again = admit_prompt(kv, tokens(0, 4));
    BOOST_TEST(again.cached_tokens == 4);
    BOOST_TEST(table_of(kv, again.sequence) == Ids({1, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_admission_leaves_neither_hits_nor_uses_nor_figures_behind) {
    Manager kv(caching(4, 4));
    leave(kv, tokens(0, 7));
    admit_prompt(kv, {90});
    const Ids queue = queue_of(kv);
    const Statistics before = kv.statistics();
    const std::uint64_t emitted = events(kv);
    expect_refusal(kv, Error::later, [&] { return kv.admit({.tokens = tokens(0, 15)}); });
    BOOST_TEST(queue_of(kv) == queue);
    BOOST_TEST(kv.statistics().queried_tokens == before.queried_tokens);
    BOOST_TEST(kv.statistics().hit_tokens == before.hit_tokens);
    BOOST_TEST(kv.statistics().evicted_blocks == before.evicted_blocks);
    BOOST_TEST(events(kv) == emitted);
    BOOST_TEST(kv.sequences() == 1U);
}

BOOST_AUTO_TEST_CASE(a_request_larger_than_the_pool_may_still_fit_now_thanks_to_what_others_hold) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 11)).sequence;
    const Admission b = admit_prompt(kv, tokens(0, 12));
    BOOST_TEST(b.cached_tokens == 12);
    BOOST_TEST(refs_of(kv, b.sequence) == Ids({2, 2, 2, 1}), per_element());
    must(kv.release(a));
}

BOOST_AUTO_TEST_CASE(a_prompt_may_be_computed_in_part_behind_its_hits) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 7));
    const Tokens prompt = tokens(0, 14);
    const Admission part = must(kv.admit({.tokens = prompt, .compute = 3}));
    BOOST_TEST(part.cached_tokens == 8);
    BOOST_TEST(part.step.cells == 3);
    BOOST_TEST(kv.length(part.sequence).value() == 11);
    const Admission none = must(kv.admit({.tokens = prompt, .compute = 0}));
    BOOST_TEST(none.cached_tokens == 8);
    BOOST_TEST(none.step.blocks_taken == 0);
    BOOST_TEST(kv.length(none.sequence).value() == 8);
    BOOST_TEST(table_of(kv, none.sequence) == Ids({1, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(a_plan_counts_the_hits_and_changes_nothing) {
    Manager kv(caching(4, 6));
    leave(kv, tokens(0, 7));
    const Tokens prompt = tokens(0, 15);
    const std::uint64_t digest = kv.digest();
    const Plan plan = must(kv.plan_prompt({.tokens = prompt}));
    BOOST_TEST(plan.verdict == Verdict::ok);
    BOOST_TEST(plan.blocks_needed == 2);
    BOOST_TEST(kv.digest() == digest);
    BOOST_TEST(must(kv.plan_prompt(16)).blocks_needed == 4);
    const SequenceHandle other = admit_prompt(kv, tokens(50, 61)).sequence;
    BOOST_TEST(must(kv.plan_prompt({.tokens = prompt}, 4)).verdict == Verdict::later);
    must(kv.release(other, false));
    BOOST_TEST(must(kv.plan_prompt({.tokens = prompt}, 4)).verdict == Verdict::ok);
    const Tokens huge = tokens(0, 24);
    BOOST_TEST(must(kv.plan_prompt({.tokens = huge})).verdict == Verdict::never);
}

BOOST_AUTO_TEST_CASE(a_block_that_waits_for_a_step_may_be_hit_and_waits_again_when_it_is_given_up) {
    Manager kv(caching(4, 4));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 4)).sequence;
    must(kv.step_begin(StepId{1}));
    must(kv.release(a));
    BOOST_TEST(partition_of(kv) == (Partition{2, 0, 0, 2}));
    const Admission b = admit_prompt(kv, tokens(0, 4));
    BOOST_TEST(b.cached_tokens == 4);
    BOOST_TEST(table_of(kv, b.sequence) == Ids({1, 3}), per_element());
    BOOST_TEST(partition_of(kv) == (Partition{1, 0, 2, 1}));
    must(kv.step_end(StepId{1}));
    BOOST_TEST(partition_of(kv) == (Partition{2, 0, 2, 0}));
    must(kv.release(b.sequence));
    BOOST_TEST(queue_of(kv) == Ids({3, 2, 4, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(with_the_cache_off_nothing_is_ever_found) {
    Manager kv(plain(4, 8));
    leave(kv, tokens(0, 7));
    BOOST_TEST(found(kv, tokens(0, 8)) == 0);
    BOOST_TEST(admit_prompt(kv, tokens(0, 8)).cached_tokens == 0);
    BOOST_TEST(must(kv.evict(5)) == 0);
    BOOST_TEST(must(kv.pin({.tokens = tokens(0, 3)})) == 0);
    BOOST_TEST(kv.index_entries() == 0U);
    BOOST_TEST(kv.index() == nullptr);
    BOOST_TEST(events(kv) == 0U);
    kv.reset_cache();
    BOOST_TEST(events(kv) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

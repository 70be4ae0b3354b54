// SPDX-License-Identifier: Apache-2.0
// X1, X2, X3, and what P2, P3 and T5 say of the cache: each broken on purpose, and caught by its number.
#include "invariants/breaking.h"

#include <string>
#include <utility>

#include "support/cache.h"

namespace kvpane::invariants {

using testing::caching;
using testing::plain;

namespace {

constexpr auto no_fault = [] {};

const Tokens eight = {1, 2, 3, 4, 5, 6, 7, 8};

// Two whole blocks of four, 1 and 2, that nobody holds any more.
struct Cached : Broken {
    explicit Cached(const Config& config = caching(4, 8)) : Broken(config) {
        run(admit(0, eight));
        run(release(0));
    }

    ContentId content(std::uint32_t block) { return Tamper::content(kv(), BlockId{block}); }

    // Behind any operation the index is looked at.
    void check_expects(Invariant invariant, const std::string& what) {
        checked.apply(check());
        expect(invariant, what);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(breaking_the_index)

// --- X1 -------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_with_another_token) {
    Cached broken;
    Tamper::token(broken.kv(), broken.content(1), 2) = 9;
    broken.check_expects(Invariant::X1, "block 1, cell 2: the index says position 2 token 9 scope 0");
}

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_in_the_scope_of_somebody_else) {
    Cached broken;
    Tamper::scope(broken.kv(), broken.content(1)).tenant = "somebody else";
    broken.check_expects(Invariant::X1, "block 1, cell 0: the index says position 0 token 1 scope 1");
}

BOOST_AUTO_TEST_CASE(breaking_X1_a_scope_whose_parts_changed_places) {
    Broken broken(caching(4, 8));
    broken.run(in(scope_of("x"), admit(0, eight)));
    kvpane::Scope& scope = Tamper::scope(broken.kv(), Tamper::content(broken.kv(), BlockId{1}));
    std::swap(scope.tenant, scope.salt);
    broken.audit_expects(Invariant::X1, "block 1, cell 0: the index says position 0 token 1 scope 1");
}

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_behind_another_prefix) {
    Cached broken;
    broken.run(admit(1, {8, 7, 6, 5}));
    Tamper::parent(broken.kv(), broken.content(2)) = broken.content(3);
    broken.check_expects(Invariant::X1, "block 2, cell 0: the index says position 4 token 5 scope 0");
}

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_at_another_depth) {
    Cached broken;
    Tamper::parent(broken.kv(), broken.content(2)) = Tamper::parent(broken.kv(), broken.content(1));
    broken.check_expects(Invariant::X1, "block 2, cell 0: the index says position 0 token 5");
}

BOOST_AUTO_TEST_CASE(breaking_X1_a_block_in_the_index_that_was_written_again) {
    Cached broken;
    Tamper::shadow(broken.checked).write(Slot{10}, ShadowCell{6, 5, 70, 0, 0, 3});
    broken.check_expects(Invariant::X1, "block 2, cell 2: the index says position 6 token 7");
}

BOOST_AUTO_TEST_CASE(breaking_X1_a_block_that_was_indexed_before_its_last_cell) {
    Broken broken(caching(4, 8));
    broken.run(admit(0, {1, 2, 3, 4, 5, 6}));
    Tamper::pool(broken.kv()).set_content(BlockId{2}, Tamper::content(broken.kv(), BlockId{1}), {});
    broken.audit_expects(Invariant::X1, "block 2, cell 0: the index says position 0 token 1");
}

BOOST_AUTO_TEST_CASE(breaking_X1_a_part_of_a_block_where_only_whole_ones_are_found) {
    Cached broken;
    Tamper::length(broken.kv(), broken.content(2)) = 3;
    broken.check_expects(Invariant::X1, "block 2 is indexed with 3 cells");
}

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_of_another_group) {
    Config config = caching(4, 8);
    config.groups = {GroupConfig{"full"}, GroupConfig{"other"}};
    Cached broken(config);
    Tamper::group(broken.kv(), BlockId{3}) = GroupId{0};  // blocks 3 and 4 are those of the other group
    broken.check_expects(Invariant::X1, "block 3, cell 0: the index says position 0 token 1 scope 0 group 0");
}

BOOST_AUTO_TEST_CASE(breaking_X1_an_entry_with_another_image_behind_its_tokens) {
    Broken broken(caching(4, 8));
    broken.run(with({{1, 2, "a cat"}}, admit(0, eight)));
    Tamper::mark(broken.kv(), Tamper::content(broken.kv(), BlockId{1})).id = "a dog";
    broken.audit_expects(Invariant::X1, "block 1, cell 1: the index says position 1 token 2");
}

BOOST_AUTO_TEST_CASE(breaking_X1_a_content_while_the_cache_is_off) {
    Broken broken(plain(4, 8));
    broken.run(admit(0, eight));
    Tamper::content(broken.kv(), BlockId{2}) = ContentId{1};
    broken.audit_expects(Invariant::X1, "block 2 is known, and the prefix cache is off");
}

// --- X2 -------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(breaking_X2_a_hit_that_is_too_short) {
    Cached broken;
    Tamper::apply(
        broken.checked, admit(1, {1, 2, 3, 4, 5}), [&] { Tamper::withdraw(broken.kv(), BlockId{1}); }, no_fault);
    broken.expect(Invariant::X2, "sequence #1: the longest cached prefix has 4 tokens, 0 were hit");
}

BOOST_AUTO_TEST_CASE(breaking_X2_a_hit_on_other_tokens) {
    Cached broken;
    Tamper::token(broken.kv(), broken.content(2), 3) = 9;
    // The hash of the altered content has to find it.
    broken.checked.apply(admit(1, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    broken.expect(Invariant::X2, "sequence #1: the longest cached prefix has 8 tokens, 4 were hit");
}

BOOST_AUTO_TEST_CASE(breaking_X2_a_hit_on_the_tokens_of_another_tenant) {
    Config config = caching(4, 8);
    config.prefix_cache.constant_hash = true;  // so that the altered scope is found
    Cached broken(config);
    Tamper::scope(broken.kv(), broken.content(1)).tenant = "somebody else";
    broken.checked.apply(in(scope_of("somebody else"), admit(1, {1, 2, 3, 4, 5})));
    broken.expect(Invariant::X2, "sequence #1: the longest cached prefix has 0 tokens, 4 were hit");
}

BOOST_AUTO_TEST_CASE(breaking_X2_a_hit_on_cells_that_were_written_again) {
    Cached broken;
    Tamper::shadow(broken.checked).write(Slot{7}, ShadowCell{3, 5, 4, 0, 0, 3});  // its past is another one
    broken.checked.apply(probe({1, 2, 3, 4, 5}));
    broken.expect(Invariant::X2, "the longest cached prefix has 0 tokens, 4 were hit");
}

BOOST_AUTO_TEST_CASE(breaking_X2_a_hit_that_leaves_nothing_to_compute) {
    Cached broken;
    Tamper::apply(broken.checked, probe(eight), no_fault, [](Outcome& outcome) { outcome.cached_tokens = 8; });
    broken.expect(Invariant::X2, "the longest cached prefix has 4 tokens, 8 were hit");
}

// --- X3 -------------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(breaking_X3_a_block_that_the_index_does_not_find) {
    Cached broken;
    Tamper::lose(broken.kv(), broken.content(2));
    broken.check_expects(Invariant::X3, "block 2 is known, and not found under its content");
}

BOOST_AUTO_TEST_CASE(breaking_X3_an_entry_whose_block_is_known_by_nothing) {
    Broken broken(caching(4, 8));
    broken.run(admit(0, eight));
    Tamper::content(broken.kv(), BlockId{2}) = no_content;
    broken.audit_expects(Invariant::X3, "1 blocks are known, the index counts 2");
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_counter_that_is_not_its_recount) {
    Cached broken;
    --Tamper::entries(broken.kv());
    broken.check_expects(Invariant::X3, "2 blocks are known, the index counts 1");
}

BOOST_AUTO_TEST_CASE(breaking_X3_an_event_that_was_never_emitted) {
    Broken broken(caching(2, 8));
    Tamper::apply(broken.checked, admit(0, eight), no_fault, [&] { Tamper::lose_event(broken.kv(), 2); });
    broken.expect(Invariant::X3, "the events say that 3 contents are stored, the blocks hold 4");
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_removal_that_was_never_emitted) {
    Cached broken;
    Tamper::apply(broken.checked, evict(1), no_fault, [&] { Tamper::lose_event(broken.kv(), 3); });
    broken.expect(Invariant::X3, "the events say that 2 contents are stored, the blocks hold 1");
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_batch_that_is_stored_the_other_way_round) {
    Broken broken(caching(2, 8));
    broken.run(admit(0, {1}));
    broken.run(admit(1, {3}));
    Tamper::apply(broken.checked, append_batch({0, 1}, {2, 4}), no_fault, [&] {
        std::swap(Tamper::event(broken.kv(), 1).content, Tamper::event(broken.kv(), 2).content);
        for (std::size_t offset = 0; offset < 2; ++offset) {
            std::swap(Tamper::event_token(broken.kv(), 1, offset), Tamper::event_token(broken.kv(), 2, offset));
        }
    });
    broken.expect(Invariant::X3,
                  "event 2 is about a sequence that stands in the batch before that of the event before it");
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_hit_that_is_forgotten_with_the_sequence_that_hit_it) {
    Cached broken;
    broken.run(admit(1, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
    Operation forgetting = release(1);
    forgetting.keep_cached = false;
    Tamper::apply(broken.checked, forgetting, no_fault, [&] { Tamper::withdraw(broken.kv(), BlockId{1}); });
    broken.expect(Invariant::X3, "block 1 was hit by sequence #1, and leaves the index with it");
}

BOOST_AUTO_TEST_CASE(breaking_X3_an_event_that_was_emitted_twice) {
    Cached broken;
    CacheEvents& events = Tamper::events(broken.kv());
    events.emit(CacheEvent(events.read(2)));
    broken.check_expects(Invariant::X3, "event 3 at place 3 stores what is stored");
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_removal_of_what_is_not_stored) {
    Cached broken;
    Tamper::events(broken.kv()).emit({.kind = CacheEvent::Kind::removed, .content = 77});
    broken.check_expects(Invariant::X3, "or removes what is not there");
}

BOOST_AUTO_TEST_CASE(breaking_X3_an_event_with_the_number_of_another) {
    Broken broken(caching(4, 8));
    Tamper::apply(broken.checked, admit(0, eight), no_fault, [&] { Tamper::event(broken.kv(), 2).number = 1; });
    broken.expect(Invariant::X3, "event 1 at place 2");
}

BOOST_AUTO_TEST_CASE(breaking_X3_events_from_which_another_index_is_rebuilt) {
    const auto expect_others = [](auto fault) {
        Broken broken(caching(4, 8));
        Tamper::apply(broken.checked, in(scope_of("t"), admit(0, eight)), no_fault, [&] { fault(broken.kv()); });
        broken.expect(Invariant::X3, "the events say that 2 contents are stored, the blocks hold 2 others");
    };
    expect_others([](Manager& kv) { Tamper::event_token(kv, 2, 1) = 9; });
    expect_others([](Manager& kv) { Tamper::event(kv, 2).parent = Tamper::event(kv, 1).parent; });
    expect_others([](Manager& kv) { Tamper::event(kv, 2).content = 77; });
    expect_others([](Manager& kv) { Tamper::event(kv, 2).group = GroupId{1}; });
    expect_others([](Manager& kv) { Tamper::event(kv, 1).scope.tenant = "u"; });
    expect_others([](Manager& kv) { std::swap(Tamper::event(kv, 1).scope.tenant, Tamper::event(kv, 1).scope.salt); });
}

BOOST_AUTO_TEST_CASE(breaking_X3_a_clearing_that_forgets_less_than_it_says) {
    Cached broken;
    Tamper::events(broken.kv()).emit({.kind = CacheEvent::Kind::cleared});
    broken.check_expects(Invariant::X3, "the events say that 0 contents are stored, the blocks hold 2");
}

// --- pins, and reserved cells ---------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(breaking_P2_a_pin_on_a_block_that_is_known_by_nothing) {
    Cached broken;
    Tamper::pins(broken.kv(), BlockId{5}) = 1;
    broken.audit_expects(Invariant::P2, "block 5 is pinned and known by nothing");
}

BOOST_AUTO_TEST_CASE(breaking_P2_a_pin_that_is_not_counted) {
    Cached broken;
    broken.run(pin(eight));
    --Tamper::pinned_counter(broken.kv());
    broken.audit_expects(Invariant::P2, "2 blocks are pinned, the pool counts 1");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_pinned_block_in_the_queue) {
    Cached broken;
    Tamper::pins(broken.kv(), BlockId{1}) = 1;
    Tamper::pinned_counter(broken.kv()) = 1;
    broken.audit_expects(Invariant::P3, "block 1 is pinned and queued");
}

BOOST_AUTO_TEST_CASE(breaking_P2_more_pins_than_there_may_be) {
    Config config = caching(4, 8);
    config.prefix_cache.most_pinned = 1;
    Cached broken(config);
    broken.run(pin({1, 2, 3, 4}));
    Tamper::pool(broken.kv()).pin(BlockId{2});
    broken.audit_expects(Invariant::P2, "2 blocks are pinned, at most 1 may be");
}

BOOST_AUTO_TEST_CASE(breaking_P3_a_block_that_lost_its_pin_and_is_in_no_queue) {
    Cached broken;
    broken.run(pin({1, 2, 3, 4}));
    Tamper::pins(broken.kv(), BlockId{1}) = 0;
    Tamper::pinned_counter(broken.kv()) = 0;
    broken.audit_expects(Invariant::P3, "block 1 is cached and not queued");
}

BOOST_AUTO_TEST_CASE(breaking_T5_a_cell_that_is_reserved_in_a_block_that_can_be_hit) {
    Cached broken;
    broken.run(admit(1, {8, 7}));
    broken.run(reserve(1, 2));
    Tamper::pool(broken.kv()).set_content(BlockId{3}, broken.content(1), {});
    broken.audit_expects(Invariant::T5, "sequence #1, group full, position 2 is reserved in block 3, which can be hit");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

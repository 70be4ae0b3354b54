// SPDX-License-Identifier: Apache-2.0
// What the judge says of a hit and of the events, against values that were worked out by hand from the contract.
#include "invariants/breaking.h"

#include <kvpane/invariants/audit_index.h>

#include "support/cache.h"

namespace kvpane::invariants {

using testing::caching;
using testing::caching_by_token;
using testing::operator+;

namespace {

Config with_groups(Config config, std::vector<GroupConfig> groups) {
    config.groups = std::move(groups);
    return config;
}

std::vector<spec::Rule> rules_of(const Config& config) {
    std::vector<spec::Rule> rules;
    for (const GroupConfig& group : config.groups) {
        rules.push_back({group.window, group.sinks, config.rewind_slack, Length{config.block_size}});
    }
    return rules;
}

struct Judged : Broken {
    using Broken::Broken;

    Scene scene() { return {kv(), Tamper::shadow(checked), {}, spellings}; }

    // Admits and releases.
    void leave(const Operation& prompt) {
        run(prompt);
        run(release(prompt.sequence));
    }

    // The judge and the Manager both find `hit` tokens of the prompt. Scopes count from 0, in order of appearance.
    void expect_hit(Length hit, Operation prompt, std::uint32_t scope = 0) {
        prompt.verb = Verb::probe;
        const auto chains = chains_of(scope, prompt.tokens, prompt.extra);
        const auto most = static_cast<Length>(prompt.tokens.size()) - 1;
        BOOST_TEST(longest_hit(scene(), chains, most, rules_of(kv().config())) == hit);
        BOOST_TEST(checked.apply(prompt).cached_tokens == hit);
        expect_sound();
    }

    std::vector<std::string> spellings;
};

const Tokens six = {1, 2, 3, 4, 5, 6};
const Tokens eight = {1, 2, 3, 4, 5, 6, 7, 8};

}  // namespace

BOOST_AUTO_TEST_SUITE(audit_of_the_index)

// --- hits -----------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_hit_is_whole_blocks_and_leaves_one_token_to_compute) {
    Judged judged(caching(4, 8));
    judged.expect_hit(0, probe(eight));
    judged.leave(admit(0, eight));
    judged.expect_hit(4, probe(eight));
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.expect_hit(4, probe({1, 2, 3, 4, 5, 6, 9, 8, 9}));
    judged.expect_hit(0, probe({1, 2, 3}));
    judged.expect_hit(0, probe({5, 6, 7, 8, 9}));
}

BOOST_AUTO_TEST_CASE(to_the_token_the_last_block_may_match_in_part) {
    Judged judged(caching_by_token(4, 8));
    judged.leave(admit(0, six));
    judged.expect_hit(5, probe(six));
    judged.expect_hit(6, probe(eight));
    judged.expect_hit(5, probe({1, 2, 3, 4, 5, 7, 6}));
    judged.expect_hit(3, probe({1, 2, 3, 7}));
    judged.expect_hit(0, probe({2, 3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(the_tail_of_a_living_sequence_is_not_found) {
    Judged judged(caching_by_token(4, 8));
    judged.run(admit(0, six));
    judged.expect_hit(4, probe(eight));
    judged.run(release(0));
    judged.expect_hit(6, probe(eight));
}

BOOST_AUTO_TEST_CASE(behind_a_window_a_hit_has_holes_and_a_shorter_one_may_not_be_there) {
    // Window 4 in blocks of 2: cut 8 needs positions 5 on, that is blocks 2 and 3; cut 6 block 1; cut 2 and 4 block 0.
    Judged judged(with_groups(caching(2, 12), {GroupConfig{"swa", 4}}));
    judged.run(admit(0, eight));
    judged.expect_hit(6, probe(eight));
    judged.run(evict(2));  // the blocks that slid out of the window
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.expect_hit(0, probe(eight));
    judged.run(uncache(0, {2}));
    judged.expect_hit(0, probe(eight + Tokens{9}));
}

BOOST_AUTO_TEST_CASE(a_window_of_one_needs_the_block_of_the_last_token_which_nobody_sees) {
    Judged judged(with_groups(caching(2, 12), {GroupConfig{"one", 1}}));
    judged.run(admit(0, eight));
    judged.run(evict(2));  // deepest first: blocks 2 and 1; block 0 stays, and block 3 is held
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.expect_hit(2, probe(eight));
    judged.run(uncache(0, {3}));
    judged.expect_hit(2, probe(eight + Tokens{9}));
}

BOOST_AUTO_TEST_CASE(a_window_of_one_copies_a_part_without_the_block_before_it) {
    Judged judged(with_groups(caching_by_token(4, 8), {GroupConfig{"one", 1}}));
    judged.leave(admit(0, six));
    judged.run(evict(1));  // block 0 slid out of the window first
    judged.expect_hit(6, probe(six + Tokens{9}));
    judged.expect_hit(5, probe({1, 2, 3, 4, 5, 9}));
    judged.expect_hit(0, probe({1, 2, 3, 4, 9}));
}

BOOST_AUTO_TEST_CASE(the_sinks_are_needed_whatever_the_window) {
    Judged judged(with_groups(caching(2, 12), {GroupConfig{"swa", 4, 1}}));
    judged.run(admit(0, eight));
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.run(evict(1));  // block 1; block 0 is a sink and held
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.expect_hit(2, probe(eight));
    judged.run(uncache(0, {0}));
    judged.expect_hit(0, probe(eight + Tokens{9}));
}

BOOST_AUTO_TEST_CASE(a_hit_needs_every_group) {
    Judged judged(with_groups(caching(2, 12), {GroupConfig{"full"}, GroupConfig{"swa", 2}}));
    judged.run(admit(0, eight));
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.run(evict(1));  // block 2 of the window; it was the deepest that slid out
    judged.expect_hit(8, probe(eight + Tokens{9}));
    judged.expect_hit(4, probe(eight));
    judged.run(uncache(0, {0}));  // the full group needs it for every cut
    judged.expect_hit(0, probe(eight + Tokens{9}));
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_scope_do_not_stand_for_one_another) {
    Judged judged(caching(4, 8));
    judged.leave(in(scope_of("x"), admit(0, eight)));
    judged.run(in(scope_of("", "x"), probe(eight)));
    judged.expect_hit(4, in(scope_of("x"), probe(eight)), 0);
    judged.expect_hit(0, in(scope_of("", "x"), probe(eight)), 1);
    judged.expect_hit(0, in(scope_of("x", "", 1), probe(eight)), 2);
    judged.expect_hit(0, probe(eight), 3);
}

BOOST_AUTO_TEST_CASE(external_content_is_part_of_the_tokens_that_it_stands_behind) {
    Judged judged(caching(2, 8));
    judged.leave(with({{3, 3, "a cat"}}, admit(0, eight)));
    judged.expect_hit(6, with({{3, 3, "a cat"}}, probe(eight)));
    judged.expect_hit(2, with({{3, 3, "a dog"}}, probe(eight)));
    judged.expect_hit(2, with({{2, 4, "a cat"}}, probe(eight)));
    judged.expect_hit(4, with({{3, 2, "a cat"}}, probe(eight)));
    judged.expect_hit(2, probe(eight));
}

BOOST_AUTO_TEST_CASE(without_a_cache_nothing_is_hit) {
    Judged judged(testing::plain(4, 8));
    judged.leave(admit(0, eight));
    judged.expect_hit(0, probe(eight));
}

// --- events ---------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_watch_that_lost_events_starts_anew_from_the_index) {
    Config config = caching(1, 8);
    config.prefix_cache.kept_events = 2;
    Judged judged(config);
    IndexWatch watch;
    judged.run(admit(0, six));  // six events, two of them kept
    BOOST_TEST(!watch.read(judged.scene()).has_value());
    BOOST_TEST(!watch.compare(judged.scene()).has_value());

    judged.run(release(0));
    judged.run(evict(2));  // both are read
    BOOST_TEST(!watch.read(judged.scene()).has_value());
    BOOST_TEST(!watch.compare(judged.scene()).has_value());

    judged.run(reset_cache());
    Tamper::events(judged.kv()).emit({.kind = CacheEvent::Kind::removed, .content = 77});
    const Found finding = watch.read(judged.scene());
    BOOST_TEST_REQUIRE(finding.has_value());
    BOOST_TEST(number(finding->invariant) == number(Invariant::X3));
}

BOOST_AUTO_TEST_CASE(a_watch_says_what_is_missing_until_it_has_read_it) {
    Judged judged(caching(4, 8));
    IndexWatch watch;
    judged.run(admit(0, eight));
    BOOST_TEST_REQUIRE(watch.compare(judged.scene()).has_value());
    BOOST_TEST(watch.compare(judged.scene())->what == "the events say that 0 contents are stored, the blocks hold 2");
    BOOST_TEST(!watch.read(judged.scene()).has_value());
    BOOST_TEST(!watch.compare(judged.scene()).has_value());
}

BOOST_AUTO_TEST_CASE(two_copies_of_one_content_are_stored_once) {
    Judged judged(caching(4, 8));
    judged.run(admit(0, {1, 2, 3}));
    judged.run(admit(1, {1, 2, 3}));
    BOOST_TEST(judged.checked.apply(append(0, {4})).events.stored == 1);
    BOOST_TEST(judged.checked.apply(append(1, {4})).events.stored == 0);
    judged.run(release(0));
    BOOST_TEST(judged.checked.apply(evict(1)).events.removed == 0);
    judged.run(release(1));
    BOOST_TEST(judged.checked.apply(evict(1)).events.removed == 1);
    judged.expect_sound();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <kvpane/allocator/cache_events.h>

#include "support/kv.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

CacheEvent stored(std::uint64_t content, const Tokens& tokens, const Scope& scope = {}) {
    return {
        .kind = CacheEvent::Kind::stored, .group = second_group, .content = content, .tokens = tokens, .scope = scope};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cache_event_rings)

BOOST_AUTO_TEST_CASE(events_are_numbered_from_one_without_gaps) {
    CacheEvents events(8, 4);
    BOOST_TEST(events.first() == 1U);
    BOOST_TEST(events.next() == 1U);
    const Tokens one{1, 2, 3, 4};
    const Tokens two{5};
    events.emit(stored(11, one));
    events.emit(stored(12, two));
    events.emit({.kind = CacheEvent::Kind::removed, .content = 11});
    BOOST_TEST(events.first() == 1U);
    BOOST_TEST(events.next() == 4U);
    BOOST_TEST(events.read(1).number == 1U);
    BOOST_TEST(events.read(1).content == 11U);
    BOOST_TEST(events.read(1).group == second_group);
    BOOST_TEST(events.read(1).tokens == one, per_element());
    BOOST_TEST(events.read(2).tokens == two, per_element());
    BOOST_TEST((events.read(3).kind == CacheEvent::Kind::removed));
    BOOST_TEST(events.read(3).tokens.empty());
}

BOOST_AUTO_TEST_CASE(a_full_ring_loses_its_oldest_events_and_the_numbers_show_it) {
    CacheEvents events(3, 2);
    for (Token i = 0; i < 10; ++i) {
        const Tokens tokens{i, i};
        events.emit(stored(static_cast<std::uint64_t>(i), tokens));
    }
    BOOST_TEST(events.first() == 8U);
    BOOST_TEST(events.next() == 11U);
    for (std::uint64_t number = 8; number < 11; ++number) {
        BOOST_TEST(events.read(number).number == number);
        BOOST_TEST(events.read(number).content == number - 1);
        BOOST_TEST(events.read(number).tokens.back() == static_cast<Token>(number) - 1);
    }
}

BOOST_AUTO_TEST_CASE(tokens_and_scope_are_kept_when_the_emitters_are_gone) {
    CacheEvents events(2, 4);
    {
        const Tokens tokens{1, 2};
        const std::string tenant(40, 't');
        const std::string salt(40, 's');
        events.emit(stored(1, tokens, {.adapter_id = 5, .tenant = tenant, .salt = salt}));
    }
    const std::string tenant(40, 't');
    const std::string salt(40, 's');
    BOOST_TEST(events.read(1).tokens == Tokens({1, 2}), per_element());
    BOOST_TEST((events.read(1).scope == Scope{.adapter_id = 5, .tenant = tenant, .salt = salt}));
}

BOOST_AUTO_TEST_CASE(events_keep_their_scopes_while_room_is_made_for_longer_ones) {
    CacheEvents events(3, 4);
    const Tokens tokens{1};
    const std::string long_tenant(40, 't');
    const std::string longer(80, 'u');
    const std::string longest(200, 'v');
    events.emit(stored(1, tokens, {.model = "m", .tenant = "short"}));
    events.make_room({.tenant = long_tenant});
    events.emit(stored(2, tokens, {.tenant = long_tenant, .salt = "s"}));
    CacheEvents later(events);
    for (CacheEvents* each : {&events, &later}) {
        each->make_room({.tenant = longer});
        each->make_room({.tenant = longest});
        BOOST_TEST((each->read(1).scope == Scope{.model = "m", .tenant = "short"}));
        BOOST_TEST((each->read(2).scope == Scope{.tenant = long_tenant, .salt = "s"}));
    }
    later = CacheEvents(3, 4);
    later.make_room({.tenant = std::string(300, 'w')});
    BOOST_TEST(later.first() == later.next());
}

BOOST_AUTO_TEST_CASE(totals_count_blocks_and_outlive_the_ring) {
    CacheEvents events(1, 4);
    const Tokens tokens{1};
    events.emit(stored(1, tokens));
    events.emit(stored(2, tokens));
    events.emit({.kind = CacheEvent::Kind::removed, .content = 1});
    events.emit({.kind = CacheEvent::Kind::cleared});
    events.count_cleared(7);
    BOOST_TEST(events.totals().stored == 2U);
    BOOST_TEST(events.totals().removed == 1U);
    BOOST_TEST(events.totals().cleared == 7U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

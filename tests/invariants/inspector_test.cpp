// SPDX-License-Identifier: Apache-2.0
// Check mode, as an engine attaches it: silent on a sound Manager, and each fault found by what was touched or by a walk.
#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <kvpane/invariants/inspector.h>
#include <kvpane/invariants/stress.h>
#include <kvpane/invariants/stress_generator.h>

#include "invariants/loads.h"
#include "support/cache.h"
#include "support/death.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants {

namespace {

using namespace kvpane::testing;

// Remembers what the Inspector says in place of stopping the process.
struct Watched {
    explicit Watched(const Config& config, CheckMode mode = CheckMode::every, std::int64_t walk_every = 1'000'000)
        : kv(config), inspector(kv, {mode, [this](const Violation& found) { said = found; }, walk_every}) {}

    void expect(Invariant invariant, const std::string& what) const {
        BOOST_TEST_REQUIRE(said.has_value());
        BOOST_TEST(number(said->invariant) == number(invariant), said->what);
        BOOST_TEST(said->what.find(what) != std::string::npos, said->what);
    }
    void expect_sound() const { BOOST_TEST(!said.has_value(), (said ? said->what : "")); }

    std::optional<Violation> said;
    Manager kv;
    Inspector inspector;
};

// Every kind of operation in a pool that is often full; a window of one cell comes on top.
StressConfig load(Granularity granularity, WindowRelease release) {
    StressConfig config = every_kind(seed(), 4000);
    config.manager.prefix_cache.granularity = granularity;
    config.manager.window_release = release;
    config.manager.groups.push_back({"one", 1, 0});
    return config;
}

// The operations of a load, driven through a Manager that is inspected.
std::optional<Violation> inspect(const StressConfig& config, CheckMode mode, std::int64_t walk_every) {
    std::optional<Violation> said;
    CheckedManager plain(config.manager, CheckMode::off);
    Inspector inspector(Tamper::manager(plain), {mode, [&](const Violation& found) { said = found; }, walk_every});
    StressGenerator generator(config);
    StressReport report;
    for (std::int64_t step = 0; step < config.steps && !said; ++step) {
        const auto fault = generator.settle(plain.apply(generator.next()), report);
        BOOST_TEST_REQUIRE(!fault.has_value());
    }
    inspector.walk();
    BOOST_TEST(inspector.operations() > config.steps / 2);
    BOOST_TEST(inspector.walks() > 1);
    return said;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(check_mode)

BOOST_AUTO_TEST_CASE(a_sound_manager_is_found_sound_under_every_load_and_mode) {
    for (const Granularity granularity : {Granularity::block, Granularity::token}) {
        for (const WindowRelease release : {WindowRelease::commit, WindowRelease::reserve}) {
            for (const CheckMode mode : {CheckMode::sampled, CheckMode::every}) {
                const auto said = inspect(load(granularity, release), mode, 97);
                BOOST_TEST(!said.has_value(), (said ? said->what : ""));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(batches_of_several_cells_are_followed) {
    Watched watched(caching(4, 40));
    const SequenceHandle a = admit_prompt(watched.kv, tokens(0, 5)).sequence;
    const SequenceHandle b = must(watched.kv.fork(a));
    const Reservation batch[] = {{a, 3}, {b, 5}};
    must(watched.kv.reserve(batch));
    must(watched.kv.commit(b, tokens(20, 24)));
    must(watched.kv.commit(a, tokens(30, 31)));
    must(watched.kv.cancel(a));
    must(watched.kv.truncate(b, 7));
    const SequenceHandle both[] = {b, a};
    must(watched.kv.append_batch(both, tokens(1, 2)));
    must(watched.kv.release(a));
    watched.inspector.walk();
    watched.expect_sound();
}

BOOST_AUTO_TEST_CASE(a_lost_reference_is_found_by_the_operation_that_touches_the_block) {
    Watched watched(plain(4, 16));
    const SequenceHandle a = admit(watched.kv, 6);
    ++Tamper::refs(watched.kv, BlockId{1});
    must(watched.kv.fork(a));
    watched.expect(Invariant::P2, "block 1 has 3 references and stands in 2 tables");
}

BOOST_AUTO_TEST_CASE(an_exchanged_block_is_found_by_a_walk) {
    Watched watched(plain(4, 16));
    const SequenceHandle a = admit(watched.kv, 10);
    const SequenceHandle b = admit(watched.kv, 10);
    Tamper::exchange(watched.kv, Tamper::table(watched.kv, a), 0, BlockId{table_of(watched.kv, b)[0]});
    append(watched.kv, b, 1);
    watched.expect_sound();
    watched.inspector.walk();
    watched.expect(Invariant::P2, "block 1 became block 4 and no operation on the sequence did that");
}

BOOST_AUTO_TEST_CASE(a_table_of_the_wrong_shape_is_found_at_once) {
    Watched watched(windowed(4, 16, 4));
    const SequenceHandle a = admit(watched.kv, 8);
    Tamper::first(Tamper::table(watched.kv, a)) += 1;
    append(watched.kv, a, 1);
    watched.expect(Invariant::T2, "expected the blocks from 1 on");
}

BOOST_AUTO_TEST_CASE(a_write_into_a_block_of_somebody_else_is_found_at_once) {
    Watched watched(plain(4, 16));
    const SequenceHandle a = admit(watched.kv, 6);
    const SequenceHandle b = admit(watched.kv, 6);
    Tamper::exchange(watched.kv, Tamper::table(watched.kv, b), 1, BlockId{table_of(watched.kv, a)[1]});
    Tamper::refs(watched.kv, BlockId{table_of(watched.kv, a)[1]}) = 1;  // so that no copy is made
    must(reserve(watched.kv, b, 1));
    watched.expect(Invariant::T5, "position 6: slot 10 was handed out, the table has block 2 there, held 2 times");
}

BOOST_AUTO_TEST_CASE(a_wrong_cell_is_found_when_the_sequence_ends) {
    Watched watched(plain(4, 16));
    const SequenceHandle a = admit(watched.kv, 8);
    const SequenceHandle b = admit(watched.kv, 8);
    Tamper::exchange(watched.kv, Tamper::table(watched.kv, a), 0, BlockId{table_of(watched.kv, b)[1]});
    must(watched.kv.release(a));
    watched.expect(Invariant::T4, "position");
}

BOOST_AUTO_TEST_CASE(a_hit_on_other_tokens_is_found_when_it_is_handed_out) {
    Config config = caching(4, 16);
    config.prefix_cache.constant_hash = true;  // so that the tokens alone decide
    Watched watched(config);
    leave(watched.kv, tokens(0, 7));
    Tamper::token(watched.kv, watched.kv.pool().content(BlockId{1}), 2) = 50;
    const Tokens edited = tokens(0, 1) + Tokens{50} + tokens(3, 8);
    BOOST_TEST_REQUIRE(must(watched.kv.probe({.tokens = edited})) > 0);
    must(watched.kv.admit({.tokens = edited}));
    watched.expect(Invariant::T3, "position 2");
}

BOOST_AUTO_TEST_CASE(an_index_that_lost_an_entry_is_found_by_a_walk_of_either_mode) {
    for (const CheckMode mode : {CheckMode::sampled, CheckMode::every}) {
        Watched watched(caching(4, 16), mode);
        leave(watched.kv, tokens(0, 7));
        Tamper::lose(watched.kv, watched.kv.pool().content(BlockId{1}));
        watched.inspector.walk();
        watched.expect(Invariant::X3, "block");
    }
}

BOOST_AUTO_TEST_CASE(a_wrong_counter_is_found_by_a_walk_of_either_mode) {
    for (const CheckMode mode : {CheckMode::sampled, CheckMode::every}) {
        Watched watched(plain(4, 16), mode);
        admit(watched.kv, 8);
        ++Tamper::fenced_counter(watched.kv);
        watched.inspector.walk();
        watched.expect(Invariant::P1, "fenced");
    }
}

BOOST_AUTO_TEST_CASE(the_sampled_mode_sees_a_window_that_was_given_up_too_early) {
    Watched watched(windowed(4, 64, 8), CheckMode::sampled);
    const SequenceHandle a = admit(watched.kv, 16);
    Tamper::first(Tamper::table(watched.kv, a)) = 3;
    for (int i = 0; i < 64; ++i) {
        must(watched.kv.cancel(a));
    }
    watched.expect(Invariant::T2, "the next query sees position 9, the first resident one is 12");
}

BOOST_AUTO_TEST_CASE(walks_come_by_themselves) {
    Watched watched(plain(4, 64), CheckMode::every, 10);
    const SequenceHandle a = admit(watched.kv, 1);
    for (int i = 0; i < 100; ++i) {
        append(watched.kv, a, 1);
    }
    BOOST_TEST(watched.inspector.walks() >= 10);
    watched.expect_sound();
}

BOOST_AUTO_TEST_CASE(after_the_first_violation_nothing_is_said_any_more) {
    Watched watched(plain(4, 16));
    const SequenceHandle a = admit(watched.kv, 6);
    ++Tamper::refs(watched.kv, BlockId{1});
    const SequenceHandle b = must(watched.kv.fork(a));
    const std::int64_t at = watched.said->operation;
    must(watched.kv.release(b));
    watched.inspector.walk();
    BOOST_TEST(watched.said->operation == at);
    --Tamper::refs(watched.kv, BlockId{1});
}

BOOST_AUTO_TEST_CASE(without_somebody_to_tell_the_process_stops_with_the_number) {
    const auto run = [] {
        Manager kv(plain(4, 16));
        Inspector inspector(kv);
        const SequenceHandle a = admit(kv, 6);
        ++Tamper::refs(kv, BlockId{1});
        (void)kv.fork(a);
    };
    const Death death = death_of(run);
    BOOST_TEST(death.aborted);
    BOOST_TEST(death.message.find("invariant P2 broken") != std::string::npos, death.message);
}

BOOST_AUTO_TEST_CASE(it_must_be_there_before_the_first_sequence_and_lets_go_at_its_end) {
    Manager kv(caching(4, 16));
    {
        Inspector inspector(kv);
        leave(kv, tokens(0, 7));
        BOOST_TEST(inspector.operations() == 2);
    }
    leave(kv, tokens(10, 17));  // nobody looks any more
    BOOST_CHECK_THROW(Inspector{kv}, std::invalid_argument);
    const Inspector later(kv, {CheckMode::sampled, {}, 0});
    const Inspector nothing(kv, {CheckMode::off, {}, 0});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

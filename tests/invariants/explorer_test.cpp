// SPDX-License-Identifier: Apache-2.0
// What the explorer promises: it reaches every state, equal names behave alike, what is broken is found, and by the
// shortest way.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/explorer_fingerprint.h>
#include <kvpane/invariants/explorer_limits.h>
#include <kvpane/invariants/explorer_moves.h>
#include <kvpane/invariants/explorer_states.h>
#include <kvpane/invariants/random.h>

#include "support/kv.h"
#include "support/runs.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants {

namespace {

using testing::plain;
using testing::windowed;

ExploreConfig exploration(const Config& manager, Length longest) {
    ExploreConfig config;
    config.manager = manager;
    config.longest = config.longest_prompt = longest;
    config.tries.fill(true);
    config.tries[static_cast<std::size_t>(Verb::check)] = false;
    return config;
}

Config with_cache(Config config, Granularity granularity = Granularity::block) {
    config.prefix_cache.enabled = true;
    config.prefix_cache.granularity = granularity;
    return config;
}

// Then the first of the small ones must do.
const bool is_short = testing::runs_wanted() == testing::Runs::short_;

// Small enough to be explored without renaming, each with another part of the Manager in it.
std::vector<ExploreConfig> small_ones() {
    std::vector<ExploreConfig> configs;
    configs.push_back(exploration(plain(2, 2), 3));
    if (is_short) {
        return configs;
    }
    configs.push_back(exploration(windowed(1, 3, 2), 3));
    configs.push_back(exploration(with_cache(plain(1, 2)), 2));
    configs.push_back(exploration(with_cache(plain(2, 2)), 3));
    configs.push_back(exploration(with_cache(plain(2, 2), Granularity::token), 2));
    configs.back().reserve = 1;
    configs.push_back(exploration(with_cache(plain(1, 2)), 2));
    configs.back().pins = 2;
    configs.push_back(exploration(plain(1, 2), 2));
    configs.back().open_steps = 2;
    configs.push_back(exploration(plain(2, 2), 2));
    configs.back().sequences = 3;
    configs.back().reserve = 1;
    const auto alone = [&] {
        configs.push_back(exploration(with_cache(plain(1, 2)), 2));
        configs.back().sequences = 1;
    };
    alone();
    configs.back().scopes = 3;
    alone();
    configs.back().contents = 1;
    alone();
    configs.back().open_steps = configs.back().priorities = configs.back().priority_steps = 1;
    alone();
    configs.back().pins = configs.back().priorities = 1;
    return configs;
}

using Behaviours = std::map<Fingerprint, std::uint64_t>;

// The behaviour of each class; states of one class must agree.
Behaviours behaviours_of(ExploreConfig config, ExploreReport& report) {
    Behaviours behaviours;
    std::int64_t different = 0;
    config.observe = [&](const Fingerprint& state, std::uint64_t behaviour) {
        const auto [at, is_new] = behaviours.try_emplace(state, behaviour);
        different += !is_new && at->second != behaviour ? 1 : 0;
    };
    report = explore(config);
    BOOST_TEST(different == 0);
    BOOST_TEST(report.is_exhausted);
    BOOST_TEST((report.violation ? report.violation->what : "") == "");
    return behaviours;
}

// Behind each successful operation of this kind the fault is done to the Manager; the shortest trace has so many steps.
template <class Fault>
ExploreViolation found_behind(ExploreConfig config, Verb verb, std::size_t steps, Fault fault) {
    config.fault = [=](Manager& kv, const Operation& operation) {
        if (operation.verb == verb) {
            fault(kv, operation);
        }
    };
    const ExploreReport report = explore(config);
    BOOST_TEST_REQUIRE(report.violation.has_value());
    BOOST_TEST(!report.is_exhausted);
    BOOST_TEST(report.violation->trace.size() == steps, report.violation->what);
    BOOST_TEST((report.violation->trace.back().verb == verb));
    return *report.violation;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(explorer_explores)

BOOST_AUTO_TEST_CASE(equal_names_behave_alike_and_renaming_loses_no_class_of_states) {
    for (const ExploreConfig& config : small_ones()) {
        ExploreConfig raw = config;
        raw.rename = false;
        ExploreReport of_classes;
        ExploreReport of_states;
        const Behaviours classes = behaviours_of(config, of_classes);
        const Behaviours states = behaviours_of(raw, of_states);
        BOOST_TEST((classes == states));
        BOOST_TEST(static_cast<std::int64_t>(classes.size()) == of_classes.states);
        BOOST_TEST(of_states.states > of_classes.states);
        BOOST_TEST_MESSAGE(of_states.states << " states in " << of_classes.states << " classes");
    }
}

BOOST_AUTO_TEST_CASE(priorities_go_as_high_as_the_limits_allow) {
    ExploreConfig config = exploration(with_cache(plain(1, 2)), 2);
    config.sequences = 1;
    config.priorities = explorer::most_priorities;
    const ExploreReport most = explore(config);
    --config.priorities;
    BOOST_TEST(most.is_exhausted);
    BOOST_TEST(most.states > explore(config).states);
}

BOOST_AUTO_TEST_CASE(two_threads_find_what_one_finds) {
    ExploreConfig config = exploration(with_cache(windowed(2, is_short ? 2 : 3, 2)), 3);
    config.reserve = 1;
    const ExploreReport one = explore(config);
    config.threads = 2;
    const ExploreReport two = explore(config);
    BOOST_TEST(one.is_exhausted);
    BOOST_TEST(one.states == two.states);
    BOOST_TEST(one.transitions == two.transitions);
    BOOST_TEST(one.depth == two.depth);
    BOOST_TEST(one.digest == two.digest);
    BOOST_TEST((one.counts == two.counts));
}

BOOST_AUTO_TEST_CASE(a_hash_that_says_nothing_changes_no_state) {
    ExploreConfig config = exploration(with_cache(plain(2, 2), Granularity::token), is_short ? 2 : 3);
    config.reserve = 1;
    const ExploreReport usual = explore(config);
    config.manager.prefix_cache.constant_hash = true;
    const ExploreReport constant = explore(config);
    BOOST_TEST(constant.is_exhausted);
    BOOST_TEST(constant.digest == usual.digest);
    BOOST_TEST((constant.counts == usual.counts));
}

BOOST_AUTO_TEST_CASE(random_walks_never_leave_what_was_explored) {
    using namespace explorer;
    Random random(testing::seed());
    for (const ExploreConfig& config : small_ones()) {
        std::set<Fingerprint> known;
        ExploreConfig observed = config;
        observed.observe = [&](const Fingerprint& state, std::uint64_t) { known.insert(state); };
        BOOST_TEST_REQUIRE(explore(observed).is_exhausted);
        const Setting setting(config);
        World world(config, setting);
        std::vector<Move> moves;
        std::int64_t unknown = 0;
        for (int i = 0; i < (is_short ? 1'000 : 20'000); ++i) {
            list_moves(config, setting, world, moves);
            const Move move = moves[random.below(moves.size())];
            const Result result = world.apply(move);
            if (!result.error && !only_asks(move.verb)) {
                BOOST_TEST_REQUIRE(!settle(world, move, result, config, setting).has_value());
            }
            unknown += known.contains(fingerprint(setting, world)) ? 0 : 1;
        }
        BOOST_TEST(unknown == 0);
    }
}

BOOST_AUTO_TEST_CASE(the_limit_ends_it_and_is_said) {
    ExploreConfig config = exploration(plain(2, 3), 4);
    config.limit = 100;
    const ExploreReport report = explore(config);
    BOOST_TEST(!report.is_exhausted);
    BOOST_TEST(!report.violation.has_value());
    BOOST_TEST(report.states >= 100);
    BOOST_TEST(report.states < 200);
}

BOOST_AUTO_TEST_CASE(one_block_and_one_cell_have_the_states_that_a_hand_counts) {
    // Nobody; one sequence that is empty, holds 0 or 1, or a reserved cell; cells of a sequence that is there already
    // stay with it: nobody else gets the only block.
    ExploreConfig config = exploration(plain(1, 1), 1);
    config.sequences = 1;
    config.reserve = 1;
    const ExploreReport report = explore(config);
    BOOST_TEST(report.is_exhausted);
    // empty pool; {}, {0}, {1}, reserved behind {}: and own_from, the tokens that were hit or inherited, is always 0.
    BOOST_TEST(report.states == 5);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(explorer_finds)

BOOST_AUTO_TEST_CASE(a_lost_reference_behind_the_first_fork) {
    const ExploreViolation found =
        found_behind(exploration(plain(2, 3), 3), Verb::fork, 2, [](Manager& kv, const Operation&) {
            if (kv.pool().refs(BlockId{1}) > 1) {
                --Tamper::refs(kv, BlockId{1});
            }
        });
    BOOST_TEST(number(found.invariant) == "P2");
    BOOST_TEST((found.trace.front().verb == Verb::admit));
}

BOOST_AUTO_TEST_CASE(a_block_that_a_truncate_forgets_to_give_back) {
    // Only a sequence of two tokens or more can be cut to two.
    const ExploreViolation found =
        found_behind(exploration(plain(2, 3), 3), Verb::truncate, 2, [](Manager& kv, const Operation& operation) {
            if (operation.length == 2 && kv.pool().free_blocks() == 2) {
                static_cast<void>(Tamper::pool(kv).take());
            }
        });
    BOOST_TEST(number(found.invariant) == "P2");
    BOOST_TEST(found.trace.front().tokens.size() == 2);
}

BOOST_AUTO_TEST_CASE(an_entry_that_the_index_has_lost) {
    const ExploreViolation found = found_behind(
        exploration(with_cache(plain(2, 3)), 3), Verb::append, 2, [](Manager& kv, const Operation&) {
            if (const ContentId content = kv.pool().content(BlockId{1}); content != no_content) {
                Tamper::lose(kv, content);
            }
        });
    BOOST_TEST(number(found.invariant) == "X3");
}

BOOST_AUTO_TEST_CASE(a_table_that_names_a_foreign_block) {
    ExploreConfig config = exploration(plain(1, 3), 2);
    const ExploreViolation found =
        found_behind(config, Verb::append_batch, 3, [](Manager& kv, const Operation&) {
            Tamper::exchange(kv, Tamper::table(kv, {0, 1, 0}), 0, Tamper::table(kv, {1, 1, 0})[0]);
        });
    BOOST_TEST((found.invariant == Invariant::T3 || found.invariant == Invariant::F1), found.what);
}

BOOST_AUTO_TEST_CASE(an_entry_that_goes_with_a_release_and_should_stay) {
    const ExploreViolation found = found_behind(
        exploration(with_cache(plain(1, 2)), 2), Verb::release, 2, [](Manager& kv, const Operation& operation) {
            if (operation.keep_cached && kv.pool().content(BlockId{1}) != no_content) {
                Tamper::withdraw(kv, BlockId{1});
            }
        });
    BOOST_TEST(number(found.invariant) == "X1");
    BOOST_TEST(found.index_entries.value_or(0) == 1);
}

BOOST_AUTO_TEST_CASE(a_block_that_is_known_in_another_scope) {
    ExploreConfig config = exploration(with_cache(plain(1, 2)), 2);
    config.scopes = 2;
    const ExploreViolation found =
        found_behind(config, Verb::admit, 1, [](Manager& kv, const Operation& operation) {
            if (const ContentId content = kv.pool().content(BlockId{1}); content != no_content) {
                Tamper::scope(kv, content).adapter = operation.scope.lora.empty() ? "x" : "";
            }
        });
    BOOST_TEST(number(found.invariant) == "X1");
}

BOOST_AUTO_TEST_CASE(a_block_that_is_known_by_another_external_content) {
    ExploreConfig config = exploration(with_cache(plain(1, 2)), 2);
    config.contents = 2;
    const ExploreViolation found =
        found_behind(config, Verb::admit, 1, [](Manager& kv, const Operation& operation) {
            const ContentId content = kv.pool().content(BlockId{1});
            if (content != no_content && !operation.extra.empty() && operation.extra.front().at == 0) {
                Tamper::mark(kv, content).id = operation.extra.front().id == "a" ? "b" : "a";
            }
        });
    BOOST_TEST(number(found.invariant) == "X1");
}

BOOST_AUTO_TEST_CASE(a_priority_that_a_block_did_not_get) {
    ExploreConfig config = exploration(with_cache(plain(1, 2)), 2);
    config.priorities = 1;
    const ExploreViolation found = found_behind(config, Verb::admit, 1, [](Manager& kv, const Operation&) {
        Tamper::pool(kv).set_rank(BlockId{1}, {});
    });
    BOOST_TEST(number(found.invariant) == "P3");
    BOOST_TEST(found.trace.front().priority == 1);
}

BOOST_AUTO_TEST_CASE(a_queue_in_another_order) {
    // Both blocks of a sequence come back, the deeper one first.
    const ExploreViolation found =
        found_behind(exploration(with_cache(plain(1, 2)), 2), Verb::release, 2, [](Manager& kv, const Operation&) {
            if (kv.pool().idle_blocks() == 2) {
                Tamper::idle_since(kv, kv.pool().next_idle(null_block)) = 99;
            }
        });
    BOOST_TEST(number(found.invariant) == "P3");
}

BOOST_AUTO_TEST_CASE(where_a_broken_promise_would_stop_it) {
    std::size_t most = 0;
    ExploreConfig config = exploration(plain(1, 2), 2);
    config.fault = [&](Manager&, const Operation&) { most = std::max(most, operations_under_way().size()); };
    const ExploreReport report = explore(config);
    // The last level tries operations, too; they lead to nothing new.
    BOOST_TEST(static_cast<std::int64_t>(most) == report.depth + 1);
    BOOST_TEST(operations_under_way().empty());
}

BOOST_AUTO_TEST_CASE(a_fence_that_opens_too_early) {
    ExploreConfig config = exploration(plain(1, 2), 2);
    config.open_steps = 2;
    const ExploreViolation found = found_behind(config, Verb::step_begin, 1, [](Manager& kv, const Operation&) {
        if (kv.pool().fenced_blocks() == 0) {
            static_cast<void>(kv.step_end(StepId{1}));
        }
    });
    BOOST_TEST(number(found.invariant) == "P1");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(explorer_refuses)

BOOST_AUTO_TEST_CASE(what_is_too_large_to_be_told_apart) {
    ExploreConfig config = exploration(plain(2, 3), 15);
    BOOST_TEST(!validate(config).has_value());
    config.alphabet = 3;
    BOOST_TEST(validate(config).value_or("").find("14348907 histories") != std::string::npos);
    config = exploration(plain(2, 13), 3);
    BOOST_TEST(validate(config).value_or("") == "blocks is 13; at most 12 can be explored");
    config = exploration(plain(2, 3), 3);
    config.scopes = 4;
    BOOST_TEST(validate(config).value_or("") == "scopes is 4; at most 3 can be explored");
    config = exploration(with_cache(plain(2, 3)), 3);
    config.manager.prefix_cache.policy = EvictionPolicy::lfu;
    BOOST_TEST(validate(config).value_or("").find("lfu") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
// The oracle agrees with a sound Manager and says what is wrong with a broken one.
#include <kvpane/invariants/proof/oracle/oracle_check.h>

#include <boost/test/unit_test.hpp>

#include <kvpane/invariants/proof/oracle/oracle_runs.h>

#include "invariants/loads.h"
#include "invariants/operations.h"
#include "support/kv.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants::oracle {

namespace {

Config cached(std::vector<GroupConfig> groups = {{"full", 0, 0}}) {
    Config config = testing::plain(2, 8);
    config.prefix_cache.enabled = true;
    config.groups = std::move(groups);
    return config;
}

// A Manager beside the machine, and the hands to break it.
struct Pair {
    CheckedManager checked;
    CheckedSubject subject{checked};
    OracleCheck check;

    explicit Pair(const Config& config)
        : checked(config, CheckMode::sampled, {.touched_every = 0, .all_every = 0}), check(config) {}

    std::optional<std::string> apply(const Operation& operation) {
        check.before(operation, subject);
        return check.after(operation, checked.apply(operation), subject);
    }

    void agree(const Operation& operation) {
        const auto difference = apply(operation);
        BOOST_TEST_REQUIRE(!difference, difference.value_or(""));
    }

    // The next operation, which does nothing, shows this difference.
    void expect(const std::string& what) {
        const auto difference = apply(invariants::check());
        BOOST_TEST_REQUIRE(difference.has_value());
        BOOST_TEST(*difference == "check: " + what);
    }

    Manager& kv() { return Tamper::manager(checked); }
    BlockId block(Name name, std::uint32_t entry) {
        return kv().table(checked.handle(name).value(), GroupId{0}).value()[entry];
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_oracle)

BOOST_AUTO_TEST_CASE(agrees_with_every_kind_of_operation) {
    const OracleReport report = oracle::stress(every_kind(testing::seed(), 400));
    BOOST_TEST(!report.difference, report.difference.value_or(""));
    BOOST_TEST(report.counts.operations >= 400);
}

BOOST_AUTO_TEST_CASE(walks_each_transition_of_a_small_state_graph) {
    ExploreConfig config;
    config.manager = cached({{"swa", 3, 0}});
    config.manager.blocks = 3;
    config.longest = config.longest_prompt = 3;
    config.tries.fill(true);
    config.open_steps = 1;
    const OracleReport report = oracle::explore(config, 3000);
    BOOST_TEST(!report.difference, report.difference.value_or(""));
    BOOST_TEST(report.counts.operations == 3000);
}

BOOST_AUTO_TEST_CASE(sees_a_lost_reference) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    pair.agree(fork(0, 1));
    --Tamper::refs(pair.kv(), pair.block(0, 0));
    pair.expect("block 1: references: 1 in C++, 2 in the machine");
}

BOOST_AUTO_TEST_CASE(sees_a_table_that_names_another_block) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    pair.agree(admit(1, {4, 5, 6}));
    BlockTable& table = Tamper::table(pair.kv(), pair.checked.handle(1).value());
    std::swap(Tamper::entry(table, 0), Tamper::entry(table, 1));
    pair.expect("#1, group 0: entry 0: 4 in C++, 3 in the machine");
}

BOOST_AUTO_TEST_CASE(sees_an_entry_of_the_index_that_nothing_made) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    Tamper::content(pair.kv(), pair.block(0, 1)) = pair.kv().pool().content(pair.block(0, 0));
    pair.expect("block 2 is indexed for [1 2] in group 0 in C++, for nothing in the machine");
}

BOOST_AUTO_TEST_CASE(leaves_it_to_the_manager_when_an_entry_goes) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    Tamper::withdraw(pair.kv(), pair.block(0, 0));
    pair.agree(check());
    pair.agree(admit(1, {1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(sees_a_window_that_reads_back_wrong) {
    Pair pair(cached({{"swa", 3, 0}}));
    pair.agree(admit(0, {1, 2, 3, 4}));
    Tamper::shadow(pair.checked).poison_block(pair.block(0, 1));
    pair.expect("#0, group 0: token at position 2: -1 in C++, 3 in the machine");
}

BOOST_AUTO_TEST_CASE(sees_a_wrong_verdict_and_tells_later_from_never) {
    Pair pair(cached());
    pair.agree(admit(0, Tokens(12, 5)));
    pair.agree(admit(1, Tokens(12, 6)));  // later: four blocks are left
    pair.agree(admit(1, Tokens(17, 6)));  // never: nine blocks
    BOOST_TEST(pair.checked.living().size() == 1);
    Outcome outcome;
    outcome.error = Error::never;
    const Operation operation = admit(1, Tokens(12, 6));
    pair.check.before(operation, pair.subject);
    BOOST_TEST(pair.check.after(operation, outcome, pair.subject).value() ==
               "admit: C++ says error never, the machine error later");
}

BOOST_AUTO_TEST_CASE(takes_negative_numbers_for_nonsense) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    pair.agree(truncate(0, -1));
    pair.agree(append(0, {-5}));
    const Operation operation = reserve(0, -3);
    pair.check.before(operation, pair.subject);
    BOOST_TEST(pair.check.after(operation, Outcome{}, pair.subject).value() ==
               "reserve: C++ says success, but the arguments make no sense");
}

BOOST_AUTO_TEST_CASE(goes_two_ways_from_a_copy) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    const OracleCheck kept = pair.check;
    pair.agree(append(0, {4, 5, 6}));
    pair.check = kept;
    pair.expect("block 3: references: 1 in C++, 0 in the machine");
}

BOOST_AUTO_TEST_CASE(names_what_the_machine_has_no_word_for) {
    Pair pair(cached());
    pair.agree(admit(0, {1, 2, 3}));
    pair.agree(unpin({1, 2, 3}));
    pair.agree(evict(1));
    BOOST_TEST(pair.check.counts().outside.at("pins that are refused") == 1);
    BOOST_TEST(pair.check.counts().outside.at("what leaves the index: evict, uncache, reset_cache") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants::oracle

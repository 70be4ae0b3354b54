// SPDX-License-Identifier: Apache-2.0
#include "allocator/pool_test.h"

#include <regex>

#include <kvpane/allocator/promise.h>

#include "support/death.h"

namespace kvpane::testing {

namespace {

// The deed must end the process, naming an invariant of the catalogue and saying a sentence.
template <class Deed>
void expect_broken_promise(Deed deed) {
    static const std::regex line("kvpane: invariant [PTFXA][1-9] broken: [^\n]+\n");
    const Death death = death_of(deed);
    BOOST_TEST(death.aborted);
    BOOST_TEST(std::regex_match(death.message, line), "it said: " << death.message);
}

BlockPool one_live(std::uint32_t blocks) {
    BlockPool pool(blocks, IdleOrder::contentless_to_front);
    pool.take();
    return pool;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promises)

BOOST_AUTO_TEST_CASE(a_broken_promise_names_its_invariant_on_stderr_and_aborts) {
    const Death death = death_of([] { broken_promise("P2", "a sentence"); });
    BOOST_TEST(death.aborted);
    BOOST_TEST(death.message == "kvpane: invariant P2 broken: a sentence\n");
}

BOOST_AUTO_TEST_CASE(a_promise_that_holds_costs_nothing_and_says_nothing) {
    const Death death = death_of([] { promise(true, "P1", "never said"); });
    BOOST_TEST(!death.aborted);
    BOOST_TEST(death.message.empty());
}

BOOST_AUTO_TEST_CASE(taking_from_an_empty_queue_stops_the_process) {
    BlockPool pool = one_live(1);
    expect_broken_promise([&] { pool.take(); });
}

BOOST_AUTO_TEST_CASE(giving_back_a_block_that_nobody_holds_stops_the_process) {
    BlockPool pool = one_live(2);
    expect_broken_promise([&] { give_back(pool, Ids{2}); });
    expect_broken_promise([&] {
        give_back(pool, Ids{1});
        give_back(pool, Ids{1});
    });
}

BOOST_AUTO_TEST_CASE(the_null_block_is_nobodys) {
    BlockPool pool = one_live(2);
    expect_broken_promise([&] { give_back(pool, Ids{0}); });
    expect_broken_promise([&] { pool.share(null_block); });
}

BOOST_AUTO_TEST_CASE(sharing_a_block_that_nobody_holds_stops_the_process) {
    BlockPool pool = one_live(2);
    expect_broken_promise([&] { pool.share(BlockId{2}); });
}

BOOST_AUTO_TEST_CASE(only_an_idle_or_fenced_block_with_content_can_be_revived) {
    BlockPool pool = one_live(3);
    expect_broken_promise([&] { pool.revive(BlockId{1}); });
    expect_broken_promise([&] { pool.revive(BlockId{3}); });
    pool.set_content(BlockId{1}, ContentId{1}, Rank{});
    expect_broken_promise([&] { pool.revive(BlockId{1}); });
    take(pool, 1);
    BOOST_TEST(pool.step_begin(StepId{1}).has_value());
    give_back(pool, Ids{1, 2});
    expect_broken_promise([&] { pool.revive(BlockId{2}); });
    pool.revive(BlockId{1});
}

BOOST_AUTO_TEST_CASE(only_a_live_block_without_content_gets_one) {
    BlockPool pool = one_live(2);
    expect_broken_promise([&] { pool.set_content(BlockId{2}, ContentId{1}, Rank{}); });
    pool.set_content(BlockId{1}, ContentId{1}, Rank{});
    expect_broken_promise([&] { pool.set_content(BlockId{1}, ContentId{2}, Rank{}); });
}

BOOST_AUTO_TEST_CASE(only_content_that_is_there_can_be_dropped) {
    BlockPool pool = one_live(2);
    expect_broken_promise([&] { pool.drop_content(BlockId{1}); });
    expect_broken_promise([&] { pool.drop_content(BlockId{2}); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

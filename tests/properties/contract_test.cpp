// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

#include <rapidcheck.h>

#include "properties/lockstep.h"
#include "support/runs.h"

namespace kvpane {

// For RapidCheck, which looks where the type is at home.
static void showValue(const Config& config, std::ostream& out) { out << testing::describe(config); }

}  // namespace kvpane

namespace kvpane::testing {
namespace {

rc::Gen<Op> any_op() {
    const auto kind = rc::gen::weightedElement<Kind>({
        {8, Kind::admit},        {3, Kind::admit_part}, {6, Kind::reserve},      {5, Kind::reserve_batch},
        {10, Kind::commit},      {2, Kind::cancel},     {14, Kind::append},      {10, Kind::append_batch},
        {6, Kind::fork},         {8, Kind::fork_at},    {6, Kind::truncate},     {4, Kind::release},
        {3, Kind::step_begin},   {4, Kind::step_end},   {3, Kind::plan_prompt},  {5, Kind::plan_batch},
        {2, Kind::bind_row},     {1, Kind::unbind_row}, {1, Kind::wrong_handle}, {2, Kind::wrong_argument},
        {14, Kind::admit_again}, {4, Kind::probe},      {4, Kind::plan_again},   {2, Kind::release_uncached},
        {2, Kind::evict},        {2, Kind::uncache},    {4, Kind::pin},          {4, Kind::unpin},
        {1, Kind::reset_cache},  {6, Kind::release},
    });
    const auto number = rc::gen::resize(100, rc::gen::inRange(0, 64));
    return rc::gen::apply(
        [](Kind k, int who, int much, int which, int tokens) {
            return Op{k, who, much, which, tokens};
        },
        kind, number, number, number, rc::gen::resize(100, rc::gen::inRange(0, 100'000)));
}

rc::Gen<GroupConfig> any_group() {
    return rc::gen::exec([] {
        GroupConfig group;
        group.window = *rc::gen::element<Length>(0, 0, 1, 1, 2, 3, 4, 5, 6, 8, 11);
        if (group.window != 0) {
            group.sinks = *rc::gen::element<Length>(0, 0, 0, 1, 2, 5);
        }
        return group;
    });
}

rc::Gen<Config> any_config() {
    return rc::gen::exec([] {
        Config config;
        config.block_size = *rc::gen::element<std::uint32_t>(1, 2, 3, 3, 4, 4, 5);
        config.groups = *rc::gen::resize(
            1, rc::gen::container<std::vector<GroupConfig>>(*rc::gen::element<std::size_t>(1, 1, 2, 3), any_group()));
        for (std::size_t group = 0; group < config.groups.size(); ++group) {
            config.groups[group].name = "g" + std::to_string(group);
        }
        config.blocks = *rc::gen::resize(100, rc::gen::inRange<std::int64_t>(1, 30)) *
                        static_cast<std::int64_t>(config.groups.size());
        config.watermark = std::min(config.blocks - 1, *rc::gen::element<std::int64_t>(0, 0, 0, 1, 3));
        config.max_length = *rc::gen::element<Length>(0, 0, 0, 17, 30);
        config.rewind_slack = *rc::gen::element<Length>(0, 0, 0, 1, 2, 4, 7);
        config.window_release = *rc::gen::element(WindowRelease::commit, WindowRelease::reserve);
        config.prefix_cache.enabled = *rc::gen::element(false, true, true, true);
        config.prefix_cache.granularity = *rc::gen::element(Granularity::block, Granularity::token);
        config.prefix_cache.policy = *rc::gen::element(EvictionPolicy::lru, EvictionPolicy::lru, EvictionPolicy::lfu);
        config.prefix_cache.constant_hash = *rc::gen::element(false, false, true);
        config.prefix_cache.most_pinned = std::min(config.blocks, *rc::gen::element<std::int64_t>(0, 0, 1, 4));
        config.instance = 5;
        return config;
    });
}

constexpr const char* worth_reaching[] = {
    "operations",
    "later",
    "never",
    "window_evicted",
    "busy",
    "copies",
    "holes",
    "missing cells",
    "fenced",
    "idle sources",
    "hits",
    "hits of part of a block",
    "hits with holes",
    "hits with external content",
    "hits of fenced blocks",
    "misses because of the scope",
    "misses because of external content",
    "priorities that ended",
    "copies of one content",
    "evicted blocks",
    "tails replaced by longer ones",
    "entries withdrawn by a writer",
    "pins",
    "unpins",
    "pins beyond the cap",
    "evict",
    "uncache",
    "resets that clear",
    "resets that remove",
    "assigned",
};

bool check_runs(const char* sentence, std::size_t runs, int longest, Reached& reached) {
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    params.maxSuccess = static_cast<int>(runs);
    params.maxSize = longest;
    const auto property = [&] {
        const Config config = *any_config();
        const auto ops = *rc::gen::container<std::vector<Op>>(any_op());
        Lockstep run(config);
        for (const Op& op : ops) {
            run.apply(op);
        }
        run.finish();
        for (const auto& [what, times] : run.reached()) {
            reached[what] += times;
        }
    };
    std::cerr << "- " << sentence << " (seed " << params.seed << ")" << std::endl;
    const rc::detail::TestResult result =
        rc::detail::checkTestable(property, rc::detail::TestMetadata{sentence, sentence}, params);
    rc::detail::printResultMessage(result, std::cerr);
    std::cerr << std::endl;
    return result.is<rc::detail::SuccessResult>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(properties)

BOOST_AUTO_TEST_CASE(any_run_of_operations_gives_the_ids_and_errors_that_the_contract_predicts) {
    Reached reached;
    const Runs wanted = runs_wanted();
    const std::size_t runs = wanted == Runs::long_ ? 20'000 : wanted == Runs::short_ ? 150 : 3'000;
    const int longest = wanted == Runs::long_ ? 400 : 200;
    BOOST_TEST_REQUIRE(check_runs("the Manager does what the naive model does", runs, longest, reached));
    if (wanted == Runs::short_) {
        return;
    }

    // A run that never meets these has compared nothing of interest.
    for (const char* what : worth_reaching) {
        BOOST_TEST(reached[what] > 0U, "never reached: " << what);
        BOOST_TEST_MESSAGE(what << ": " << reached[what]);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

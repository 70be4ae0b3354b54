// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

#include <rapidcheck.h>

#include "properties/lockstep.h"

namespace kvpane {

// For RapidCheck, which looks where the type is at home.
static void showValue(const Config& config, std::ostream& out) { out << testing::describe(config); }

}  // namespace kvpane

namespace kvpane::testing {
namespace {

// KVPANE_LONG=1: many more and longer runs, some minutes.
bool is_long() {
    const char* text = std::getenv("KVPANE_LONG");
    return text != nullptr && std::string(text) == "1";
}

rc::Gen<Op> any_op() {
    const auto kind = rc::gen::weightedElement<Kind>({
        {8, Kind::admit},      {3, Kind::admit_part}, {6, Kind::reserve},      {5, Kind::reserve_batch},
        {10, Kind::commit},    {2, Kind::cancel},     {14, Kind::append},      {10, Kind::append_batch},
        {6, Kind::fork},       {8, Kind::fork_at},    {6, Kind::truncate},     {4, Kind::release},
        {3, Kind::step_begin}, {4, Kind::step_end},   {3, Kind::plan_prompt},  {5, Kind::plan_batch},
        {2, Kind::bind_row},   {1, Kind::unbind_row}, {1, Kind::wrong_handle}, {2, Kind::wrong_argument},
    });
    const auto number = rc::gen::resize(100, rc::gen::inRange(0, 64));
    return rc::gen::apply(
        [](Kind k, int who, int much, int which) {
            return Op{k, who, much, which};
        },
        kind, number, number, number);
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
        config.block_size = *rc::gen::element<std::uint32_t>(1, 2, 2, 3, 4, 4, 5);
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
        config.prefix_cache.enabled = *rc::gen::element(false, true);
        config.instance = 5;
        return config;
    });
}

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
        reached += run.reached();
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
    const std::size_t runs = is_long() ? 20'000 : 3'000;
    const int longest = is_long() ? 400 : 200;
    BOOST_TEST(check_runs("the Manager does what the naive model does", runs, longest, reached));

    // A run that never meets these has compared nothing of interest.
    BOOST_TEST(reached.later > 0U);
    BOOST_TEST(reached.never > 0U);
    BOOST_TEST(reached.window_evicted > 0U);
    BOOST_TEST(reached.busy > 0U);
    BOOST_TEST(reached.copies > 0U);
    BOOST_TEST(reached.holes > 0U);
    BOOST_TEST(reached.missing_cells > 0U);
    BOOST_TEST(reached.fenced > 0U);
    BOOST_TEST(reached.idle_sources > 0U);
    BOOST_TEST_MESSAGE("operations " << reached.operations << ", later " << reached.later << ", never " << reached.never
                                     << ", window_evicted " << reached.window_evicted << ", busy " << reached.busy
                                     << ", copies " << reached.copies << ", holes " << reached.holes
                                     << ", missing cells " << reached.missing_cells << ", fenced " << reached.fenced
                                     << ", idle sources " << reached.idle_sources);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

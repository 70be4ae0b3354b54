// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels, run in the emulator, give what the reference gives, over the sizes that kernels get wrong.
#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/expect_agreement.h"
#include "cuda/bounds_of.h"
#include "cuda/emulated_attention.h"
#include "support/runs.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;
using testing::by_emulator;
using testing::Runs;

void expect_agreement(const AttentionSizes& sizes) {
    const std::uint64_t order_of_threads = testing::seed();
    testing::expect_agreement(
        sizes, [&](const AttentionProblem& problem) { return by_emulator(problem, order_of_threads, sizes.rows); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_kernels_agree_with_the_reference)

BOOST_AUTO_TEST_CASE(over_block_sizes_groups_and_head_sizes) {
    for (const AttentionSizes& sizes : testing::sizes_in_turn(100, testing::runs_wanted() == Runs::short_ ? 9 : 1)) {
        expect_agreement(sizes);
    }
}

BOOST_AUTO_TEST_CASE(in_a_prefill_under_every_window) {
    for (const AttentionSizes& sizes : testing::prefills()) {
        expect_agreement(sizes);
    }
}

BOOST_AUTO_TEST_CASE(for_every_dtype_with_a_soft_cap_and_sink_logits) {
    for (const AttentionSizes& sizes : testing::caps_and_sink_logits()) {
        expect_agreement(sizes);
    }
}

BOOST_AUTO_TEST_CASE(when_a_long_sequence_is_split_into_chunks) {
    const AttentionSizes sizes{.kv_heads = 1, .group = 2, .lengths = {1100, 3, 600}};
    const AttentionCase problem(sizes, testing::seed());
    BOOST_TEST(split_decode(problem.problem(), testing::bounds_of(problem.problem())).chunks == 4U);
    expect_agreement(sizes);
    expect_agreement({.kv_heads = 1, .group = 2, .window = 700, .sinks = 9, .sink_logits = true, .lengths = {1100, 3}});
}

BOOST_AUTO_TEST_CASE(with_groups_that_fill_no_tile_and_small_heads) {
    for (const std::uint32_t group : {2U, 3U, 5U, 11U}) {
        expect_agreement({.block_size = 4, .kv_heads = 2, .group = group, .head_dim = 8, .lengths = {0, 3, 30}});
    }
    expect_agreement({.head_dim = 80, .lengths = {0, 33}});
    expect_agreement({.head_dim = 136, .lengths = {7}, .queries = {7}});
}

// Every combination, some minutes.
BOOST_AUTO_TEST_CASE(over_all_combinations) {
    if (testing::runs_wanted() != Runs::long_) {
        return;
    }
    for (const AttentionSizes& sizes : testing::all_sizes(150)) {
        expect_agreement(sizes);
    }
}

// No thread sees what another one has not finished.
BOOST_AUTO_TEST_CASE(whatever_the_order_of_threads_to_the_bit) {
    for (const std::vector<std::int32_t>& queries : {std::vector<std::int32_t>{}, std::vector<std::int32_t>{5, 2}}) {
        const AttentionCase problem({.kv_heads = 1, .lengths = {70, 9}, .queries = queries}, testing::seed());
        const Answer first = by_emulator(problem.problem(), 1);
        for (const std::uint64_t order : {2U, 3U, 4U}) {
            const Answer again = by_emulator(problem.problem(), order);
            BOOST_TEST(again.out == first.out, boost::test_tools::per_element());
            BOOST_TEST(again.lse == first.lse, boost::test_tools::per_element());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

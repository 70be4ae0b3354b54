// SPDX-License-Identifier: Apache-2.0
// The host's paths and the reference give the same, over the sizes that kernels get wrong.
#include <array>

#include <boost/test/unit_test.hpp>

#include "attention/expect_agreement.h"
#include "support/runs.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;
using testing::by_host;
using testing::Runs;

constexpr std::array paths = {HostPath::portable, HostPath::avx2};

void expect_agreement(const AttentionSizes& sizes, HostPath path, Length chunk) {
    BOOST_TEST_CONTEXT("path " << static_cast<int>(path) << ", chunk " << chunk) {
        testing::expect_agreement(sizes, [&](const AttentionProblem& problem) {
            return by_host(problem, {.path = path, .chunk = chunk}, sizes.rows);
        });
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_attention_agrees_with_the_reference)

BOOST_AUTO_TEST_CASE(over_block_sizes_groups_and_head_sizes) {
    std::size_t turn = 0;
    for (const AttentionSizes& sizes : testing::sizes_in_turn(150, testing::runs_wanted() == Runs::short_ ? 5 : 1)) {
        ++turn;
        expect_agreement(sizes, paths[turn % 2], turn % 3 == 0 ? 0 : 40);
    }
}

BOOST_AUTO_TEST_CASE(in_a_prefill_under_every_window) {
    for (const HostPath path : paths) {
        for (const AttentionSizes& sizes : testing::prefills()) {
            expect_agreement(sizes, path, 16);
        }
    }
}

BOOST_AUTO_TEST_CASE(for_every_dtype_with_a_soft_cap_and_sink_logits) {
    for (const HostPath path : paths) {
        for (const AttentionSizes& sizes : testing::caps_and_sink_logits()) {
            expect_agreement(sizes, path, 64);
        }
    }
}

// Every combination, a quarter of a minute.
BOOST_AUTO_TEST_CASE(over_all_combinations) {
    if (testing::runs_wanted() != Runs::long_) {
        return;
    }
    for (const AttentionSizes& sizes : testing::all_sizes(300)) {
        for (const HostPath path : paths) {
            for (const Length chunk : {0, 64}) {
                expect_agreement(sizes, path, chunk);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_no_bit) {
    const AttentionCase problem({.lengths = {300, 20, 0, 77}}, testing::seed());
    const Answer one = by_host(problem.problem(), {.threads = 1, .chunk = 32});
    for (const unsigned threads : {2U, 3U, 50U}) {
        const Answer many = by_host(problem.problem(), {.threads = threads, .chunk = 32});
        BOOST_TEST(many.out == one.out);
        BOOST_TEST(many.lse == one.lse);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

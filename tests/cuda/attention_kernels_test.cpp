// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels, run in the emulator, give what the reference gives, over the sizes that kernels get wrong.
#include <array>
#include <vector>

#include <boost/test/unit_test.hpp>

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
using testing::by_reference;
using testing::norm_ratio;
using testing::Runs;

constexpr std::array all_dtypes = {DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2};

double tolerance(DType rows) { return rows == DType::f32 ? 1e-5 : rows == DType::f16 ? 2e-3 : 1e-2; }

void expect_agreement(const AttentionSizes& sizes, std::uint64_t order = testing::seed()) {
    BOOST_TEST_CONTEXT(describe(sizes) << ", order of threads " << order) {
        const AttentionCase problem(sizes, testing::seed());
        const Answer expected = by_reference(problem.problem());
        const Answer found = by_emulator(problem.problem(), order, sizes.rows);
        BOOST_TEST(norm_ratio(found.out, expected.out) < tolerance(sizes.rows));
        BOOST_TEST(norm_ratio(found.lse, expected.lse) < 1e-5);
    }
}

std::vector<Length> edges(std::uint32_t block_size, Length longest) {
    const Length b = block_size;
    return {0, 1, b - 1, b, b + 1, longest};
}

struct Window {
    Length window = 0;
    Length sinks = 0;
};
constexpr std::array windows = {Window{0, 0},  Window{37, 0}, Window{5, 0},
                                Window{37, 3}, Window{1, 1},  Window{100, 70}};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_kernels_agree_with_the_reference)

// Each block size with each group and head size; the rest takes turns, decodes and prefills too.
BOOST_AUTO_TEST_CASE(over_block_sizes_groups_and_head_sizes) {
    const std::size_t every = testing::runs_wanted() == Runs::short_ ? 9 : 1;
    std::size_t turn = 0;
    for (const std::uint32_t block_size : {1U, 8U, 16U, 32U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            for (const std::uint32_t head_dim : {64U, 128U, 256U}) {
                ++turn;
                if (turn % every != 0) {
                    continue;
                }
                const Window window = windows[turn % windows.size()];
                expect_agreement({.block_size = block_size,
                                  .kv_heads = 1 + static_cast<std::uint32_t>(turn % 2),
                                  .group = group,
                                  .head_dim = head_dim,
                                  .cells = all_dtypes[turn % all_dtypes.size()],
                                  .rows = all_dtypes[turn / 5 % 3],
                                  .order = turn % 4 < 2 ? CellOrder::nhd : CellOrder::hnd,
                                  .interleaved = turn % 3 == 0,
                                  .window = window.window,
                                  .sinks = window.sinks,
                                  .soft_cap = turn % 7 == 0 ? 5.0F : 0.0F,
                                  .sink_logits = turn % 5 == 0,
                                  .lengths = edges(block_size, 100)});
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(in_a_prefill_under_every_window) {
    for (const Window window : windows) {
        for (const std::uint32_t group : {1U, 3U, 8U}) {
            expect_agreement({.block_size = 8,
                              .kv_heads = 1,
                              .group = group,
                              .head_dim = 40,
                              .cells = group == 3 ? DType::f16 : DType::f32,
                              .window = window.window,
                              .sinks = window.sinks,
                              .sink_logits = group == 3,
                              .lengths = {1, 9, 90, 70},
                              .queries = {1, 9, 21, 0}});
        }
    }
}

BOOST_AUTO_TEST_CASE(for_every_dtype_with_a_soft_cap_and_sink_logits) {
    for (const DType cells : all_dtypes) {
        for (const float soft_cap : {0.0F, 30.0F}) {
            expect_agreement(
                {.kv_heads = 1, .cells = cells, .soft_cap = soft_cap, .sink_logits = true, .lengths = {0, 1, 45}});
        }
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
    for (const std::uint32_t block_size : {1U, 8U, 16U, 32U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            for (const std::uint32_t head_dim : {64U, 128U, 256U}) {
                for (const DType cells : all_dtypes) {
                    for (const Window window : windows) {
                        expect_agreement({.block_size = block_size,
                                          .kv_heads = 1,
                                          .group = group,
                                          .head_dim = head_dim,
                                          .cells = cells,
                                          .rows = bytes_of(cells) == 1 ? DType::f32 : cells,
                                          .window = window.window,
                                          .sinks = window.sinks,
                                          .lengths = edges(block_size, 150)});
                    }
                }
            }
        }
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

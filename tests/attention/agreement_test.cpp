// SPDX-License-Identifier: Apache-2.0
// The host's paths and the reference give the same, over the sizes that kernels get wrong.
#include <array>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/attention_case.h"
#include "support/runs.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;
using testing::by_host;
using testing::by_reference;
using testing::norm_ratio;
using testing::Runs;

constexpr std::array paths = {HostPath::portable, HostPath::avx2};
constexpr std::array all_dtypes = {DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2};

double tolerance(DType rows) { return rows == DType::f32 ? 1e-5 : rows == DType::f16 ? 2e-3 : 1e-2; }

void expect_agreement(const AttentionSizes& sizes, HostPath path, Length chunk) {
    BOOST_TEST_CONTEXT(describe(sizes) << ", path " << static_cast<int>(path) << ", chunk " << chunk) {
        const AttentionCase problem(sizes, testing::seed());
        const Answer expected = by_reference(problem.problem());
        const Answer found = by_host(problem.problem(), {.path = path, .chunk = chunk}, sizes.rows);
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

BOOST_AUTO_TEST_SUITE(host_attention_agrees_with_the_reference)

// Each block size with each group and head size; the rest takes turns.
BOOST_AUTO_TEST_CASE(over_block_sizes_groups_and_head_sizes) {
    const bool is_short = testing::runs_wanted() == Runs::short_;
    std::size_t turn = 0;
    for (const std::uint32_t block_size : {1U, 8U, 16U, 32U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            for (const std::uint32_t head_dim : {64U, 128U, 256U}) {
                ++turn;
                if (is_short && turn % 5 != 0) {
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
                                  .lengths = edges(block_size, 150)},
                                 paths[turn % 2], turn % 3 == 0 ? 0 : 40);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(in_a_prefill_under_every_window) {
    for (const HostPath path : paths) {
        for (const Window window : windows) {
            for (const std::uint32_t group : {1U, 3U, 8U}) {
                expect_agreement({.block_size = 8,
                                  .group = group,
                                  .head_dim = 40,
                                  .window = window.window,
                                  .sinks = window.sinks,
                                  .sink_logits = group == 3,
                                  .lengths = {1, 9, 90, 70},
                                  .queries = {1, 9, 21, 0}},
                                 path, 16);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(for_every_dtype_with_a_soft_cap_and_sink_logits) {
    for (const HostPath path : paths) {
        for (const DType cells : all_dtypes) {
            for (const float soft_cap : {0.0F, 0.5F, 30.0F}) {
                expect_agreement(
                    {.cells = cells, .soft_cap = soft_cap, .sink_logits = true, .lengths = {0, 1, 45, 130}}, path, 64);
            }
        }
    }
}

// Every combination, a quarter of a minute.
BOOST_AUTO_TEST_CASE(over_all_combinations) {
    if (testing::runs_wanted() != Runs::long_) {
        return;
    }
    for (const std::uint32_t block_size : {1U, 8U, 16U, 32U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            for (const std::uint32_t head_dim : {64U, 128U, 256U}) {
                for (const DType cells : all_dtypes) {
                    for (const Window window : windows) {
                        for (const HostPath path : paths) {
                            for (const Length chunk : {0, 64}) {
                                expect_agreement({.block_size = block_size,
                                                  .group = group,
                                                  .head_dim = head_dim,
                                                  .cells = cells,
                                                  .rows = bytes_of(cells) == 1 ? DType::f32 : cells,
                                                  .window = window.window,
                                                  .sinks = window.sinks,
                                                  .lengths = edges(block_size, 300)},
                                                 path, chunk);
                            }
                        }
                    }
                }
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

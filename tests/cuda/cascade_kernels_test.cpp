// SPDX-License-Identifier: Apache-2.0
// A cascade by the CUDA kernels, run in the emulator: what the host's cascade and the reference give.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/cascade_launch.cuh>
#include <kvpane/attention/elements.h>

#include "attention/agreement.h"
#include "attention/cascade_case.h"
#include "cuda/bounds_of.h"
#include "cuda/emulated_launch.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::bounds_of;
using testing::by_cascade;
using testing::by_reference;
using testing::CascadeCase;
using testing::CascadeSizes;
using testing::norm_ratio;

Answer by_emulator(const AttentionProblem& problem, const SharedPrefixes& shared, const CascadeBounds& bounds,
                   DType rows = DType::f32) {
    const std::size_t states = bounds.problem.rows * problem.query_heads;
    const std::size_t elements = states * problem.cells.shape.head_dim;
    std::vector<Length> workspace(device_cascade_workspace_bytes(problem, shared, bounds) / sizeof(Length), -1);
    std::vector<std::byte> out(elements * bytes_of(rows), std::byte{0xff});
    Answer answer{.out = std::vector<float>(elements), .lse = std::vector<float>(states, 7)};
    testing::EmulatedLaunch launch(testing::seed());
    testing::require(cuda::run_cascade(launch, problem, shared, bounds, std::as_writable_bytes(std::span(workspace)),
                                       {.out = {out.data(), rows}, .lse = answer.lse}));
    for (std::size_t i = 0; i < elements; ++i) {
        answer.out[i] = read_element(out.data(), rows, i);
    }
    return answer;
}

void expect_close(const Answer& found, const Answer& expected, DType rows) {
    BOOST_TEST(norm_ratio(found.out, expected.out) < testing::tolerance(rows));
    BOOST_TEST(norm_ratio(found.lse, expected.lse) < testing::lse_tolerance);
}

// Whether any of what the query heads of a row got is NaN.
bool has_nan(const Answer& answer, std::size_t row, std::size_t rows) {
    const auto is_nan = [](float value) { return std::isnan(value); };
    const auto of_row = [&](const std::vector<float>& all) {
        const std::size_t size = all.size() / rows;
        return std::span(all).subspan(row * size, size);
    };
    return std::ranges::any_of(of_row(answer.out), is_nan) || std::ranges::any_of(of_row(answer.lse), is_nan);
}

// Two groups of two sequences; the first shares two blocks of four cells and half of a third, and its row is full.
CascadeSizes small() {
    return {{.block_size = 4, .kv_heads = 1, .group = 2, .head_dim = 8, .lengths = {16, 12, 9, 5}}, {0, 2, 4}, {10, 0}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_cascade_by_kernels)

BOOST_AUTO_TEST_CASE(gives_what_the_reference_and_the_cascade_of_the_host_give) {
    for (const CascadeSizes& sizes : testing::cascades()) {
        const CascadeCase made(sizes, testing::seed());
        BOOST_TEST_CONTEXT(describe(sizes.attention) << ", first prefix " << sizes.prefixes[0]) {
            const DType rows = sizes.attention.rows;
            const Answer found =
                by_emulator(made.problem(), made.shared(), bounds_of(made.problem(), made.shared()), rows);
            expect_close(found, by_reference(made.problem()), rows);
            expect_close(found, by_cascade(made.problem(), made.shared(), {}), rows);
        }
    }
}

BOOST_AUTO_TEST_CASE(runs_no_kernel_where_there_are_no_rows) {
    const CascadeCase made({{.lengths = {20, 9}, .queries = {0, 0}}, {0, 2}, {8}}, testing::seed());
    auto launch = [](const auto&...) -> payload_expected<void> { return refuse(PayloadFault::cuda_error, "launch"); };
    const CascadeBounds bounds = bounds_of(made.problem(), made.shared());
    BOOST_TEST(cuda::run_cascade(launch, made.problem(), made.shared(), bounds, {}, {}).has_value());
    const CascadeCase busy(small(), testing::seed());
    const CascadeBounds rows = bounds_of(busy.problem(), busy.shared());
    BOOST_TEST(!cuda::run_cascade(launch, busy.problem(), busy.shared(), rows, {}, {}).has_value());
}

BOOST_AUTO_TEST_CASE(gives_nan_to_the_group_whose_prefix_has_a_block_that_is_none_and_to_no_other) {
    for (const std::int32_t bad : {0, -1, 1000}) {
        CascadeCase made(small(), testing::seed());
        const CascadeBounds bounds = bounds_of(made.problem(), made.shared());
        made.made.tables[1] = bad;
        const Answer found = by_emulator(made.problem(), made.shared(), bounds);
        for (std::size_t row = 0; row < 4; ++row) {
            BOOST_TEST(has_nan(found, row, 4) == (row < 2));
        }
    }
    CascadeCase made(small(), testing::seed());
    const CascadeBounds bounds = bounds_of(made.problem(), made.shared());
    for (const Length too_long : {Length{17}, Length{1000}, std::numeric_limits<Length>::max()}) {
        made.prefixes[0] = too_long;
        const Answer found = by_emulator(made.problem(), made.shared(), bounds);
        for (std::size_t row = 0; row < 4; ++row) {
            BOOST_TEST(has_nan(found, row, 4) == (row < 2));
        }
    }
}

// AddressSanitizer watches.
BOOST_AUTO_TEST_CASE(touches_nothing_beyond_its_arrays_whatever_they_hold) {
    std::mt19937_64 random(testing::seed());
    const auto number = [&] { return random() % 2 == 0 ? random() % 16 : random(); };
    for (int i = 0; i < 60; ++i) {
        CascadeSizes sizes = small();
        if (i % 2 == 0) {
            sizes.attention.queries = {3, 1, 2, 1};
        }
        CascadeCase made(sizes, testing::seed());
        const CascadeBounds bounds = bounds_of(made.problem(), made.shared());
        std::ranges::generate(made.indptr, [&] { return static_cast<std::int32_t>(number()); });
        std::ranges::generate(made.prefixes, [&] { return static_cast<Length>(number()); });
        if (i % 3 == 0) {
            std::ranges::generate(made.made.query_indptr, [&] { return static_cast<std::int32_t>(number()); });
            std::ranges::generate(made.made.lengths, [&] { return static_cast<Length>(number()); });
            std::ranges::generate(made.made.tables, [&] { return static_cast<std::int32_t>(number()); });
        }
        BOOST_TEST(by_emulator(made.problem(), made.shared(), bounds).lse.size() == 2 * bounds.problem.rows);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
// The kernels on tables, run in the emulator, give what the host's functions give.
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/merge.h>
#include <kvpane/attention/table_ops.h>
#include <kvpane/attention/cuda/attention_launch.cuh>
#include <kvpane/attention/cuda/ops_launch.cuh>

#include "cuda/emulated_launch.h"

namespace kvpane {

namespace {

using testing::EmulatedLaunch;
using Ids = std::vector<std::int32_t>;

constexpr std::uint32_t block_size = 4;
constexpr std::size_t width = 6;
constexpr std::size_t n_seqs = 4;

// 0, 1, 9 and 24 cells; ids that say where they stand.
struct Tables {
    Tables() {
        for (std::size_t i = 0; i < n_seqs; ++i) {
            for (std::size_t entry = 0; entry < width; ++entry) {
                const bool is_held = static_cast<Length>(entry * block_size) < lengths[i];
                ids.push_back(is_held ? static_cast<std::int32_t>(10 * i + entry + 1) : 0);
            }
        }
    }
    PaddedTables view() const { return {ids, width, block_size}; }

    std::vector<Length> lengths = {0, 1, 9, 24};
    Ids ids;
};

struct Csr {
    Ids indptr = Ids(n_seqs + 1, -7);
    Ids indices = Ids(n_seqs * width, -7);
    Ids last_page_len = Ids(n_seqs, -7);
    std::vector<Length> first_position = std::vector<Length>(n_seqs, -7);

    CsrArrays arrays() { return {indptr, indices, last_page_len, first_position}; }
    friend bool operator==(const Csr&, const Csr&) = default;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(table_kernels_agree_with_the_host)

BOOST_AUTO_TEST_CASE(from_tables_to_csr_and_back) {
    const Tables tables;
    const std::vector<Length> queries = {0, 1, 4, 2};
    for (const SeenRule& rule : {SeenRule{}, SeenRule{.window = 5}, SeenRule{.window = 5, .sinks = 3},
                                 SeenRule{.window = 9, .sinks = 6, .queries = queries}}) {
        Csr expected;
        Csr found;
        const auto entries = tables_to_csr(tables.view(), tables.lengths, rule, expected.arrays());
        BOOST_REQUIRE(entries);
        EmulatedLaunch launch(1);
        BOOST_REQUIRE(cuda::run_tables_to_csr(launch, tables.view(), tables.lengths, rule, found.arrays(), {}));
        BOOST_TEST(found.indptr == expected.indptr, boost::test_tools::per_element());
        BOOST_TEST((found == expected));

        const CsrTables csr{expected.indptr, expected.indices, expected.first_position, rule.sinks, block_size};
        Ids rows(n_seqs * width, -7);
        Ids rows_found(n_seqs * width, -7);
        BOOST_REQUIRE(csr_to_tables(csr, width, rows));
        BOOST_REQUIRE(cuda::run_csr_to_tables(launch, csr, width, rows_found));
        BOOST_TEST(rows_found == rows, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(slots_of_positions_of_some_sequences_and_of_one_each) {
    const Tables tables;
    EmulatedLaunch launch(2);
    const Ids indptr = {0, 0, 1, 4, 5};
    const std::vector<Length> positions = {0, 8, 0, 5, 23};
    std::vector<Slot> expected(5, -7);
    std::vector<Slot> found(5, -7);
    BOOST_REQUIRE(slots_of_positions(tables.view(), indptr, positions, expected));
    BOOST_REQUIRE(cuda::run_slots_of_positions(launch, tables.view(), indptr, positions, found));
    BOOST_TEST(found == expected, boost::test_tools::per_element());

    PaddedTables from_second = tables.view();
    from_second.ids = from_second.ids.subspan(width);
    const std::vector<Length> one_each = {0, 7, 19};
    BOOST_REQUIRE(slots_of_positions(from_second, {}, one_each, expected));
    BOOST_REQUIRE(cuda::run_slots_of_positions(launch, from_second, {}, one_each, found));
    BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(parts_merged_with_a_sink_logit_and_without_anything) {
    const float nothing = -std::numeric_limits<float>::infinity();
    const std::vector<float> out(3 * 2 * 2 * 40, 0.25F);
    std::vector<float> lse = {1, 2, nothing, nothing, 3, nothing, nothing, nothing, -50, 2, nothing, nothing};
    const std::vector<float> sinks = {0.5F, nothing};
    AttentionParts parts{.parts = 3, .rows = 2, .query_heads = 2, .head_dim = 40, .out = out, .lse = lse};
    EmulatedLaunch launch(3);
    for (const bool with_sinks : {false, true}) {
        parts.sink_logits = with_sinks ? std::span<const float>(sinks) : std::span<const float>{};
        std::vector<float> expected(2 * 2 * 40);
        std::vector<float> found(2 * 2 * 40, 7);
        std::vector<float> expected_lse(4);
        std::vector<float> found_lse(4, 7);
        BOOST_REQUIRE(merge_parts(parts, {.out = {expected.data(), DType::f32}, .lse = expected_lse}));
        BOOST_REQUIRE(cuda::run_merge(launch, parts, {.out = {found.data(), DType::f32}, .lse = found_lse}));
        for (std::size_t i = 0; i < found.size(); ++i) {
            BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-6);
        }
        for (std::size_t i = 0; i < found_lse.size(); ++i) {
            BOOST_TEST((found_lse[i] == expected_lse[i] || std::abs(found_lse[i] - expected_lse[i]) < 1e-6));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/memory_plan.h>

#include <array>
#include <cstdint>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/manager.h>

#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::is_refused;
using enum PayloadFault;

// 32 layers of 8 heads of 128 in bf16: 128 KB a token.
constexpr std::array<LayerGroup, 1> full = {LayerGroup{.layers = 32, .kv_heads = 8, .head_dim = 128}};

// Five of six layers see 1024 tokens.
constexpr std::array<LayerGroup, 2> hybrid = {
    LayerGroup{.layers = 8, .kv_heads = 4, .head_dim = 256},
    LayerGroup{.window = 1024, .sinks = 4, .layers = 40, .kv_heads = 4, .head_dim = 256}};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_plan)

BOOST_AUTO_TEST_CASE(a_block_holds_k_and_v_of_all_layers) {
    BOOST_TEST(bytes_per_block(full[0], 16).value() == 16 * 128 * 1024);
    LayerGroup fp8 = full[0];
    fp8.dtype = DType::e4m3;
    BOOST_TEST(bytes_per_block(fp8, 16).value() == 16 * 64 * 1024);
}

BOOST_AUTO_TEST_CASE(groups_lie_over_each_other_or_beside_each_other) {
    MemoryModel model{.groups = hybrid};
    constexpr std::int64_t layer = 2 * 16 * 4 * 256 * 2;
    BOOST_TEST(bytes_per_block(model).value() == 40 * layer);
    model.memory = PoolMemory::separate;
    BOOST_TEST(bytes_per_block(model).value() == 48 * layer);
}

BOOST_AUTO_TEST_CASE(a_window_bounds_the_blocks_of_a_long_sequence_and_not_those_of_a_short_one) {
    const MemoryModel model{.groups = hybrid, .block_size = 16, .rewind_slack = 8, .step_cells = 5};
    BOOST_TEST(blocks_per_sequence(model, hybrid[0], 100'000).value() == 6250);
    // ceil((1023 + 5 + 8) / 16) + 1, and one block for the sinks.
    BOOST_TEST(blocks_per_sequence(model, hybrid[1], 100'000).value() == 65 + 1 + 1);
    BOOST_TEST(blocks_per_sequence(model, hybrid[1], 100).value() == 7);
    BOOST_TEST(blocks_needed(model, 10, 100'000).value() == 10 * (6250 + 67));
    BOOST_TEST(blocks_needed(model, 0, 100'000).value() == 0);
}

BOOST_AUTO_TEST_CASE(what_fits_a_budget_is_the_most_that_does) {
    const MemoryModel model{.groups = full};
    constexpr std::int64_t budget = 24LL << 30;
    const std::int64_t blocks = blocks_that_fit(model, budget).value();
    BOOST_TEST(bytes_of_pool(model, blocks).value() <= budget);
    BOOST_TEST(bytes_of_pool(model, blocks + 1).value() > budget);
    BOOST_TEST(blocks == 24 * 1024 / 2 - 1);
    BOOST_TEST(blocks_that_fit(model, 100).value() == 0);
    const std::int64_t sequences = sequences_that_fit(model, blocks, 4096).value();
    BOOST_TEST(blocks_needed(model, sequences, 4096).value() <= blocks);
    BOOST_TEST(blocks_needed(model, sequences + 1, 4096).value() > blocks);
    constexpr std::array<LayerGroup, 1> tiny = {LayerGroup{.layers = 1, .kv_heads = 1, .head_dim = 8}};
    BOOST_TEST(blocks_that_fit({.groups = tiny, .block_size = 1}, std::numeric_limits<std::int64_t>::max()).value() ==
               most_blocks);
}

BOOST_AUTO_TEST_CASE(a_manager_never_holds_more_than_the_bound) {
    testing::Lcg lcg(testing::seed());
    for (const WindowRelease release : {WindowRelease::commit, WindowRelease::reserve}) {
        for (int round = 0; round < 20; ++round) {
            const auto at_most = [&](std::uint64_t n) { return static_cast<Length>(lcg.below(n + 1)); };
            const Length window = 1 + at_most(20);
            const Length sinks = at_most(5);
            const Length slack = at_most(4);
            const Length step = 1 + at_most(6);
            const auto block_size = static_cast<std::uint32_t>(1 + at_most(5));
            Manager kv({.block_size = block_size,
                        .blocks = 300,
                        .window_release = release,
                        .rewind_slack = slack,
                        .prefix_cache = {.enabled = false},
                        .groups = {{.name = "swa", .window = window, .sinks = sinks}}});
            const std::array groups = {
                LayerGroup{.window = window, .sinks = sinks, .layers = 1, .kv_heads = 1, .head_dim = 8}};
            const MemoryModel model{
                .groups = groups, .block_size = block_size, .rewind_slack = slack, .step_cells = step};
            const testing::Tokens tokens(static_cast<std::size_t>(step), 1);
            const SequenceHandle sequence = testing::granted(kv.admit({.tokens = tokens})).sequence;
            std::size_t most = 0;
            for (int i = 0; i < 50; ++i) {
                const auto cells = static_cast<std::size_t>(1 + at_most(static_cast<std::uint64_t>(step) - 1));
                testing::granted(kv.append(sequence, std::span(tokens).first(cells)));
                const std::size_t held = kv.table(sequence, GroupId{0})->held();
                const Length length = *kv.length(sequence);
                BOOST_REQUIRE(static_cast<std::int64_t>(held) <= blocks_per_sequence(model, groups[0], length).value());
                most = std::max(most, held);
            }
            // No bound of a sequence that is always held whole: the window gave something back.
            BOOST_TEST(most < 50U * static_cast<std::size_t>(step));
        }
    }
}

BOOST_AUTO_TEST_CASE(numbers_beyond_63_bits_and_senseless_ones_are_refused) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const MemoryModel model{.groups = full};
    BOOST_CHECK(is_refused(bytes_of_pool(model, most), bad_shape, "blocks"));
    BOOST_CHECK(is_refused(bytes_of_pool(model, most / 1024), bad_shape, "blocks"));
    BOOST_CHECK(is_refused(blocks_needed(model, most, 4096), bad_shape, "sequences"));
    BOOST_CHECK(is_refused(bytes_of_pool(model, -1), out_of_range, "blocks"));
    BOOST_CHECK(is_refused(blocks_that_fit(model, -1), out_of_range, "bytes"));
    BOOST_CHECK(is_refused(blocks_needed(model, -1, 1), out_of_range, "sequences"));
    BOOST_CHECK(is_refused(blocks_needed(model, 1, -1), out_of_range, "length"));
    BOOST_CHECK(is_refused(sequences_that_fit(model, 10, 0), out_of_range, "length"));
    BOOST_CHECK(is_refused(bytes_per_block(MemoryModel{}), bad_shape, "groups"));
    BOOST_CHECK(is_refused(bytes_per_block({.groups = full, .block_size = 0}), bad_shape, "block_size"));
    BOOST_CHECK(is_refused(bytes_per_block({.groups = full, .step_cells = 0}), out_of_range, "step_cells"));
    BOOST_CHECK(is_refused(bytes_per_block({.groups = full, .rewind_slack = -1}), out_of_range, "rewind_slack"));
    const auto refuses = [](auto change, PayloadFault fault, const char* where) {
        LayerGroup group = full[0];
        change(group);
        return is_refused(bytes_per_block(group, 16), fault, where);
    };
    BOOST_CHECK(refuses([](LayerGroup& g) { g.layers = 0; }, bad_shape, "layers"));
    BOOST_CHECK(refuses([](LayerGroup& g) { g.kv_heads = 0; }, bad_shape, "kv_heads"));
    BOOST_CHECK(refuses([](LayerGroup& g) { g.head_dim = 100; }, head_dim_out_of_range, "head_dim"));
    BOOST_CHECK(refuses([](LayerGroup& g) { g.window = -1; }, out_of_range, "window"));
    BOOST_CHECK(refuses([](LayerGroup& g) { g.sinks = -1; }, out_of_range, "sinks"));
    LayerGroup endless = full[0];
    endless.window = most;
    BOOST_CHECK(
        is_refused(blocks_per_sequence({.groups = full, .step_cells = 2}, endless, 5), bad_shape, "rewind_slack"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

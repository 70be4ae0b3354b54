// SPDX-License-Identifier: Apache-2.0
// The kernels on cells and blocks, run in the emulator, give the bits that the host's functions give.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/elements.h>
#include <kvpane/attention/cuda/ops_launch.cuh>

#include "cuda/emulated_launch.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using Bytes = std::vector<std::byte>;
using testing::EmulatedLaunch;

// A store's sizes, its layout, and the dtype of rows.
struct Layout {
    CellShape shape;
    CellOrder order;
    bool interleaved;
    DType rows;
};

const std::array layouts = {
    Layout{{6, 4, 2, 24, DType::f32}, CellOrder::nhd, false, DType::f32},
    Layout{{6, 4, 2, 24, DType::f16}, CellOrder::hnd, false, DType::f32},
    Layout{{6, 3, 1, 8, DType::bf16}, CellOrder::nhd, true, DType::bf16},
    Layout{{6, 1, 3, 16, DType::e4m3}, CellOrder::hnd, true, DType::bf16},
    Layout{{6, 4, 2, 40, DType::e5m2}, CellOrder::nhd, false, DType::e5m2},
    Layout{{6, 4, 1, 256, DType::f32}, CellOrder::nhd, false, DType::f16},
};

std::mt19937_64& random_bits() {
    static std::mt19937_64 random(testing::seed());
    return random;
}

// Values that every dtype holds without overflow, some of them subnormal in the narrow ones.
Bytes random_elements(DType dtype, std::size_t n) {
    std::normal_distribution<float> normal(0, 3);
    Bytes out(n * bytes_of(dtype));
    for (std::size_t i = 0; i < n; ++i) {
        const float value = normal(random_bits());
        write_element(out.data(), dtype, i, i % 7 == 0 ? value / 1000 : value);
    }
    return out;
}

std::size_t elements_of_cells(const CellShape& shape, std::size_t cells) {
    return cells * shape.kv_heads * shape.head_dim;
}

std::span<std::byte> memory_of(const CellStore& store) {
    auto* const first = static_cast<std::byte*>(std::min(store.k, store.v));
    return {first, bytes_of(store.shape)};
}

// Two stores with equal random content, one for each side.
struct Pair {
    explicit Pair(const Layout& layout)
        : host(layout.shape, layout.order, layout.interleaved), device(layout.shape, layout.order, layout.interleaved) {
        const DType dtype = layout.shape.dtype;
        const Bytes bytes = random_elements(dtype, bytes_of(layout.shape) / bytes_of(dtype));
        std::ranges::copy(bytes, memory_of(host.view()).begin());
        std::ranges::copy(bytes, memory_of(device.view()).begin());
        if (bytes_of(dtype) == 1) {
            host.set_scales(0.5F, 3);
            device.set_scales(0.5F, 3);
        }
    }

    bool agree() const { return std::ranges::equal(memory_of(host.view()), memory_of(device.view())); }

    HostCellStore host;
    HostCellStore device;
};

struct Rows {
    Rows(const Layout& layout, std::size_t cells)
        : k(random_elements(layout.rows, elements_of_cells(layout.shape, cells))),
          v(random_elements(layout.rows, elements_of_cells(layout.shape, cells))), dtype(layout.rows) {}

    CellRows in() const { return {k.data(), v.data(), dtype}; }
    CellRowsOut out() { return {k.data(), v.data(), dtype}; }

    Bytes k;
    Bytes v;
    DType dtype;
};

constexpr std::array<std::int32_t, 4> table = {5, 2, 6, 1};

// Positions that begin and end within a block, where blocks have more than one cell.
CellRange range_of_table(const CellShape& shape) {
    const Length first = shape.block_size > 1 ? 2 : 0;
    return {table, first, Length{3} * shape.block_size - first + (shape.block_size > 1 ? 1 : 0)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cell_kernels_agree_with_the_host)

BOOST_AUTO_TEST_CASE(writing_to_slots_of_which_some_are_nobodys) {
    for (const Layout& layout : layouts) {
        Pair stores(layout);
        const auto block = Slot{layout.shape.block_size};
        const std::vector<Slot> slots = {3 * block, no_slot, block, 6 * block + block - 1};
        const Rows rows(layout, slots.size());
        BOOST_REQUIRE(write_slots(stores.host.view(), slots, rows.in()));
        EmulatedLaunch launch(1);
        BOOST_REQUIRE(cuda::run_write_slots(launch, stores.device.view(), slots, rows.in()));
        BOOST_TEST(stores.agree());
    }
}

BOOST_AUTO_TEST_CASE(gathering_and_scattering_a_range) {
    for (const Layout& layout : layouts) {
        Pair stores(layout);
        const CellRange range = range_of_table(layout.shape);
        const auto cells = static_cast<std::size_t>(range.count);
        Rows by_host(layout, cells);
        Rows by_kernel(layout, cells);
        BOOST_TEST((by_host.k != by_kernel.k));
        EmulatedLaunch launch(2);
        BOOST_REQUIRE(gather_cells(stores.host.view(), range, by_host.out()));
        BOOST_REQUIRE(cuda::run_gather_cells(launch, stores.device.view(), range, by_kernel.out()));
        BOOST_TEST((by_host.k == by_kernel.k));
        BOOST_TEST((by_host.v == by_kernel.v));

        const Rows rows(layout, cells);
        BOOST_REQUIRE(scatter_cells(stores.host.view(), range, rows.in()));
        BOOST_REQUIRE(cuda::run_scatter_cells(launch, stores.device.view(), range, rows.in()));
        BOOST_TEST(stores.agree());
    }
}

BOOST_AUTO_TEST_CASE(copying_the_filled_cells_of_a_groups_blocks) {
    for (const Layout& layout : layouts) {
        Pair stores(layout);
        const std::uint32_t some = (layout.shape.block_size + 1) / 2;
        const std::array copies = {BlockCopy{GroupId{1}, BlockId{1}, BlockId{2}, some},
                                   BlockCopy{GroupId{0}, BlockId{1}, BlockId{3}, 1},
                                   BlockCopy{GroupId{1}, BlockId{6}, BlockId{4}, layout.shape.block_size},
                                   BlockCopy{GroupId{1}, BlockId{6}, BlockId{5}, 0}};
        BOOST_REQUIRE(copy_blocks(stores.host.view(), GroupId{1}, copies));
        EmulatedLaunch launch(3);
        BOOST_REQUIRE(cuda::run_copy_blocks(launch, stores.device.view(), GroupId{1}, copies));
        BOOST_TEST(stores.agree());
    }
}

BOOST_AUTO_TEST_CASE(copying_in_rounds_where_copies_build_on_each_other) {
    for (const Layout& layout : layouts) {
        Pair stores(layout);
        const std::uint32_t all = layout.shape.block_size;
        const std::array copies = {
            BlockCopy{GroupId{0}, BlockId{1}, BlockId{2}, all}, BlockCopy{GroupId{0}, BlockId{3}, BlockId{4}, all},
            BlockCopy{GroupId{0}, BlockId{2}, BlockId{3}, all}, BlockCopy{GroupId{0}, BlockId{3}, BlockId{5}, all},
            BlockCopy{GroupId{0}, BlockId{6}, BlockId{3}, all}};
        BOOST_REQUIRE(copy_blocks(stores.host.view(), GroupId{0}, copies));
        EmulatedLaunch launch(6);
        std::size_t rounds = 0;
        for (std::span<const BlockCopy> left = copies; !left.empty(); ++rounds) {
            const std::size_t n = copies_at_once(GroupId{0}, left);
            BOOST_REQUIRE(cuda::run_copy_blocks(launch, stores.device.view(), GroupId{0}, left.first(n)));
            left = left.subspan(n);
        }
        BOOST_TEST(rounds == 4U);
        BOOST_TEST(stores.agree());
    }
}

BOOST_AUTO_TEST_CASE(swapping_blocks_to_a_store_of_another_layout) {
    for (const Layout& layout : layouts) {
        const Pair from(layout);
        Layout other = layout;
        other.shape.blocks = 3;
        other.order = layout.order == CellOrder::nhd ? CellOrder::hnd : CellOrder::nhd;
        Pair to(other);
        const std::array pairs = {BlockPair{BlockId{6}, BlockId{1}}, BlockPair{BlockId{2}, BlockId{3}}};
        BOOST_REQUIRE(swap_blocks(from.host.view(), to.host.view(), pairs));
        EmulatedLaunch launch(4);
        BOOST_REQUIRE(cuda::run_swap_blocks(launch, from.device.view(), to.device.view(), pairs));
        BOOST_TEST(to.agree());
    }
}

BOOST_AUTO_TEST_CASE(fingerprints_whatever_the_order_of_threads) {
    for (const Layout& layout : layouts) {
        const Pair stores(layout);
        const std::array blocks = {FilledBlock{BlockId{2}, layout.shape.block_size}, FilledBlock{BlockId{6}, 1},
                                   FilledBlock{BlockId{1}, 0}};
        std::array<std::uint64_t, 3> expected{};
        BOOST_REQUIRE(fingerprint_blocks(stores.host.view(), blocks, expected));
        for (const std::uint64_t order : {1U, 2U, 3U}) {
            std::array<std::uint64_t, 3> found{1, 1, 1};
            EmulatedLaunch launch(order);
            BOOST_REQUIRE(cuda::run_fingerprint_blocks(launch, stores.device.view(), blocks, found));
            BOOST_TEST(found == expected, boost::test_tools::per_element());
        }
    }
}

BOOST_AUTO_TEST_CASE(finding_the_first_difference) {
    for (const Layout& layout : layouts) {
        const Pair stores(layout);
        const CellRange range = range_of_table(layout.shape);
        Rows rows(layout, static_cast<std::size_t>(range.count));
        const auto check = [&](std::optional<float> tolerance) {
            CellMismatch expected;
            CellMismatch found{.position = 99};
            std::uint64_t scratch = 0;
            BOOST_REQUIRE(compare_cells(stores.host.view(), range, rows.in(), tolerance, &expected));
            EmulatedLaunch launch(5);
            BOOST_REQUIRE(
                cuda::run_compare_cells(launch, stores.device.view(), range, rows.in(), tolerance, &scratch, &found));
            BOOST_TEST((found == expected));
            return found.position;
        };
        BOOST_REQUIRE(gather_cells(stores.host.view(), range, rows.out()));
        BOOST_TEST(check(std::nullopt) == CellMismatch::none);
        const std::size_t last = rows.v.size() / bytes_of(rows.dtype) - 1;
        const float value = read_element(rows.v.data(), rows.dtype, last);
        write_element(rows.v.data(), rows.dtype, last, value == 1 ? 2.0F : 1.0F);
        BOOST_TEST(check(std::nullopt) == range.first + range.count - 1);
        BOOST_TEST(check(1e6F) == CellMismatch::none);
        write_element(rows.k.data(), rows.dtype, 3, 440);
        BOOST_TEST(check(2.0F) == range.first);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

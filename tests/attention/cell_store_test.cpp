// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_store.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "attention/stores.h"

namespace kvpane {

namespace {

using testing::Layout;
using testing::small_shape;

// The places of all elements of K and V.
std::multiset<const std::byte*> places_of(const CellStore& store) {
    std::multiset<const std::byte*> places;
    const Slot slots = (store.shape.blocks + 1) * store.shape.block_size;
    for (const bool in_v : {false, true}) {
        for (Slot slot = 0; slot < slots; ++slot) {
            for (std::uint32_t head = 0; head < store.shape.kv_heads; ++head) {
                for (std::uint32_t d = 0; d < store.shape.head_dim; ++d) {
                    places.insert(testing::element_at(store, in_v, slot, head, d));
                }
            }
        }
    }
    return places;
}

bool all_differ(const std::multiset<const std::byte*>& places) {
    return std::ranges::adjacent_find(places) == places.end();
}

CellShape shape_with(auto change) {
    CellShape shape = small_shape;
    change(shape);
    return shape;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cell_stores)

BOOST_AUTO_TEST_CASE(the_elements_of_every_layout_fill_its_memory_without_a_gap) {
    for (const Layout& layout : testing::layouts) {
        for (const DType dtype : testing::dtypes) {
            const CellShape shape = testing::with(small_shape, dtype);
            const HostCellStore memory(shape, layout.order, layout.interleaved);
            const CellStore& store = memory.view();
            BOOST_TEST_CONTEXT(testing::name_of(layout, dtype)) {
                BOOST_REQUIRE(find_wrong(store));
                const auto places = places_of(store);
                const auto* begin = static_cast<const std::byte*>(store.k);
                BOOST_TEST(all_differ(places));
                BOOST_TEST(places.size() * bytes_of(dtype) == bytes_of(shape));
                BOOST_TEST((*places.begin() == begin));
                BOOST_TEST((*places.rbegin() == begin + bytes_of(shape) - bytes_of(dtype)));
                BOOST_TEST(reinterpret_cast<std::uintptr_t>(begin) % 64 == 0U);
                BOOST_TEST(std::ranges::all_of(testing::bytes_in(store), [](std::byte b) { return b == std::byte{}; }));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_interleaved_block_holds_its_k_and_then_its_v) {
    const HostCellStore memory(small_shape, CellOrder::hnd, true);
    const CellStore& store = memory.view();
    constexpr std::ptrdiff_t piece = 4 * 3 * 8;
    BOOST_TEST(static_cast<float*>(store.v) - static_cast<float*>(store.k) == piece);
    BOOST_CHECK((store.strides == CellStrides{.block = 2 * piece, .cell = 8, .head = 4 * 8}));
}

BOOST_AUTO_TEST_CASE(k_and_v_may_alternate_by_cell_or_by_head_and_be_padded) {
    std::vector<float> memory(2 * 6 * 4 * 3 * 8 + 1000);
    CellStore store{.shape = small_shape, .strides = {}, .k = memory.data()};
    for (const auto& [strides, v] : {std::pair{CellStrides{2 * 96, 2 * 24, 8}, 24},
                                     {CellStrides{2 * 96, 2 * 24, 16}, 8},
                                     {CellStrides{2 * 96 + 16, 24, 8}, 96},
                                     {CellStrides{96, 24, 8}, 600}}) {
        store.strides = strides;
        store.v = memory.data() + v;
        BOOST_TEST_CONTEXT("v behind " << v << " elements") {
            BOOST_CHECK(find_wrong(store));
            BOOST_TEST(all_differ(places_of(store)));
        }
    }
}

BOOST_AUTO_TEST_CASE(strides_that_let_two_elements_share_their_place_are_refused) {
    std::vector<float> memory(4000);
    const CellStore dense{.shape = small_shape,
                          .strides = dense_strides(small_shape, CellOrder::nhd, false),
                          .k = memory.data(),
                          .v = memory.data() + 2000};
    BOOST_REQUIRE(find_wrong(dense));
    for (const CellStrides& strides :
         {CellStrides{96, 24, 7}, CellStrides{96, 23, 8}, CellStrides{95, 24, 8}, CellStrides{0, 24, 8},
          CellStrides{-96, 24, 8}, CellStrides{std::numeric_limits<std::int64_t>::max(), 24, 8}}) {
        CellStore store = dense;
        store.strides = strides;
        BOOST_CHECK(testing::is_refused(find_wrong(store), PayloadFault::bad_shape, "strides"));
        BOOST_TEST(reach_of(store.shape, strides) == -1);
    }
    for (const int v : {0, 8, 96, 575, -575}) {
        CellStore store = dense;
        store.k = memory.data() + 1000;
        store.v = memory.data() + 1000 + v;
        BOOST_CHECK(testing::is_refused(find_wrong(store), PayloadFault::overlapping, "v"));
    }
}

BOOST_AUTO_TEST_CASE(a_dimension_of_one_entry_may_have_any_stride) {
    const CellShape shape{.blocks = 1, .block_size = 1, .kv_heads = 1, .head_dim = 8};
    BOOST_TEST(reach_of(shape, {.block = 8, .cell = 0, .head = -5}) == 16);
    BOOST_TEST(reach_of(shape, {.block = 7, .cell = 0, .head = 0}) == -1);
}

BOOST_AUTO_TEST_CASE(a_shape_that_makes_no_sense_is_named) {
    using testing::is_refused;
    const auto refuses = [](auto change, PayloadFault fault, const char* where) {
        return is_refused(find_wrong(shape_with(change)), fault, where);
    };
    using enum PayloadFault;
    BOOST_CHECK(refuses([](CellShape& s) { s.blocks = 0; }, bad_shape, "blocks"));
    BOOST_CHECK(refuses([](CellShape& s) { s.blocks = -1; }, bad_shape, "blocks"));
    BOOST_CHECK(refuses([](CellShape& s) { s.blocks = std::int64_t{1} << 31; }, bad_shape, "blocks"));
    BOOST_CHECK(refuses([](CellShape& s) { s.block_size = 0; }, bad_shape, "block_size"));
    BOOST_CHECK(refuses([](CellShape& s) { s.kv_heads = 0; }, bad_shape, "kv_heads"));
    for (const std::uint32_t dim : {0U, 4U, 12U, 264U, 512U}) {
        BOOST_CHECK(refuses([=](CellShape& s) { s.head_dim = dim; }, head_dim_out_of_range, "head_dim"));
    }
    BOOST_CHECK(refuses([](CellShape& s) { s.dtype = static_cast<DType>(99); }, unsupported_dtype, "dtype"));
    BOOST_CHECK(refuses(
        [](CellShape& s) {
            s.blocks = 2'147'483'646;
            s.block_size = 1U << 20U;
            s.kv_heads = 128;
        },
        bad_shape, "shape"));
    BOOST_CHECK_THROW(HostCellStore(shape_with([](CellShape& s) { s.head_dim = 12; }), CellOrder::nhd, false),
                      std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(offsets_pass_32_bits_where_the_store_does) {
    const CellShape shape{.blocks = 1'000'000, .block_size = 16, .kv_heads = 8, .head_dim = 128, .dtype = DType::bf16};
    BOOST_REQUIRE(find_wrong(shape));
    BOOST_TEST(bytes_of(shape) == 2ULL * 1'000'001 * 16 * 8 * 128 * 2);
    BOOST_TEST(reach_of(shape, dense_strides(shape, CellOrder::nhd, false)) == 1'000'001LL * 16 * 8 * 128);
}

BOOST_AUTO_TEST_CASE(memory_and_scales_that_make_no_sense_are_named) {
    const HostCellStore f32(small_shape, CellOrder::nhd, false);
    const HostCellStore e4m3(testing::with(small_shape, DType::e4m3), CellOrder::nhd, false);
    const auto refuses = [](CellStore store, auto change, PayloadFault fault, const char* where) {
        change(store);
        return testing::is_refused(find_wrong(store), fault, where);
    };
    using enum PayloadFault;
    BOOST_CHECK(refuses(
        f32.view(), [](CellStore& s) { s.k = nullptr; }, bad_shape, "k"));
    BOOST_CHECK(refuses(
        f32.view(), [](CellStore& s) { s.v = nullptr; }, bad_shape, "v"));
    BOOST_CHECK(refuses(
        f32.view(), [](CellStore& s) { s.v = static_cast<char*>(s.v) + 2; }, misaligned, "v"));
    BOOST_CHECK(refuses(
        f32.view(), [](CellStore& s) { s.k_scale = 2; }, out_of_range, "k_scale"));
    for (const float scale : {0.0F, -1.0F, std::nanf(""), std::numeric_limits<float>::infinity()}) {
        BOOST_CHECK(refuses(
            e4m3.view(), [=](CellStore& s) { s.v_scale = scale; }, out_of_range, "v_scale"));
    }
    CellStore scaled = e4m3.view();
    scaled.k_scale = 0.25F;
    BOOST_CHECK(find_wrong(scaled));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

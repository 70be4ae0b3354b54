// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/streaming_copy.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::bytes_in;
using testing::is_refused;
using testing::layouts;
using testing::Lcg;
using testing::Rows;
using testing::small_shape;
using testing::with;
using enum PayloadFault;

// Positions 3..16 of a sequence whose blocks lie out of order; logical block 1 is a hole of another one.
constexpr std::array<std::int32_t, 5> table = {4, 2, 5, 1, 3};
constexpr CellRange range{table, 3, 14};
constexpr std::size_t count = 14;

Slot slot_of(Length position) { return Slot{table[static_cast<std::size_t>(position / 4)]} * 4 + position % 4; }

// The dtypes that rows may have beside a store of `dtype`.
std::vector<DType> row_dtypes(DType dtype) {
    std::vector<DType> list = {DType::f32, DType::f16, DType::bf16};
    if (bytes_of(dtype) == 1) {
        list.push_back(dtype);
    }
    return list;
}

// Scales for fp8; of others they are 1.
void set_scales(CellStore& store) {
    if (bytes_of(store.shape.dtype) == 1) {
        store.k_scale = 0.5F;
        store.v_scale = 0.0625F;
    }
}

// What an element of a row is stored as, computed element by element.
void check_stored(const CellStore& store, const Rows& rows, std::size_t i, Slot slot) {
    const DType dtype = store.shape.dtype;
    for (const bool in_v : {false, true}) {
        for (std::uint32_t head = 0; head < store.shape.kv_heads; ++head) {
            for (std::uint32_t d = 0; d < store.shape.head_dim; ++d) {
                const float scale = rows.dtype == dtype ? 1 : in_v ? store.v_scale : store.k_scale;
                float expected = 0;
                write_element(&expected, dtype, 0, rows.value(in_v, i, head * store.shape.head_dim + d) / scale);
                BOOST_REQUIRE(
                    std::memcmp(testing::element_at(store, in_v, slot, head, d), &expected, bytes_of(dtype)) == 0);
            }
        }
    }
}

void check_taken(const CellStore& store, const Rows& rows, std::size_t i, Slot slot) {
    for (const bool in_v : {false, true}) {
        for (std::uint32_t head = 0; head < store.shape.kv_heads; ++head) {
            for (std::uint32_t d = 0; d < store.shape.head_dim; ++d) {
                const float scale = rows.dtype == store.shape.dtype ? 1 : in_v ? store.v_scale : store.k_scale;
                const float stored =
                    read_element(testing::element_at(store, in_v, slot, head, d), store.shape.dtype, 0);
                float expected = 0;
                write_element(&expected, rows.dtype, 0, stored * scale);
                BOOST_REQUIRE(rows.value(in_v, i, head * store.shape.head_dim + d) ==
                              read_element(&expected, rows.dtype, 0));
            }
        }
    }
}

// Calls visit(store, dtype of rows) for every layout and every pair of dtypes that has a way.
template <class Visit>
void for_each_way(Visit visit) {
    for (const testing::Layout& layout : layouts) {
        for (const DType dtype : testing::dtypes) {
            for (const DType rows : row_dtypes(dtype)) {
                const HostCellStore memory(with(small_shape, dtype), layout.order, layout.interleaved);
                CellStore store = memory.view();
                set_scales(store);
                BOOST_TEST_CONTEXT(testing::name_of(layout, dtype) << ", rows of " << to_string(rows)) {
                    visit(store, rows);
                }
            }
        }
    }
}

// The bytes of elements that no slot of `slots` holds are as they were.
void check_rest(const CellStore& store, const std::vector<std::byte>& before, std::span<const Slot> slots) {
    const std::vector<std::byte> after = bytes_in(store);
    std::vector<std::byte> expected = before;
    const std::size_t head_bytes = store.shape.head_dim * bytes_of(store.shape.dtype);
    for (const Slot slot : slots) {
        for (const bool in_v : {false, true}) {
            for (std::uint32_t head = 0; slot != no_slot && head < store.shape.kv_heads; ++head) {
                const auto at = static_cast<std::size_t>(testing::element_at(store, in_v, slot, head, 0) -
                                                         static_cast<std::byte*>(store.k));
                std::memcpy(&expected[at], &after[at], head_bytes);
            }
        }
    }
    BOOST_TEST((after == expected));
}

// Dense rows of K and behind them V, `shift` floats behind the begin of a cache line, and one float more.
class LineRows {
public:
    LineRows(std::size_t floats, std::size_t shift) : memory_(2 * floats + 1 + 2 * line, -77), floats_(floats) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
        first_ = (line - address % line) % line + shift;
    }

    CellRowsOut from(std::size_t offset) {
        return {&memory_[first_ + offset], &memory_[first_ + floats_ + offset], DType::f32};
    }
    std::span<const float> all() const { return std::span(memory_).subspan(first_, 2 * floats_ + 1); }

private:
    static constexpr std::size_t line = 64 / sizeof(float);
    std::vector<float> memory_;
    std::size_t floats_;
    std::size_t first_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cell_ops)

BOOST_AUTO_TEST_CASE(a_row_is_written_to_its_slot_and_nowhere_else) {
    Lcg lcg(testing::seed());
    for_each_way([&](const CellStore& store, DType dtype) {
        constexpr std::array<Slot, 6> slots = {23, 4, no_slot, 11, 8, 17};
        testing::fill(store, lcg);
        const auto before = bytes_in(store);
        Rows rows(store.shape, slots.size(), dtype);
        rows.fill(lcg);
        BOOST_REQUIRE(write_slots(store, slots, rows.in()));
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i] != no_slot) {
                check_stored(store, rows, i, slots[i]);
            }
        }
        check_rest(store, before, slots);
    });
}

BOOST_AUTO_TEST_CASE(positions_are_scattered_and_gathered_through_their_table) {
    Lcg lcg(testing::seed());
    for_each_way([&](const CellStore& store, DType dtype) {
        const auto before = bytes_in(store);
        Rows rows(store.shape, count, dtype);
        rows.fill(lcg);
        BOOST_REQUIRE(scatter_cells(store, range, rows.in()));
        Rows taken(store.shape, count, dtype);
        BOOST_REQUIRE(gather_cells(store, range, taken.out()));
        std::array<Slot, count> slots{};
        for (std::size_t i = 0; i < count; ++i) {
            slots[i] = slot_of(range.first + static_cast<Length>(i));
            check_stored(store, rows, i, slots[i]);
            check_taken(store, taken, i, slots[i]);
        }
        check_rest(store, before, slots);
        if (dtype == store.shape.dtype || store.shape.dtype == DType::f32) {
            BOOST_TEST((taken == rows));
        }
        CellMismatch mismatch;
        BOOST_REQUIRE(compare_cells(store, range, taken.in(), std::nullopt, &mismatch));
        BOOST_TEST(mismatch.position == CellMismatch::none);
    });
}

// Heads of whole cache lines and others, rows that begin with a line and others.
BOOST_AUTO_TEST_CASE(a_gather_past_the_caches_brings_what_small_ones_bring) {
    Lcg lcg(testing::seed());
    for (const std::uint32_t head_dim : {64U, 40U}) {
        const CellShape shape{.blocks = 32, .block_size = 16, .kv_heads = 2, .head_dim = head_dim};
        const std::size_t row = std::size_t{shape.kv_heads} * head_dim;
        const std::size_t cells = streaming_bytes / (2 * row * sizeof(float)) + 3;
        std::vector<std::int32_t> ids(cells / shape.block_size + 2);
        std::ranges::generate(ids, [&] { return static_cast<std::int32_t>(1 + lcg.below(32)); });
        for (const testing::Layout& layout : layouts) {
            const HostCellStore store(shape, layout.order, layout.interleaved);
            testing::fill(store.view(), lcg);
            LineRows expected(cells * row, 0);
            constexpr Length first = 5;
            constexpr std::size_t few = 1000;
            for (std::size_t i = 0; i < cells; i += few) {
                const auto count_of_few = static_cast<Length>(std::min(few, cells - i));
                BOOST_REQUIRE(gather_cells(store.view(), {ids, first + static_cast<Length>(i), count_of_few},
                                           expected.from(i * row)));
            }
            for (const std::size_t shift : {0U, 1U}) {
                BOOST_TEST_CONTEXT(testing::name_of(layout, DType::f32) << " " << head_dim << ", rows + " << shift) {
                    LineRows rows(cells * row, shift);
                    BOOST_REQUIRE(gather_cells(store.view(), {ids, first, static_cast<Length>(cells)}, rows.from(0)));
                    // Bit for bit: there are NaN among random bytes.
                    BOOST_TEST(std::ranges::equal(std::as_bytes(rows.all()), std::as_bytes(expected.all())));
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(strides_with_gaps_work_as_dense_ones_do) {
    Lcg lcg(testing::seed());
    std::vector<float> memory(2 * 6 * 4 * 3 * 16 * 2, -77);
    const CellStore store{.shape = small_shape,
                          .strides = {.block = 2 * 4 * 3 * 32, .cell = 2 * 3 * 16, .head = 2 * 16},
                          .k = memory.data(),
                          .v = memory.data() + 16};
    BOOST_REQUIRE(find_wrong(store));
    Rows rows(store.shape, count, DType::f32);
    rows.fill(lcg);
    Rows taken(store.shape, count, DType::f32);
    BOOST_REQUIRE(scatter_cells(store, range, rows.in()));
    BOOST_REQUIRE(gather_cells(store, range, taken.out()));
    BOOST_TEST((taken == rows));
    BOOST_TEST(std::ranges::count(memory, -77.0F) == static_cast<std::ptrdiff_t>(memory.size() - 2 * count * 24));
}

BOOST_AUTO_TEST_CASE(nothing_to_do_is_done_without_memory) {
    const HostCellStore store(small_shape, CellOrder::nhd, false);
    BOOST_CHECK(write_slots(store.view(), {}, {}));
    BOOST_CHECK(gather_cells(store.view(), {{}, 7, 0}, {}));
    BOOST_CHECK(scatter_cells(store.view(), {{}, 0, 0}, {}));
}

BOOST_AUTO_TEST_CASE(bad_slots_and_rows_are_named_and_write_nothing) {
    Lcg lcg(testing::seed());
    const HostCellStore memory(small_shape, CellOrder::nhd, false);
    const CellStore& store = memory.view();
    testing::fill(store, lcg);
    const auto before = bytes_in(store);
    const Rows rows(small_shape, 2, DType::f32);
    const auto write = [&](Slot second, const CellRows& source) {
        const std::array<Slot, 2> slots = {5, second};
        return write_slots(store, slots, source);
    };
    for (const Slot slot : {Slot{-2}, Slot{0}, Slot{3}, Slot{24}, std::numeric_limits<Slot>::max()}) {
        BOOST_CHECK(is_refused(write(slot, rows.in()), out_of_range, "slots"));
    }
    BOOST_CHECK(is_refused(write(6, {rows.k.data(), nullptr, DType::f32}), bad_shape, "rows"));
    const auto* odd = reinterpret_cast<const std::byte*>(rows.k.data()) + 1;
    BOOST_CHECK(is_refused(write(6, {odd, rows.v.data(), DType::f16}), misaligned, "rows"));
    BOOST_CHECK(is_refused(write(6, {store.v, rows.v.data(), DType::f32}), overlapping, "rows"));
    BOOST_CHECK(is_refused(write(6, {rows.k.data(), rows.v.data(), DType::e4m3}), unsupported_dtype, "rows"));
    BOOST_CHECK(is_refused(write(6, {rows.k.data(), rows.v.data(), static_cast<DType>(9)}), unsupported_dtype, "rows"));
    const auto inside = testing::at_address<const Slot>(store.v, 2);
    BOOST_CHECK(is_refused(write_slots(store, inside, rows.in()), overlapping, "slots"));
    BOOST_CHECK(is_refused(write_slots(store, testing::shifted(inside), rows.in()), misaligned, "slots"));
    CellStore broken = store;
    broken.strides.head = 1;
    BOOST_CHECK(is_refused(write_slots(broken, {}, rows.in()), bad_shape, "strides"));
    BOOST_TEST((bytes_in(store) == before));
}

BOOST_AUTO_TEST_CASE(bad_ranges_are_named_and_move_nothing) {
    Lcg lcg(testing::seed());
    const HostCellStore memory(small_shape, CellOrder::hnd, true);
    const CellStore& store = memory.view();
    testing::fill(store, lcg);
    const auto before = bytes_in(store);
    Rows rows(small_shape, 24, DType::f32);
    const Rows untouched = rows;
    const auto refuses = [&](const CellRange& bad, PayloadFault fault, const char* where) {
        CellMismatch mismatch{.position = 99};
        return is_refused(gather_cells(store, bad, rows.out()), fault, where) &&
               is_refused(scatter_cells(store, bad, rows.in()), fault, where) &&
               is_refused(compare_cells(store, bad, rows.in(), std::nullopt, &mismatch), fault, where) &&
               mismatch.position == 99;
    };
    constexpr Length most = std::numeric_limits<Length>::max();
    BOOST_CHECK(refuses({table, -1, 3}, out_of_range, "range"));
    BOOST_CHECK(refuses({table, 1, -3}, out_of_range, "range"));
    BOOST_CHECK(refuses({table, most, 3}, out_of_range, "range"));
    BOOST_CHECK(refuses({table, most - 5, 3}, buffer_too_small, "table"));
    BOOST_CHECK(refuses({table, 0, 21}, buffer_too_small, "table"));
    constexpr std::array<std::int32_t, 3> holed = {1, 0, 2};
    constexpr std::array<std::int32_t, 2> beyond = {1, 6};
    constexpr std::array<std::int32_t, 2> negative = {1, -1};
    BOOST_CHECK(refuses({holed, 2, 4}, hole, "table"));
    BOOST_CHECK(refuses({beyond, 2, 4}, out_of_range, "table"));
    BOOST_CHECK(refuses({negative, 2, 4}, out_of_range, "table"));
    BOOST_CHECK(gather_cells(store, {holed, 8, 4}, Rows(small_shape, 4, DType::f32).out()));

    BOOST_CHECK(
        is_refused(gather_cells(store, range, {rows.k.data(), rows.k.data() + 24, DType::f32}), overlapping, "rows"));
    BOOST_CHECK(is_refused(gather_cells(store, range, {rows.k.data(), store.k, DType::f32}), overlapping, "rows"));
    BOOST_CHECK(
        is_refused(gather_cells(store, range, {rows.k.data(), rows.v.data(), DType::e5m2}), unsupported_dtype, "rows"));
    const std::span<const std::int32_t> odd = testing::shifted(std::span(table));
    BOOST_CHECK(refuses({odd, 3, 14}, misaligned, "table"));
    BOOST_TEST((bytes_in(store) == before));
    BOOST_TEST((rows == untouched));
}

BOOST_AUTO_TEST_CASE(tables_and_answers_in_the_way_of_what_is_written_are_named) {
    const HostCellStore memory(small_shape, CellOrder::nhd, false);
    const CellStore& store = memory.view();
    Rows rows(small_shape, count, DType::f32);
    // A table that holds the right ids, first among the rows, then in the store.
    std::memcpy(rows.v.data(), table.data(), sizeof table);
    const CellRange among_rows{testing::at_address<const std::int32_t>(rows.v.data(), table.size()), 3, 14};
    BOOST_CHECK(is_refused(gather_cells(store, among_rows, rows.out()), overlapping, "rows"));
    BOOST_CHECK(scatter_cells(store, among_rows, rows.in()));
    std::memcpy(store.k, table.data(), sizeof table);
    const CellRange in_store{testing::at_address<const std::int32_t>(store.k, table.size()), 3, 14};
    BOOST_CHECK(is_refused(scatter_cells(store, in_store, rows.in()), overlapping, "table"));
    BOOST_CHECK(gather_cells(store, in_store, rows.out()));

    const auto compare = [&](const void* out) {
        return compare_cells(store, range, rows.in(), std::nullopt, testing::at_address<CellMismatch>(out, 1).data());
    };
    BOOST_CHECK(is_refused(compare(store.v), overlapping, "out"));
    BOOST_CHECK(is_refused(compare(rows.k.data()), overlapping, "out"));
    CellMismatch mismatch;
    BOOST_CHECK(is_refused(compare(testing::shifted(std::span(&mismatch, 1)).data()), misaligned, "out"));
    BOOST_CHECK(compare(&mismatch));
}

BOOST_AUTO_TEST_CASE(the_first_mismatch_is_named_with_what_was_found) {
    Lcg lcg(testing::seed());
    for_each_way([&](const CellStore& store, DType dtype) {
        Rows rows(store.shape, count, dtype);
        rows.fill(lcg);
        BOOST_REQUIRE(scatter_cells(store, range, rows.in()));
        BOOST_REQUIRE(gather_cells(store, range, rows.out()));
        // Each comes before the one before it: K before V, a lower head before a higher one, an earlier position first.
        const std::size_t last = 13 * rows.row;
        const std::size_t middle = 6 * rows.row;
        for (const auto& [element, in_v] : {std::pair{last + 2, true},
                                            {last + 2, false},
                                            {middle + 21, true},
                                            {middle + 11, true},
                                            {middle + 21, false},
                                            {middle + 9, false}}) {
            const float before = rows.value(in_v, 0, element);
            write_element((in_v ? rows.v : rows.k).data(), dtype, element, before < 4 ? before + 16 : before - 16);
            const float scale = dtype != store.shape.dtype ? 1 : in_v ? store.v_scale : store.k_scale;
            CellMismatch mismatch;
            BOOST_REQUIRE(compare_cells(store, range, rows.in(), 0.5F, &mismatch));
            const CellMismatch expected{.position = range.first + static_cast<Length>(element / rows.row),
                                        .in_v = in_v,
                                        .head = static_cast<std::uint32_t>(element % rows.row / 8),
                                        .element = static_cast<std::uint32_t>(element % 8),
                                        .found = before * scale,
                                        .expected = rows.value(in_v, 0, element) * scale};
            BOOST_CHECK((mismatch == expected));
        }
    });
}

BOOST_AUTO_TEST_CASE(a_tolerance_forgives_small_differences_and_any_nan) {
    const HostCellStore memory(small_shape, CellOrder::nhd, false);
    Rows rows(small_shape, count, DType::f32);
    const auto first_mismatch = [&](std::optional<float> tolerance) {
        CellMismatch mismatch;
        BOOST_REQUIRE(compare_cells(memory.view(), range, rows.in(), tolerance, &mismatch));
        return mismatch.position;
    };
    rows.k[3 * 24] = -0.0F;
    BOOST_TEST(first_mismatch(std::nullopt) == 6);
    BOOST_TEST(first_mismatch(0.0F) == CellMismatch::none);
    rows.v[5 * 24] = 0.25F;
    BOOST_TEST(first_mismatch(0.25F) == CellMismatch::none);
    BOOST_TEST(first_mismatch(0.24F) == 8);
    rows.v[5 * 24] = std::numeric_limits<float>::quiet_NaN();
    BOOST_TEST(first_mismatch(1e9F) == 8);
    *reinterpret_cast<float*>(testing::element_at(memory.view(), true, slot_of(8), 0, 0)) = -rows.v[5 * 24];
    BOOST_TEST(first_mismatch(0.0F) == CellMismatch::none);
    BOOST_TEST(first_mismatch(std::nullopt) == 6);

    CellMismatch mismatch;
    BOOST_CHECK(
        is_refused(compare_cells(memory.view(), range, rows.in(), -1.0F, &mismatch), out_of_range, "tolerance"));
    BOOST_CHECK(is_refused(compare_cells(memory.view(), range, rows.in(), 1.0F, nullptr), bad_shape, "out"));
    BOOST_CHECK(
        is_refused(compare_cells(memory.view(), range, {rows.k.data(), rows.v.data(), DType::e4m3}, 1.0F, &mismatch),
                   unsupported_dtype, "expected"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

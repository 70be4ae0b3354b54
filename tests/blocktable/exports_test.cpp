// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>
#include <vector>

#include <kvpane/blocktable/exports.h>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

using Int32s = std::vector<std::int32_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(padded_tables_and_slots)

BOOST_AUTO_TEST_CASE(padded_tables_stand_row_by_row_with_zeros_for_holes_and_behind_the_end) {
    Manager kv(windowed(4, 16, 4));
    const SequenceHandle a = admit(kv, 14);  // 0 0 3 4
    const SequenceHandle b = admit(kv, 3);   // 5
    Int32s out(10, -9);
    must(export_padded(kv, std::vector{a, b}, first_group, 5, out));
    BOOST_TEST(out == Int32s({0, 0, 3, 4, 0, 5, 0, 0, 0, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(a_width_or_an_output_that_is_too_small_is_refused_and_nothing_is_written) {
    Manager kv(plain(4, 16));
    const std::vector<SequenceHandle> both{admit(kv, 4), admit(kv, 9)};
    Int32s out(6, -9);
    expect_refusal(kv, Error::invalid_argument, [&] { return export_padded(kv, both, first_group, 2, out); });
    expect_refusal(kv, Error::invalid_argument,
                   [&] { return export_padded(kv, both, first_group, 3, std::span(out).first(5)); });
    const std::vector<SequenceHandle> stale{both[0], SequenceHandle{}};
    expect_refusal(kv, Error::unknown_sequence, [&] { return export_padded(kv, stale, first_group, 3, out); });
    BOOST_TEST(out == Int32s(6, -9), per_element());
    must(export_padded(kv, both, first_group, 3, out));
}

BOOST_AUTO_TEST_CASE(a_width_whose_product_overflows_is_refused) {
    Manager kv(plain(4, 16));
    const std::vector<SequenceHandle> four{admit(kv, 1), admit(kv, 1), admit(kv, 1), admit(kv, 1)};
    Int32s out(4, -9);
    constexpr std::size_t quarter = std::size_t{1} << 62U;  // times four sequences: zero
    expect_refusal(kv, Error::invalid_argument, [&] { return export_padded(kv, four, first_group, quarter, out); });
    BOOST_TEST(out == Int32s(4, -9), per_element());
}

BOOST_AUTO_TEST_CASE(slots_follow_the_table_and_reserved_cells_count) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    admit(kv, 1);
    must(reserve(kv, a, 3));  // 1, 3
    std::array<Slot, 4> out{};
    must(export_slots(kv, a, first_group, 2, std::span<Slot>(out)));
    BOOST_TEST(out == (std::array<Slot, 4>{6, 7, 12, 13}), per_element());
    must(export_slots(kv, a, first_group, 6, std::span<Slot>()));
}

BOOST_AUTO_TEST_CASE(slots_of_positions_that_are_not_held_are_refused_and_nothing_is_written) {
    Manager kv(windowed(4, 16, 4, 2));
    const SequenceHandle a = admit(kv, 14);  // 1 0 3 4
    std::array<Slot, 3> out{-9, -9, -9};
    const auto refuses = [&](Length first, std::size_t count) {
        expect_refusal(kv, Error::invalid_argument,
                       [&] { return export_slots(kv, a, first_group, first, std::span<Slot>(out).first(count)); });
        BOOST_TEST(out == (std::array<Slot, 3>{-9, -9, -9}), per_element());
    };
    refuses(-1, 1);
    refuses(4, 1);   // a hole
    refuses(3, 2);   // from the sinks into the hole
    refuses(7, 2);   // from the hole into the run
    refuses(14, 1);  // beyond the end
    refuses(12, 3);
    must(export_slots(kv, a, first_group, 0, std::span<Slot>(out)));
    BOOST_TEST(out == (std::array<Slot, 3>{4, 5, 6}), per_element());
    must(export_slots(kv, a, first_group, 11, std::span<Slot>(out)));
    BOOST_TEST(out == (std::array<Slot, 3>{15, 16, 17}), per_element());
}

BOOST_AUTO_TEST_CASE(slots_in_32_bits_need_a_pool_that_was_made_for_them) {
    Config config = plain(4, 8);
    std::array<std::int32_t, 2> out{-9, -9};
    Manager wide(config);
    const SequenceHandle a = admit(wide, 5);
    expect_refusal(wide, Error::invalid_argument,
                   [&] { return export_slots(wide, a, first_group, 3, std::span<std::int32_t>(out)); });
    BOOST_TEST(out[0] == -9);

    config.int32_slots = true;
    Manager narrow(config);
    const SequenceHandle b = admit(narrow, 5);
    must(export_slots(narrow, b, first_group, 3, std::span<std::int32_t>(out)));
    BOOST_TEST(out == (std::array<std::int32_t, 2>{7, 8}), per_element());
    expect_refusal(narrow, Error::invalid_argument,
                   [&] { return export_slots(narrow, b, first_group, 4, std::span<std::int32_t>(out)); });
}

BOOST_AUTO_TEST_CASE(slots_beyond_32_bits_come_out_whole) {
    Config config = plain(largest_block_size, 4096);
    Manager kv(config);
    const SequenceHandle a = admit(kv, 1);
    Slot last = 0;
    for (int i = 0; i < 3000; ++i) {
        const SequenceHandle b = must(kv.admit({.tokens = some_tokens(1), .compute = 0})).sequence;
        last = must(reserve(kv, b, 1)).slots.front();
    }
    BOOST_TEST(last == Slot{3001} * largest_block_size);
    BOOST_TEST(last > Slot{1} << 31U);
    BOOST_TEST(kv.is_alive(a));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

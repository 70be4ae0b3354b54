// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <kvpane/blocktable/block_shape.h>
#include <kvpane/blocktable/config.h>

namespace kvpane::testing {

static_assert(BlockShape(1).blocks_for(5) == 5 && BlockShape(1).offset(5) == 0, "a block of one cell");

BOOST_AUTO_TEST_SUITE(block_shape)

BOOST_AUTO_TEST_CASE(powers_of_two_and_other_sizes_divide_alike) {
    for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 12U, 16U, 100U, 1024U, largest_block_size}) {
        const BlockShape shape(size);
        const Length b = size;
        BOOST_TEST(shape.size() == size);
        for (const Length position :
             {Length{0}, Length{1}, b - 1, b, b + 1, 3 * b - 1, 3 * b, 7 * b + b / 2, Length{longest_sequence}}) {
            BOOST_TEST(shape.index(position) == position / b);
            BOOST_TEST(shape.offset(position) == position % b);
            BOOST_TEST(shape.begin(shape.index(position)) + shape.offset(position) == position);
        }
    }
}

BOOST_AUTO_TEST_CASE(cells_touch_as_many_blocks_as_the_quotient_rounded_up) {
    for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 16U, 24U}) {
        const BlockShape shape(size);
        const Length b = size;
        BOOST_TEST(shape.blocks_for(0) == 0);
        BOOST_TEST(shape.blocks_for(1) == 1);
        for (Length whole = 1; whole <= 4; ++whole) {
            BOOST_TEST(shape.blocks_for(whole * b) == whole);
            BOOST_TEST(shape.blocks_for(whole * b + 1) == whole + 1);
        }
        BOOST_TEST(shape.blocks_for(longest_sequence) == (Length{longest_sequence} + b - 1) / b);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

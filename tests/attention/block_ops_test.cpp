// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/block_ops.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/allocator/scramble.h>

#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::bytes_in;
using testing::element_at;
using testing::is_refused;
using testing::layouts;
using testing::Lcg;
using testing::small_shape;
using testing::with;
using enum PayloadFault;

constexpr GroupId group{1};

// Calls visit(store) for a random store of every layout and dtype.
template <class Visit>
void for_each_store(Lcg& lcg, Visit visit) {
    for (const testing::Layout& layout : layouts) {
        for (const DType dtype : testing::dtypes) {
            const HostCellStore memory(with(small_shape, dtype), layout.order, layout.interleaved);
            testing::fill(memory.view(), lcg);
            BOOST_TEST_CONTEXT(testing::name_of(layout, dtype)) { visit(memory.view()); }
        }
    }
}

// Copies cells element by element, by the formula of the contract.
void copy_one_by_one(const CellStore& from, Slot source, const CellStore& to, Slot destination, std::uint32_t cells) {
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
        for (std::uint32_t i = 0; i < 2 * from.shape.kv_heads * from.shape.head_dim; ++i) {
            const bool in_v = i % 2 == 1;
            const std::uint32_t head = i / 2 / from.shape.head_dim;
            const std::uint32_t d = i / 2 % from.shape.head_dim;
            std::memcpy(element_at(to, in_v, destination + cell, head, d),
                        element_at(from, in_v, source + cell, head, d), bytes_of(from.shape.dtype));
        }
    }
}

// The same memory again, for what is expected.
class Twin {
public:
    explicit Twin(const CellStore& of) : bytes_(bytes_in(of)), view_(of) {
        view_.v = bytes_.data() + (static_cast<std::byte*>(of.v) - static_cast<std::byte*>(of.k));
        view_.k = bytes_.data();
    }
    const CellStore& view() const { return view_; }
    const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
    CellStore view_;
};

std::uint64_t fingerprint(const CellStore& store, BlockId block, std::uint32_t cells) {
    const FilledBlock filled{block, cells};
    std::uint64_t out = 0;
    BOOST_REQUIRE(fingerprint_blocks(store, {&filled, 1}, {&out, 1}));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(block_ops)

BOOST_AUTO_TEST_CASE(copies_run_in_order_and_touch_only_the_filled_cells_of_their_group) {
    Lcg lcg(testing::seed());
    for_each_store(lcg, [](const CellStore& store) {
        // The second reads what the first wrote; the third is another group's; the last is nobody's business.
        constexpr std::array copies = {
            BlockCopy{group, BlockId{1}, BlockId{2}, 3}, BlockCopy{group, BlockId{2}, BlockId{5}, 4},
            BlockCopy{GroupId{0}, BlockId{77}, BlockId{3}, 99}, BlockCopy{group, BlockId{4}, BlockId{3}, 0},
            BlockCopy{group, BlockId{4}, BlockId{4}, 4}};
        const Twin expected(store);
        copy_one_by_one(expected.view(), 4, expected.view(), 8, 3);
        copy_one_by_one(expected.view(), 8, expected.view(), 20, 4);
        BOOST_REQUIRE(copy_blocks(store, group, copies));
        BOOST_TEST((bytes_in(store) == expected.bytes()));
    });
}

BOOST_AUTO_TEST_CASE(copies_run_at_once_up_to_the_first_that_builds_on_another) {
    const auto of = [](std::uint32_t from, std::uint32_t to, GroupId whose = group) {
        return BlockCopy{whose, BlockId{from}, BlockId{to}, 1};
    };
    const auto at_once = [](const std::vector<BlockCopy>& copies) { return copies_at_once(group, copies); };
    BOOST_TEST(at_once({}) == 0U);
    BOOST_TEST(at_once({of(1, 2), of(1, 3), of(4, 5)}) == 3U);
    BOOST_TEST(at_once({of(1, 2), of(3, 4), of(2, 5)}) == 2U);  // reads what was written
    BOOST_TEST(at_once({of(1, 2), of(3, 1)}) == 1U);            // writes what was read
    BOOST_TEST(at_once({of(1, 2), of(3, 2)}) == 1U);            // writes it again
    BOOST_TEST(at_once({of(1, 2, GroupId{0}), of(2, 3), of(3, 2, GroupId{0})}) == 3U);
}

BOOST_AUTO_TEST_CASE(a_copy_that_does_not_fit_is_refused_before_the_first_one_runs) {
    Lcg lcg(testing::seed());
    for_each_store(lcg, [](const CellStore& store) {
        const auto before = bytes_in(store);
        for (const BlockCopy& bad :
             {BlockCopy{group, BlockId{1}, BlockId{2}, 5}, BlockCopy{group, BlockId{0}, BlockId{2}, 1},
              BlockCopy{group, BlockId{1}, BlockId{0}, 1}, BlockCopy{group, BlockId{6}, BlockId{2}, 1},
              BlockCopy{group, BlockId{1}, BlockId{0xffffffff}, 1}}) {
            const std::array copies = {BlockCopy{group, BlockId{1}, BlockId{2}, 4}, bad};
            BOOST_CHECK(is_refused(copy_blocks(store, group, copies), out_of_range, "copies"));
        }
        const auto inside = testing::at_address<const BlockCopy>(store.k, 1);
        BOOST_CHECK(is_refused(copy_blocks(store, group, inside), overlapping, "copies"));
        BOOST_CHECK(is_refused(copy_blocks(store, group, testing::shifted(inside)), misaligned, "copies"));
        CellStore broken = store;
        broken.shape.head_dim = 7;
        BOOST_CHECK(is_refused(copy_blocks(broken, group, {}), head_dim_out_of_range, "head_dim"));
        BOOST_TEST((bytes_in(store) == before));
    });
}

BOOST_AUTO_TEST_CASE(blocks_go_out_to_a_store_of_another_layout_and_come_back) {
    Lcg lcg(testing::seed());
    for_each_store(lcg, [&](const CellStore& store) {
        for (const testing::Layout& layout : layouts) {
            CellShape shape = store.shape;
            shape.blocks = 2;
            const HostCellStore second(shape, layout.order, layout.interleaved);
            testing::fill(second.view(), lcg);
            const Twin expected(second.view());
            copy_one_by_one(store, 5 * 4, expected.view(), 1 * 4, 4);
            copy_one_by_one(store, 2 * 4, expected.view(), 2 * 4, 4);
            constexpr std::array out = {BlockPair{BlockId{5}, BlockId{1}}, BlockPair{BlockId{2}, BlockId{2}}};
            BOOST_REQUIRE(swap_blocks(store, second.view(), out));
            BOOST_TEST((bytes_in(second.view()) == expected.bytes()));

            const Twin back(store);
            copy_one_by_one(second.view(), 1 * 4, back.view(), 4 * 4, 4);
            constexpr std::array in = {BlockPair{BlockId{1}, BlockId{4}}};
            BOOST_REQUIRE(swap_blocks(second.view(), store, in));
            BOOST_TEST((bytes_in(store) == back.bytes()));
        }
    });
}

BOOST_AUTO_TEST_CASE(stores_that_do_not_match_swap_nothing) {
    Lcg lcg(testing::seed());
    const HostCellStore from(with(small_shape, DType::e4m3), CellOrder::nhd, false);
    testing::fill(from.view(), lcg);
    constexpr std::array one = {BlockPair{BlockId{1}, BlockId{1}}};
    const auto refuses = [&](CellShape shape, float k_scale, std::span<const BlockPair> pairs, PayloadFault fault,
                             const char* where) {
        HostCellStore to(shape, CellOrder::hnd, false);
        to.set_scales(k_scale, 1);
        const auto before = bytes_in(to.view());
        return is_refused(swap_blocks(from.view(), to.view(), pairs), fault, where) && bytes_in(to.view()) == before;
    };
    CellShape wide = from.view().shape;
    wide.head_dim = 16;
    BOOST_CHECK(refuses(wide, 1, one, bad_shape, "to"));
    BOOST_CHECK(refuses(with(small_shape, DType::e5m2), 1, one, bad_shape, "to"));
    BOOST_CHECK(refuses(from.view().shape, 2, one, out_of_range, "k_scale"));
    for (const BlockPair& bad : {BlockPair{BlockId{0}, BlockId{1}}, BlockPair{BlockId{1}, BlockId{0}},
                                 BlockPair{BlockId{6}, BlockId{1}}, BlockPair{BlockId{1}, BlockId{6}}}) {
        const std::array pairs = {one[0], bad};
        BOOST_CHECK(refuses(from.view().shape, 1, pairs, out_of_range, "pairs"));
    }
    BOOST_CHECK(is_refused(swap_blocks(from.view(), from.view(), one), overlapping, "to"));
    const HostCellStore to(from.view().shape, CellOrder::hnd, false);
    const auto inside = testing::at_address<const BlockPair>(to.view().v, 1);
    BOOST_CHECK(is_refused(swap_blocks(from.view(), to.view(), inside), overlapping, "pairs"));
    BOOST_CHECK(is_refused(swap_blocks(from.view(), to.view(), testing::shifted(std::span(one))), misaligned, "pairs"));
}

BOOST_AUTO_TEST_CASE(a_fingerprint_depends_on_the_filled_cells_and_not_on_the_layout) {
    Lcg lcg(testing::seed());
    for (const DType dtype : testing::dtypes) {
        const HostCellStore first(with(small_shape, dtype), CellOrder::nhd, false);
        testing::fill(first.view(), lcg);
        for (const testing::Layout& layout : layouts) {
            const HostCellStore other(with(small_shape, dtype), layout.order, layout.interleaved);
            testing::fill(other.view(), lcg);
            copy_one_by_one(first.view(), 3 * 4, other.view(), 2 * 4, 3);
            BOOST_TEST(fingerprint(first.view(), BlockId{3}, 3) == fingerprint(other.view(), BlockId{2}, 3));
            BOOST_TEST(fingerprint(first.view(), BlockId{3}, 4) != fingerprint(other.view(), BlockId{2}, 4));
        }
    }
}

BOOST_AUTO_TEST_CASE(every_bit_and_every_place_counts_in_a_fingerprint) {
    const HostCellStore memory(small_shape, CellOrder::nhd, true);
    const CellStore& store = memory.view();
    std::multiset<std::uint64_t> seen;
    for (std::uint32_t cells = 0; cells <= 4; ++cells) {
        seen.insert(fingerprint(store, BlockId{1}, cells));
    }
    for (std::uint32_t i = 0; i < 2 * 4 * 3 * 8; ++i) {
        std::byte* element = element_at(store, i % 2 == 1, 4 + i / 48, i / 16 % 3, i / 2 % 8);
        for (const unsigned bit : {0U, 13U, 31U}) {
            const std::uint32_t value = 1U << bit;
            std::memcpy(element, &value, sizeof value);
            seen.insert(fingerprint(store, BlockId{1}, 4));
        }
        std::memset(element, 0, sizeof(std::uint32_t));
    }
    BOOST_TEST((std::ranges::adjacent_find(seen) == seen.end()));
    BOOST_TEST(seen.size() == 5U + 3 * 2 * 4 * 3 * 8);
}

BOOST_AUTO_TEST_CASE(a_fingerprint_is_the_sum_that_its_contract_writes_down) {
    Lcg lcg(testing::seed());
    for_each_store(lcg, [](const CellStore& store) {
        const std::uint32_t per_word = 8 / bytes_of(store.shape.dtype);
        const std::uint64_t w = store.shape.head_dim / per_word;
        std::uint64_t sum = 0;
        for (std::uint32_t c = 0; c < 3; ++c) {
            for (std::uint32_t h = 0; h < store.shape.kv_heads; ++h) {
                for (const std::uint32_t part : {0U, 1U}) {
                    for (std::uint32_t j = 0; j < w; ++j) {
                        std::uint64_t word = 0;
                        std::memcpy(&word, element_at(store, part == 1, 4 * 4 + c, h, j * per_word), 8);
                        sum += scramble(word ^ scramble(((c * store.shape.kv_heads + h) * 2 + part) * w + j));
                    }
                }
            }
        }
        BOOST_TEST(fingerprint(store, BlockId{4}, 3) == sum);
    });
}

BOOST_AUTO_TEST_CASE(fingerprints_of_what_is_not_there_are_refused) {
    const HostCellStore memory(small_shape, CellOrder::nhd, false);
    const CellStore& store = memory.view();
    std::array<std::uint64_t, 2> out = {7, 8};
    for (const FilledBlock& bad :
         {FilledBlock{BlockId{0}, 1}, FilledBlock{BlockId{6}, 1}, FilledBlock{BlockId{1}, 5}}) {
        const std::array blocks = {FilledBlock{BlockId{1}, 1}, bad};
        BOOST_CHECK(is_refused(fingerprint_blocks(store, blocks, out), out_of_range, "blocks"));
    }
    alignas(std::uint64_t) const std::array blocks = {FilledBlock{BlockId{1}, 1}, FilledBlock{BlockId{1}, 2}};
    BOOST_CHECK(is_refused(fingerprint_blocks(store, blocks, std::span(out).first(1)), buffer_too_small, "out"));
    const std::span inside(static_cast<std::uint64_t*>(store.k), 2);
    BOOST_CHECK(is_refused(fingerprint_blocks(store, blocks, inside), overlapping, "out"));
    BOOST_CHECK(is_refused(fingerprint_blocks(store, blocks, testing::at_address<std::uint64_t>(blocks.data(), 2)),
                           overlapping, "out"));
    BOOST_CHECK(is_refused(fingerprint_blocks(store, blocks, testing::shifted(std::span(out))), misaligned, "out"));
    BOOST_CHECK(is_refused(fingerprint_blocks(store, testing::shifted(std::span(blocks)), out), misaligned, "blocks"));
    BOOST_CHECK((out == std::array<std::uint64_t, 2>{7, 8}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
// Arrays that hold what the host's functions would refuse: kernels touch nothing beyond them and beyond the store
// (AddressSanitizer watches), say NaN where a block is missing, and device_find_wrong_entry() finds the place.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/attention_launch.cuh>
#include <kvpane/attention/cuda/ops_launch.cuh>

#include "attention/attention_case.h"
#include "attention/stores.h"
#include "cuda/bounds_of.h"
#include "cuda/emulated_attention.h"
#include "cuda/emulated_launch.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;
using testing::bounds_of;
using testing::by_emulator;
using testing::EmulatedLaunch;

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();

AttentionSizes decode() { return {.block_size = 4, .kv_heads = 1, .group = 2, .head_dim = 8, .lengths = {9, 3, 20}}; }
AttentionSizes prefill() {
    AttentionSizes sizes = decode();
    sizes.window = 6;
    sizes.sinks = 2;
    sizes.queries = {2, 3, 5};
    return sizes;
}

WrongEntry wrong_entry(const AttentionProblem& problem) {
    EmulatedLaunch launch(testing::seed());
    std::uint64_t scratch = 1;
    WrongEntry out{.kind = WrongEntry::Kind::sequence, .index = 77};
    BOOST_REQUIRE(cuda::run_find_wrong_entry(launch, problem, &scratch, &out));
    return out;
}

PayloadFault fault_by_host(const AttentionCase& made) {
    std::vector<float> out(made.states() * made.problem().cells.shape.head_dim);
    const auto found = find_wrong(made.problem(), {.out = {out.data(), DType::f32}, .lse = {}});
    BOOST_REQUIRE(!found);
    return found.error().fault;
}

// Whether all that one query head of a row got is NaN; it is all or nothing.
bool is_nan(const Answer& answer, std::size_t state) {
    const std::size_t head_dim = answer.out.size() / answer.lse.size();
    const auto first = answer.out.begin() + static_cast<std::ptrdiff_t>(state * head_dim);
    const auto count = std::count_if(first, first + static_cast<std::ptrdiff_t>(head_dim),
                                     [](float value) { return std::isnan(value); });
    const bool all = count == static_cast<std::ptrdiff_t>(head_dim);
    BOOST_TEST((all || count == 0));
    BOOST_TEST(std::isnan(answer.lse[state]) == all);
    return all;
}

// Overwrites what memory holds with random bits, half of the time small numbers.
template <class T>
void spoil(std::vector<T>& array, std::mt19937_64& random) {
    for (T& value : array) {
        value = static_cast<T>(random() % 2 == 0 ? random() % 32 : random());
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(arrays_that_hold_what_they_should_not)

BOOST_AUTO_TEST_CASE(give_nan_to_the_queries_that_see_a_block_that_is_none_and_to_no_other) {
    for (const std::int32_t bad : {0, -1, smallest, largest, 1000}) {
        AttentionCase made(decode(), testing::seed());
        const Answer before = by_emulator(made.problem(), 1);
        made.tables[2 * made.width + 3] = bad;
        const Answer after = by_emulator(made.problem(), 1);
        for (std::size_t state = 0; state < made.states(); ++state) {
            BOOST_TEST(is_nan(after, state) == (state / 2 == 2));
            BOOST_TEST((state / 2 == 2 || after.lse[state] == before.lse[state]));
        }
    }
    // In a prefill of positions 15..19 with a window of 6, block 2 (cells 8..11) is seen by the first two; block 1 is
    // seen by none, and sinks are in block 0.
    for (const std::int32_t bad : {0, -1, 1000}) {
        AttentionCase made(prefill(), testing::seed());
        made.tables[2 * made.width + 1] = bad;
        BOOST_TEST((wrong_entry(made.problem()) == WrongEntry{}));
        const Answer before = by_emulator(made.problem(), 1);
        BOOST_TEST(std::ranges::none_of(before.out, [](float value) { return std::isnan(value); }));
        made.tables[2 * made.width + 2] = bad;
        const Answer after = by_emulator(made.problem(), 1);
        for (std::size_t row = 0; row < 10; ++row) {
            BOOST_TEST_CONTEXT("row " << row) { BOOST_TEST(is_nan(after, 2 * row) == (row == 5 || row == 6)); }
        }
    }
}

BOOST_AUTO_TEST_CASE(give_nan_where_a_row_ends_before_its_sequence) {
    AttentionCase made(decode(), testing::seed());
    for (const Length length : {Length{21}, Length{1000}, std::numeric_limits<Length>::max()}) {
        made.lengths[2] = length;
        const Answer found = by_emulator(made.problem(), {.rows = 3, .most_rows = 1, .longest = 20}, 1);
        BOOST_TEST(is_nan(found, 4));
        BOOST_TEST(!is_nan(found, 0));
    }
}

// What the next sequence has in its first entry is no entry of this one.
BOOST_AUTO_TEST_CASE(give_nan_one_position_beyond_a_row_though_a_sound_row_follows) {
    for (AttentionSizes sizes : {decode(), prefill()}) {
        sizes.lengths = {20, 20};
        sizes.queries.assign(sizes.queries.empty() ? 0 : 2, 3);
        AttentionCase made(sizes, testing::seed());
        BOOST_REQUIRE(made.width == 5U);
        const DeviceBounds bounds = bounds_of(made.problem());
        made.lengths[0] = 21;
        const Answer found = by_emulator(made.problem(), bounds, 1);
        const std::size_t beyond = bounds.most_rows - 1;  // the row of its last query
        for (std::size_t row = 0; row < bounds.rows; ++row) {
            BOOST_TEST_CONTEXT("row " << row) { BOOST_TEST(is_nan(found, 2 * row) == (row == beyond)); }
        }
    }
}

BOOST_AUTO_TEST_CASE(are_found_with_their_place_and_the_fault_that_the_host_names) {
    for (const AttentionSizes& sizes : {decode(), prefill()}) {
        BOOST_TEST((wrong_entry(AttentionCase(sizes, testing::seed()).problem()) == WrongEntry{}));
        for (const std::int32_t bad : {0, -1, smallest, largest, 11}) {
            AttentionCase made(sizes, testing::seed());
            BOOST_REQUIRE(made.problem().cells.shape.blocks == 10);
            made.tables[2 * made.width + 4] = bad;
            made.tables[1 * made.width + 1] = bad;  // nothing of it is seen
            const WrongEntry expected{.kind = WrongEntry::Kind::table_entry,
                                      .fault = fault_by_host(made),
                                      .block = bad,
                                      .index = 2,
                                      .entry = 4};
            BOOST_TEST((wrong_entry(made.problem()) == expected));
        }
    }
}

BOOST_AUTO_TEST_CASE(are_found_by_sequence_where_a_length_or_its_queries_are_wrong) {
    const auto found = [](const auto& change) {
        AttentionCase made(prefill(), testing::seed());
        change(made);
        const WrongEntry wrong = wrong_entry(made.problem());
        const WrongEntry expected{
            .kind = WrongEntry::Kind::sequence, .fault = fault_by_host(made), .index = wrong.index};
        BOOST_TEST((wrong == expected));
        return wrong.index;
    };
    BOOST_TEST(found([](AttentionCase& a) { a.lengths[1] = -1; }) == 1);
    BOOST_TEST(found([](AttentionCase& a) { a.lengths[2] = std::numeric_limits<Length>::max(); }) == 2);
    BOOST_TEST(found([](AttentionCase& a) { a.lengths[2] = 21; }) == 2);  // its row ends
    BOOST_TEST(found([](AttentionCase& a) { a.lengths[0] = 1; }) == 0);   // for two queries
    BOOST_TEST(found([](AttentionCase& a) { a.query_indptr[2] = 1; }) == 1);
    BOOST_TEST(found([](AttentionCase& a) { a.query_indptr[0] = 1; }) == 0);
}

BOOST_AUTO_TEST_CASE(are_found_by_head_where_a_sink_logit_is_none) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    AttentionSizes sizes = prefill();
    sizes.group = 300;  // more heads than a thread block asks about
    sizes.sink_logits = true;
    for (const std::size_t head : {0U, 255U, 299U}) {
        AttentionCase made(sizes, testing::seed());
        for (const float good : {-infinite, std::numeric_limits<float>::max()}) {
            made.sink_logits[head] = good;
            BOOST_TEST((wrong_entry(made.problem()) == WrongEntry{}));
        }
        for (const float bad : {infinite, std::numeric_limits<float>::quiet_NaN()}) {
            made.sink_logits[head] = bad;
            made.sink_logits.back() = bad;  // a later one
            const WrongEntry expected{.kind = WrongEntry::Kind::sink_logit,
                                      .fault = fault_by_host(made),
                                      .index = static_cast<std::int64_t>(head)};
            BOOST_TEST((wrong_entry(made.problem()) == expected));
            made.tables[2 * made.width + 4] = 0;  // and what comes after the logits
            BOOST_TEST((wrong_entry(made.problem()) == expected));
        }
    }
    // Entries are where they were behind the logits.
    AttentionCase made(sizes, testing::seed());
    made.tables[2 * made.width + 4] = 11;
    const WrongEntry expected{.kind = WrongEntry::Kind::table_entry,
                              .fault = PayloadFault::out_of_range,
                              .block = 11,
                              .index = 2,
                              .entry = 4};
    BOOST_TEST((wrong_entry(made.problem()) == expected));
}

BOOST_AUTO_TEST_CASE(never_lead_attention_beyond_memory) {
    std::mt19937_64 random(testing::seed());
    for (int round = 0; round < 40; ++round) {
        const AttentionSizes sizes = round % 2 == 0 ? decode() : prefill();
        AttentionCase made(sizes, testing::seed());
        std::vector<Length> begin(3);
        std::vector<Length> end(3);
        std::vector<float> logits(2);
        AttentionProblem problem = made.problem();
        const DeviceBounds bounds = bounds_of(problem);
        spoil(made.tables, random);
        spoil(made.lengths, random);
        spoil(made.query_indptr, random);
        spoil(begin, random);
        spoil(end, random);
        for (float& logit : logits) {
            logit = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        }
        if (round % 4 < 2) {
            problem.begin = begin;
            problem.end = end;
            problem.rule.sink_logits = logits;
        }
        const Answer found = by_emulator(problem, bounds, testing::seed());
        BOOST_TEST(found.lse.size() == made.states());
        const WrongEntry wrong = wrong_entry(problem);
        BOOST_TEST((wrong == WrongEntry{} || (wrong.index >= 0 && wrong.index < 3)));
    }
}

BOOST_AUTO_TEST_CASE(never_lead_operations_on_cells_beyond_memory) {
    std::mt19937_64 random(testing::seed());
    const CellShape shape{.blocks = 3, .block_size = 4, .kv_heads = 1, .head_dim = 8, .dtype = DType::f16};
    const HostCellStore store(shape, CellOrder::hnd, false);
    const HostCellStore other(shape, CellOrder::nhd, false);
    EmulatedLaunch launch(testing::seed());
    for (int round = 0; round < 20; ++round) {
        std::vector<std::int32_t> table(3);
        std::vector<Slot> slots(12);
        std::vector<std::uint32_t> numbers(4 * 5);
        spoil(table, random);
        spoil(slots, random);
        spoil(numbers, random);
        std::vector<BlockCopy> copies(5);
        std::vector<BlockPair> pairs(5);
        std::vector<FilledBlock> blocks(5);
        for (std::size_t i = 0; i < 5; ++i) {
            const std::uint32_t* const n = &numbers[4 * i];
            copies[i] = {GroupId{0}, BlockId{n[0]}, BlockId{n[1]}, n[2]};
            pairs[i] = {BlockId{n[0]}, BlockId{n[1]}};
            blocks[i] = {BlockId{n[3]}, n[2]};
        }
        testing::Rows rows(shape, 12, DType::f32);
        const CellRange range{table, 0, 12};
        std::uint64_t scratch = 0;
        CellMismatch mismatch;
        std::vector<std::uint64_t> prints(5, 1);
        BOOST_REQUIRE(cuda::run_write_slots(launch, store.view(), slots, rows.in()));
        BOOST_REQUIRE(cuda::run_scatter_cells(launch, store.view(), range, rows.in()));
        BOOST_REQUIRE(cuda::run_gather_cells(launch, store.view(), range, rows.out()));
        BOOST_REQUIRE(cuda::run_copy_blocks(launch, store.view(), GroupId{0}, copies));
        BOOST_REQUIRE(cuda::run_swap_blocks(launch, store.view(), other.view(), pairs));
        BOOST_REQUIRE(cuda::run_fingerprint_blocks(launch, store.view(), blocks, prints));
        BOOST_REQUIRE(cuda::run_compare_cells(launch, store.view(), range, rows.in(), {}, &scratch, &mismatch));
        for (std::size_t i = 0; i < 5; ++i) {
            const bool is_there = has_block(shape, to_index(blocks[i].block)) && blocks[i].cells <= shape.block_size;
            BOOST_TEST((is_there || prints[i] == 0U));
        }
        // The first position without a block is the first mismatch: all else is what the gather found.
        const auto first = std::ranges::find_if(table, [&](std::int32_t block) { return !has_block(shape, block); });
        const Length expected = first == table.end() ? CellMismatch::none : 4 * (first - table.begin());
        BOOST_TEST(mismatch.position == expected);
        BOOST_TEST((expected == CellMismatch::none || std::isnan(mismatch.found)));
    }
    // The null block and what surrounds it are as they were.
    BOOST_TEST(std::ranges::all_of(std::span(static_cast<const std::uint16_t*>(store.view().k), 4 * 8),
                                   [](std::uint16_t bits) { return bits == 0; }));
}

BOOST_AUTO_TEST_CASE(never_lead_operations_on_tables_beyond_memory) {
    std::mt19937_64 random(testing::seed());
    EmulatedLaunch launch(testing::seed());
    for (int round = 0; round < 40; ++round) {
        std::vector<std::int32_t> ids(3 * 5);
        std::vector<std::int32_t> indptr(4);
        std::vector<Length> lengths(3);
        std::vector<Length> queries(3);
        std::vector<Length> positions(7);
        spoil(ids, random);
        spoil(indptr, random);
        spoil(lengths, random);
        spoil(queries, random);
        spoil(positions, random);
        const PaddedTables tables{ids, 5, 4};
        std::vector<std::int32_t> new_indptr(4), indices(6), last(3);
        std::vector<Length> first(3);
        const SeenRule rule{.window = 5, .sinks = 3, .queries = queries};
        BOOST_REQUIRE(cuda::run_tables_to_csr(launch, tables, lengths, rule, {new_indptr, indices, last, first}, {}));
        BOOST_TEST(std::ranges::is_sorted(new_indptr));
        BOOST_TEST(new_indptr.back() <= 3 * 5);

        std::vector<std::int32_t> padded(3 * 5, 7);
        spoil(first, random);
        BOOST_REQUIRE(cuda::run_csr_to_tables(launch, {indptr, indices, first, 3, 4}, 5, padded));

        std::vector<Slot> slots(7, 77);
        BOOST_REQUIRE(cuda::run_slots_of_positions(launch, tables, indptr, positions, slots));
        for (std::size_t i = 0; i < 7; ++i) {
            const bool has_entry = positions[i] >= 0 && positions[i] < 5 * 4;
            BOOST_TEST((slots[i] == no_slot || (has_entry && slots[i] >= 4)));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

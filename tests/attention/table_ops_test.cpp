// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/table_ops.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/blocktable/manager.h>

#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::granted;
using testing::is_refused;
using testing::Lcg;
using testing::shifted;
using enum PayloadFault;

using Int32s = std::vector<std::int32_t>;
using Lengths = std::vector<Length>;

// A CSR's arrays, as large as asked for and full of what must not stay.
struct Csr {
    explicit Csr(std::size_t n, std::size_t entries)
        : indptr(n + 1, -9), indices(entries, -9), last_page_len(n, -9), first_position(n, -9) {}
    CsrArrays out() { return {indptr, indices, last_page_len, first_position}; }
    CsrTables tables(Length sinks, std::uint32_t block_size) const {
        return {indptr, indices, first_position, sinks, block_size};
    }
    bool operator==(const Csr&) const = default;

    Int32s indptr;
    Int32s indices;
    Int32s last_page_len;
    Lengths first_position;
};

Csr csr_of(const PaddedTables& tables, const Lengths& lengths, const SeenRule& rule) {
    Csr csr(lengths.size(), tables.ids.size());
    const auto entries = tables_to_csr(tables, lengths, rule, csr.out());
    BOOST_REQUIRE(entries);
    csr.indices.resize(static_cast<std::size_t>(*entries));
    return csr;
}

// LoadedManager of random lengths in one group of a Manager, and what it exports.
class LoadedManager {
public:
    LoadedManager(Lcg& lcg, Length window, Length sinks, std::uint32_t block_size)
        : kv_({.block_size = block_size,
               .blocks = 500,
               .prefix_cache = {.enabled = false},
               .groups = {{.name = "g", .window = window, .sinks = sinks}}}) {
        for (int i = 0; i < 6; ++i) {
            const testing::Tokens prompt =
                testing::drawn_tokens(lcg.below(1000), 1 + static_cast<Length>(lcg.below(40)));
            handles_.push_back(granted(kv_.admit({.tokens = prompt})).sequence);
            lengths_.push_back(static_cast<Length>(prompt.size()));
        }
    }

    const Lengths& lengths() const { return lengths_; }
    const Manager& manager() const { return kv_; }
    const std::vector<SequenceHandle>& handles() const { return handles_; }

    Int32s padded(std::size_t width) const {
        Int32s ids(handles_.size() * width, -1);
        granted(export_padded(kv_, handles_, GroupId{0}, width, ids));
        return ids;
    }

    Csr csr() const {
        Csr csr(handles_.size(), static_cast<std::size_t>(granted(csr_entries(kv_, handles_, GroupId{0}))));
        granted(export_csr(kv_, handles_, GroupId{0}, csr.out()));
        return csr;
    }

private:
    Manager kv_;
    std::vector<SequenceHandle> handles_;
    Lengths lengths_;
};

// Calls visit(sequences, window, sinks, block_size) for many managers.
template <class Visit>
void for_each_manager(Visit visit) {
    Lcg lcg(testing::seed());
    for (int round = 0; round < 60; ++round) {
        const auto window = static_cast<Length>(lcg.below(12));
        const auto sinks = window == 0 ? 0 : static_cast<Length>(lcg.below(8));
        const auto block_size = static_cast<std::uint32_t>(1 + lcg.below(6));
        BOOST_TEST_CONTEXT("window " << window << ", sinks " << sinks << ", blocks of " << block_size) {
            visit(LoadedManager(lcg, window, sinks, block_size), window, sinks, block_size);
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table_ops)

BOOST_AUTO_TEST_CASE(padded_tables_give_the_csr_that_the_manager_exports) {
    for_each_manager([](const LoadedManager& sequences, Length window, Length sinks, std::uint32_t block_size) {
        const Int32s ids = sequences.padded(41);
        const Csr csr = csr_of({ids, 41, block_size}, sequences.lengths(), {.window = window, .sinks = sinks});
        BOOST_TEST((csr == sequences.csr()));
    });
}

BOOST_AUTO_TEST_CASE(a_csr_gives_the_padded_tables_that_the_manager_exports) {
    for_each_manager([](const LoadedManager& sequences, Length, Length sinks, std::uint32_t block_size) {
        Int32s ids(sequences.handles().size() * 41, -1);
        BOOST_REQUIRE(csr_to_tables(sequences.csr().tables(sinks, block_size), 41, ids));
        BOOST_TEST(ids == sequences.padded(41), boost::test_tools::per_element());
    });
}

// After a truncation the run may begin within the block behind the sinks: its first cells are gone, the block is not.
BOOST_AUTO_TEST_CASE(a_csr_whose_run_begins_within_the_block_behind_the_sinks_gives_its_padded_table) {
    constexpr std::size_t width = 3;
    Manager kv({.block_size = 4, .blocks = 9, .groups = {{.name = "g", .window = 1, .sinks = 5}}});
    const testing::Tokens prompt(14, Token{1});
    const SequenceHandle sequence = granted(kv.admit({.tokens = prompt})).sequence;
    granted(kv.truncate(sequence, 9));
    for (const std::size_t entries : {2U, 3U}) {  // the sinks' alone; one more
        Csr csr(1, entries);
        granted(export_csr(kv, {&sequence, 1}, GroupId{0}, csr.out()));
        BOOST_TEST(csr.indptr.back() == static_cast<std::int32_t>(entries));
        BOOST_TEST(csr.first_position.front() == 9);
        Int32s expected(width, -1);
        granted(export_padded(kv, {&sequence, 1}, GroupId{0}, width, expected));
        Int32s ids(width, -1);
        BOOST_REQUIRE(csr_to_tables(csr.tables(5, 4), width, ids));
        BOOST_TEST(ids == expected, boost::test_tools::per_element());
        granted(kv.append(sequence, std::span(prompt).first(1)));
    }
}

BOOST_AUTO_TEST_CASE(slots_of_held_positions_are_those_that_the_manager_exports) {
    for_each_manager([](const LoadedManager& sequences, Length window, Length, std::uint32_t block_size) {
        const Int32s ids = sequences.padded(41);
        Int32s indptr = {0};
        Lengths positions;
        std::vector<Slot> expected;
        for (std::size_t i = 0; i < sequences.handles().size(); ++i) {
            const Length length = sequences.lengths()[i];
            const Length first = window == 0 ? 0 : std::max<Length>(0, length - window);
            std::vector<Slot> slots(static_cast<std::size_t>(length - first));
            granted(export_slots(sequences.manager(), sequences.handles()[i], GroupId{0}, first, slots));
            for (Length position = first; position < length; ++position) {
                positions.push_back(position);
            }
            expected.insert(expected.end(), slots.begin(), slots.end());
            indptr.push_back(static_cast<std::int32_t>(positions.size()));
        }
        std::vector<Slot> slots(positions.size());
        const auto done = slots_of_positions({ids, 41, block_size}, indptr, positions, slots);
        BOOST_REQUIRE_MESSAGE(done, done.error());
        BOOST_TEST(slots == expected, boost::test_tools::per_element());
    });
}

BOOST_AUTO_TEST_CASE(earlier_queries_of_a_chunk_see_earlier_blocks) {
    const Int32s ids = {11, 12, 13, 14, 15, 16};
    const PaddedTables tables{ids, 6, 2};
    const Lengths two = {2};
    const Lengths five = {5};
    // The query at position 10 sees 8, 9 and 10; the one at 9 also 7; the one at 6 also 4.
    const auto indices = [&](const SeenRule& rule) { return csr_of(tables, {11}, rule).indices; };
    BOOST_TEST(indices({.window = 3}) == Int32s({15, 16}), boost::test_tools::per_element());
    BOOST_TEST(indices({.window = 3, .queries = two}) == Int32s({14, 15, 16}), boost::test_tools::per_element());
    BOOST_TEST(indices({.window = 3, .sinks = 1, .queries = five}) == Int32s({11, 13, 14, 15, 16}),
               boost::test_tools::per_element());
    BOOST_TEST(indices({.window = 3, .sinks = 3, .queries = five}) == ids, boost::test_tools::per_element());
    BOOST_TEST(indices({.sinks = 3}) == ids, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_indptr_each_sequence_has_one_position) {
    const Int32s ids = {3, 0, 7, 9};
    const Lengths positions = {1, 5};
    std::vector<Slot> slots(2);
    BOOST_REQUIRE(slots_of_positions({ids, 2, 4}, {}, positions, slots));
    BOOST_TEST(slots == std::vector<Slot>({13, 37}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_does_not_make_a_csr_is_named_and_writes_nothing) {
    Int32s ids = {1, 2, 0, 3, 0, 4};
    const Lengths good = {7, 12};
    const auto refuses = [&](const PaddedTables& tables, const Lengths& lengths, const SeenRule& rule, CsrArrays out,
                             PayloadFault fault, const char* where) {
        return is_refused(tables_to_csr(tables, lengths, rule, out), fault, where);
    };
    Csr csr(2, 6);
    const Csr untouched = csr;
    const SeenRule rule{.window = 4, .sinks = 1};
    constexpr Length most = std::numeric_limits<Length>::max();
    const Lengths one = {1};
    const Lengths many = {1, 13};
    const PaddedTables tables{ids, 3, 4};
    BOOST_CHECK(refuses({ids, 3, 0}, good, rule, csr.out(), bad_shape, "block_size"));
    BOOST_CHECK(refuses({ids, 4, 4}, good, rule, csr.out(), bad_shape, "tables"));
    BOOST_CHECK(refuses({ids, std::size_t(-1), 4}, good, rule, csr.out(), bad_shape, "tables"));
    BOOST_CHECK(refuses(tables, {7, 13}, rule, csr.out(), buffer_too_small, "tables"));
    BOOST_CHECK(refuses(tables, {7, most}, rule, csr.out(), buffer_too_small, "tables"));
    BOOST_CHECK(refuses(tables, {7, -1}, rule, csr.out(), out_of_range, "lengths"));
    BOOST_CHECK(refuses(tables, good, {.window = -1}, csr.out(), out_of_range, "window"));
    BOOST_CHECK(refuses(tables, good, {.sinks = -1}, csr.out(), out_of_range, "sinks"));
    BOOST_CHECK(refuses(tables, good, {.queries = one}, csr.out(), bad_shape, "queries"));
    BOOST_CHECK(refuses(tables, good, {.queries = many}, csr.out(), out_of_range, "queries"));
    BOOST_CHECK(refuses(tables, good, {}, csr.out(), hole, "tables"));
    ids[5] = -4;
    BOOST_CHECK(refuses(tables, good, rule, csr.out(), out_of_range, "tables"));
    ids[5] = 4;
    CsrArrays small = csr.out();
    small.indptr = small.indptr.first(2);
    BOOST_CHECK(refuses(tables, good, rule, small, buffer_too_small, "indptr"));
    small = csr.out();
    small.indices = small.indices.first(3);
    BOOST_CHECK(refuses(tables, good, rule, small, buffer_too_small, "indices"));
    small = csr.out();
    small.last_page_len = small.last_page_len.first(1);
    BOOST_CHECK(refuses(tables, good, rule, small, buffer_too_small, "last_page_len"));
    small = csr.out();
    small.first_position = small.first_position.first(1);
    BOOST_CHECK(refuses(tables, good, rule, small, buffer_too_small, "first_position"));
    CsrArrays shared = csr.out();
    shared.indices = ids;
    BOOST_CHECK(refuses(tables, good, rule, shared, overlapping, "out"));
    shared = csr.out();
    shared.last_page_len = shared.indptr;
    BOOST_CHECK(refuses(tables, good, rule, shared, overlapping, "out"));
    shared = csr.out();
    shared.first_position = testing::at_address<Length>(csr.indices.data(), 2);
    BOOST_CHECK(refuses(tables, good, rule, shared, overlapping, "out"));
    BOOST_TEST((csr == untouched));
    BOOST_TEST(tables_to_csr(tables, good, rule, csr.out()).value() == 4);
}

BOOST_AUTO_TEST_CASE(arrays_that_start_within_an_element_are_named) {
    const Int32s ids(6, 1), indptr = {0, 1, 2};
    const Lengths lengths = {7, 12}, queries = {1, 1};
    Csr csr(2, 6);
    const PaddedTables tables{ids, 3, 4};
    const auto to_csr = [&](auto change, const char* where) {
        PaddedTables from = tables;
        std::span<const Length> of = lengths;
        SeenRule rule{.queries = queries};
        CsrArrays out = csr.out();
        change(from, of, rule, out);
        return is_refused(tables_to_csr(from, of, rule, out), misaligned, where);
    };
    using Tables = PaddedTables&;
    using Of = std::span<const Length>&;
    using Rule = SeenRule&;
    using Out = CsrArrays&;
    BOOST_CHECK(to_csr([](Tables t, Of, Rule, Out) { t.ids = shifted(t.ids); }, "tables"));
    BOOST_CHECK(to_csr([](Tables, Of l, Rule, Out) { l = shifted(l); }, "lengths"));
    BOOST_CHECK(to_csr([](Tables, Of, Rule r, Out) { r.queries = shifted(r.queries); }, "queries"));
    BOOST_CHECK(to_csr([](Tables, Of, Rule, Out o) { o.indptr = shifted(o.indptr); }, "indptr"));
    BOOST_CHECK(to_csr([](Tables, Of, Rule, Out o) { o.indices = shifted(o.indices); }, "indices"));
    BOOST_CHECK(to_csr([](Tables, Of, Rule, Out o) { o.last_page_len = shifted(o.last_page_len); }, "last_page_len"));
    BOOST_CHECK(
        to_csr([](Tables, Of, Rule, Out o) { o.first_position = shifted(o.first_position); }, "first_position"));

    Int32s padded(6);
    const auto to_tables = [&](auto change, const char* where) {
        CsrTables from{indptr, ids, lengths, 0, 4};
        std::span<std::int32_t> out = padded;
        change(from, out);
        return is_refused(csr_to_tables(from, 3, out), misaligned, where);
    };
    using From = CsrTables&;
    using Padded = std::span<std::int32_t>&;
    BOOST_CHECK(to_tables([](From f, Padded) { f.indptr = shifted(f.indptr); }, "indptr"));
    BOOST_CHECK(to_tables([](From f, Padded) { f.indices = shifted(f.indices); }, "indices"));
    BOOST_CHECK(to_tables([](From f, Padded) { f.first_position = shifted(f.first_position); }, "first_position"));
    BOOST_CHECK(to_tables([](From, Padded out) { out = shifted(out); }, "out"));

    std::vector<Slot> slots(2);
    const std::span<const std::int32_t> rows = indptr;
    const std::span<const Length> positions = lengths;
    const auto to_slots = [&](const PaddedTables& from, std::span<const std::int32_t> of, std::span<const Length> at,
                              std::span<Slot> out, const char* where) {
        return is_refused(slots_of_positions(from, of, at, out), misaligned, where);
    };
    BOOST_CHECK(to_slots({shifted(tables.ids), 3, 4}, rows, positions, slots, "tables"));
    BOOST_CHECK(to_slots(tables, shifted(rows), positions, slots, "indptr"));
    BOOST_CHECK(to_slots(tables, rows, shifted(positions), slots, "positions"));
    BOOST_CHECK(to_slots(tables, rows, positions, shifted(std::span(slots)), "out"));
}

BOOST_AUTO_TEST_CASE(what_is_no_csr_is_named_and_writes_nothing) {
    const Int32s indptr = {0, 2, 5};
    const Int32s indices = {1, 2, 3, 4, 5};
    const Lengths first = {0, 12};
    const CsrTables good{indptr, indices, first, 3, 4};
    Int32s out(10, -9);
    const auto refuses = [&](auto change, std::size_t width, PayloadFault fault, const char* where) {
        CsrTables csr = good;
        change(csr);
        return is_refused(csr_to_tables(csr, width, out), fault, where);
    };
    const auto nothing = [](CsrTables&) {};
    const Int32s falling = {0, 3, 2};
    const Int32s negative = {-1, 2, 5};
    const Int32s beyond = {0, 2, 6};
    const Lengths below = {0, -4};
    BOOST_CHECK(refuses([](CsrTables& c) { c.block_size = 0; }, 5, bad_shape, "block_size"));
    BOOST_CHECK(refuses([](CsrTables& c) { c.indptr = {}; }, 5, bad_shape, "indptr"));
    for (const Int32s* bad : {&falling, &negative, &beyond}) {
        BOOST_CHECK(refuses([=](CsrTables& c) { c.indptr = *bad; }, 5, bad_shape, "indptr"));
    }
    BOOST_CHECK(
        refuses([](CsrTables& c) { c.first_position = c.first_position.first(1); }, 5, bad_shape, "first_position"));
    BOOST_CHECK(refuses([&](CsrTables& c) { c.first_position = below; }, 5, out_of_range, "first_position"));
    BOOST_CHECK(refuses([](CsrTables& c) { c.sinks = -1; }, 5, out_of_range, "sinks"));
    BOOST_CHECK(refuses([](CsrTables& c) { c.sinks = 9; }, 5, bad_shape, "sinks"));
    BOOST_CHECK(refuses(nothing, 4, buffer_too_small, "out"));
    BOOST_CHECK(refuses(nothing, 6, buffer_too_small, "out"));
    BOOST_CHECK(is_refused(csr_to_tables({indptr, out, first, 3, 4}, 5, out), overlapping, "out"));
    BOOST_TEST(out == Int32s(10, -9), boost::test_tools::per_element());
    BOOST_REQUIRE(csr_to_tables(good, 5, out));
    BOOST_TEST(out == Int32s({1, 2, 0, 0, 0, 3, 0, 0, 4, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(positions_without_slots_are_named_and_write_nothing) {
    const Int32s ids = {3, 0, 7, -9};
    const PaddedTables tables{ids, 2, 4};
    std::vector<Slot> slots(3, -9);
    const auto refuses = [&](const Int32s& indptr, const Lengths& positions, PayloadFault fault, const char* where) {
        return is_refused(slots_of_positions(tables, indptr, positions, slots), fault, where);
    };
    BOOST_CHECK(refuses({0, 1, 2}, {3, -1}, out_of_range, "positions"));
    BOOST_CHECK(refuses({0, 1, 2}, {3, 8}, buffer_too_small, "tables"));
    BOOST_CHECK(refuses({0, 1, 2}, {3, std::numeric_limits<Length>::max()}, buffer_too_small, "tables"));
    BOOST_CHECK(refuses({0, 2, 2}, {3, 4}, hole, "tables"));
    BOOST_CHECK(refuses({0, 1, 2}, {3, 4}, out_of_range, "tables"));
    BOOST_CHECK(refuses({0, 1, 3}, {3, 3}, bad_shape, "indptr"));
    BOOST_CHECK(refuses({1, 1, 2}, {3, 3}, bad_shape, "indptr"));
    BOOST_CHECK(refuses({0, 3, 2}, {3, 3}, bad_shape, "indptr"));
    BOOST_CHECK(refuses({0, 1, 2, 2}, {3, 3}, bad_shape, "tables"));
    BOOST_CHECK(refuses({0, 2, 4}, {3, 3, 3, 3}, buffer_too_small, "out"));
    const Lengths one = {3};
    BOOST_CHECK(
        is_refused(slots_of_positions(tables, {}, std::span<const Length>(slots).first(1), slots), overlapping, "out"));
    BOOST_CHECK(is_refused(slots_of_positions({ids, 2, 0}, {}, one, slots), bad_shape, "block_size"));
    BOOST_TEST(slots == std::vector<Slot>(3, -9), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

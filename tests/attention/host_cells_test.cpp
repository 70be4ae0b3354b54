// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_cells.h>

#include <array>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cell_rows.h>

namespace kvpane {

namespace {

// A Manager, and one int32 of payload a cell: the engine's side of the bargain.
struct Engine {
    explicit Engine(std::uint32_t block_size)
        : manager(Config{.block_size = block_size, .blocks = 8, .prefix_cache = {.enabled = false}}),
          memory(9 * block_size, -1) {}

    HostCells cells() {
        return {std::as_writable_bytes(std::span(memory)), manager.config().block_size, sizeof(std::int32_t)};
    }

    void run(const Step& step, const std::vector<std::int32_t>& values) {
        BOOST_REQUIRE(run_copies(cells(), GroupId{0}, step.copies));
        BOOST_REQUIRE(write_cells(cells(), step.slots_of(GroupId{0}), std::as_bytes(std::span(values))));
    }

    std::vector<std::int32_t> read(SequenceHandle sequence) {
        std::vector<std::int32_t> out(static_cast<std::size_t>(*manager.length(sequence)));
        const auto table = manager.table(sequence, GroupId{0});
        BOOST_REQUIRE(gather_cells(cells(), *table, 0, std::as_writable_bytes(std::span(out))));
        return out;
    }

    Manager manager;
    std::vector<std::int32_t> memory;
};

using Values = std::vector<std::int32_t>;

bool is_refused(const expected<void>& result) { return !result && result.error() == Error::invalid_argument; }

}  // namespace

BOOST_AUTO_TEST_SUITE(host_cells)

BOOST_AUTO_TEST_CASE(a_fork_that_writes_leaves_its_parents_payload_alone) {
    Engine engine(4);
    const Values prompt = {1, 2, 3, 4, 5, 6};
    const auto parent = engine.manager.admit({prompt});
    BOOST_REQUIRE(parent);
    engine.run(parent->step, prompt);
    const auto child = engine.manager.fork(parent->sequence);
    BOOST_REQUIRE(child);

    const auto step = engine.manager.append(*child, Values{70, 80, 90});
    BOOST_REQUIRE(step);
    BOOST_TEST(step->copies.size() == 1U);
    BOOST_TEST(step->copies[0].cells == 2U);
    engine.run(*step, {70, 80, 90});
    const auto more = engine.manager.append(parent->sequence, Values{7});
    BOOST_REQUIRE(more);
    engine.run(*more, {7});

    BOOST_TEST(engine.read(*child) == Values({1, 2, 3, 4, 5, 6, 70, 80, 90}), boost::test_tools::per_element());
    BOOST_TEST(engine.read(parent->sequence) == Values({1, 2, 3, 4, 5, 6, 7}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_copy_touches_only_the_filled_cells_of_its_group) {
    Values memory = {0, 0, 0, 0, 11, 12, 13, 14, 21, 22, 23, 24};
    const HostCells cells{std::as_writable_bytes(std::span(memory)), 4, sizeof(std::int32_t)};
    const std::array copies = {BlockCopy{GroupId{0}, BlockId{1}, BlockId{2}, 2},
                               BlockCopy{GroupId{1}, BlockId{2}, BlockId{1}, 4}};
    BOOST_REQUIRE(run_copies(cells, GroupId{0}, copies));
    BOOST_TEST(memory == Values({0, 0, 0, 0, 11, 12, 13, 14, 11, 12, 23, 24}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_row_without_a_slot_is_not_written) {
    Values memory(9, 5);  // the null block, a block and a cell of none
    const HostCells cells{std::as_writable_bytes(std::span(memory)), 4, sizeof(std::int32_t)};
    const std::array<Slot, 3> slots = {7, no_slot, 4};
    const Values rows = {70, 80, 40};
    BOOST_REQUIRE(write_cells(cells, slots, std::as_bytes(std::span(rows))));
    BOOST_TEST(memory == Values({5, 5, 5, 5, 40, 5, 5, 70, 5}), boost::test_tools::per_element());
    for (const Slot bad : {Slot{-2}, Slot{0}, Slot{3}, Slot{8}, Slot{9}, std::numeric_limits<Slot>::max()}) {
        const std::array<Slot, 3> with_bad = {5, bad, 6};
        BOOST_CHECK(is_refused(write_cells(cells, with_bad, std::as_bytes(std::span(rows)))));
    }
    BOOST_TEST(memory == Values({5, 5, 5, 5, 40, 5, 5, 70, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_touches_nothing) {
    Values memory(8, 5);
    const HostCells cells{std::as_writable_bytes(std::span(memory)), 4, sizeof(std::int32_t)};
    const Values one = {9};
    const auto bytes = std::as_bytes(std::span(one));
    const std::array<Slot, 2> two = {4, 5};
    BOOST_CHECK(is_refused(write_cells(cells, two, bytes)));
    const std::array outside = {BlockCopy{GroupId{0}, BlockId{1}, BlockId{2}, 1}};
    const std::array too_many = {BlockCopy{GroupId{0}, BlockId{0}, BlockId{1}, 5}};
    BOOST_CHECK(is_refused(run_copies(cells, GroupId{0}, outside)));
    BOOST_CHECK(is_refused(run_copies(cells, GroupId{0}, too_many)));
    const std::span<const std::byte> inside = cells.memory.first(4);
    BOOST_CHECK(is_refused(write_cells(cells, std::span(two).first(1), inside)));
    std::array<Slot, 4> slots = {1, 2, 1, 2};
    const HostCells around{std::as_writable_bytes(std::span(slots)), 1, sizeof(Slot)};
    const std::array<Slot, 2> values = {7, 8};
    BOOST_CHECK(is_refused(write_cells(around, std::span(slots).first(2), std::as_bytes(std::span(values)))));
    std::array<BlockCopy, 2> copies = {outside[0], outside[0]};
    copies[0].destination = BlockId{0};
    const HostCells around_copies{std::as_writable_bytes(std::span(copies)), 1, sizeof(BlockCopy)};
    BOOST_CHECK(is_refused(run_copies(around_copies, GroupId{0}, std::span(copies).first(1))));
    BOOST_TEST((slots == std::array<Slot, 4>{1, 2, 1, 2}));
    const HostCells no_size{cells.memory, 0, 4};
    BOOST_CHECK(is_refused(write_cells(no_size, {}, {})));
    BOOST_TEST(memory == Values(8, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_hole_before_a_window_cannot_be_gathered) {
    Manager manager(Config{.block_size = 2, .blocks = 4, .groups = {{.name = "swa", .window = 2}}});
    const auto admitted = manager.admit({Values{1, 2, 3, 4}});
    BOOST_REQUIRE(admitted);
    Values memory(10, 5);
    Values out(2, 6);
    const HostCells cells{std::as_writable_bytes(std::span(memory)), 2, sizeof(std::int32_t)};
    const auto table = manager.table(admitted->sequence, GroupId{0});
    BOOST_CHECK(is_refused(gather_cells(cells, *table, 1, std::as_writable_bytes(std::span(out)))));
    BOOST_CHECK(is_refused(gather_cells(cells, *table, 2, cells.memory.last(8))));
    BOOST_TEST(out == Values(2, 6), boost::test_tools::per_element());
    BOOST_CHECK(gather_cells(cells, *table, 2, std::as_writable_bytes(std::span(out))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

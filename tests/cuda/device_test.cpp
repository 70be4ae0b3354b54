// SPDX-License-Identifier: Apache-2.0
// What callers of the device's functions are told: what is wrong first, then that there is no device. These tests touch
// no memory of a device; gpu_check.sh runs the kernels on one.
#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/device_ops.h>

#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/launch_shape.h>

#include "attention/attention_case.h"
#include "attention/stores.h"
#include "cuda/bounds_of.h"

namespace kvpane {

namespace {

using testing::at_address;
using testing::AttentionCase;
using testing::shifted;

// A problem, its outputs and its workspace, sound until a test spoils it.
struct DeviceCall {
    DeviceCall()
        : made({.block_size = 8, .lengths = {9, 3}}, 1), problem(made.problem()), bounds(testing::bounds_of(problem)) {
        workspace.resize(device_workspace_bytes(problem, bounds) / sizeof(float));
        out.resize(made.states() * problem.cells.shape.head_dim);
        result = {.out = {out.data(), DType::f32}, .lse = {}};
    }

    payload_expected<void> operator()() {
        return device_attention(problem, bounds, std::as_writable_bytes(std::span(workspace)), result, nullptr);
    }

    AttentionCase made;
    AttentionProblem problem;
    DeviceBounds bounds;
    std::vector<float> workspace;
    std::vector<float> out;
    AttentionResult result;
};

void expect(const payload_expected<void>& found, PayloadFault fault, const std::string& where) {
    BOOST_REQUIRE(!found);
    BOOST_TEST(to_string(found.error().fault) == to_string(fault));
    BOOST_TEST(found.error().where == where);
}

bool has_device() { return device_available().has_value(); }
boost::test_tools::assertion_result has_none(boost::unit_test::test_unit_id) { return !has_device(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(without_a_device)

BOOST_AUTO_TEST_CASE(every_call_says_so, *boost::unit_test::precondition(has_none)) {
    const PayloadError none = device_available().error();
    BOOST_TEST(to_string(none.fault) == "no_device");
    BOOST_TEST(std::string(none.where) != "");
    BOOST_TEST(to_string(DeviceMemory::allocate(16).error().fault) == "no_device");
    const CellShape shape{4, 8, 1, 64, DType::f16};
    BOOST_TEST(to_string(DeviceCellStore::allocate(shape, CellOrder::nhd, false).error().fault) == "no_device");
    DeviceCall call;
    BOOST_TEST(to_string(call().error().fault) == "no_device");
    const CellStore& store = call.problem.cells;
    const std::vector<BlockCopy> copies = {{GroupId{0}, BlockId{1}, BlockId{2}, 1}};
    BOOST_TEST(to_string(device_copy_blocks(store, GroupId{0}, copies, nullptr).error().fault) == "no_device");
    BOOST_TEST(to_string(wait_for(nullptr).error().fault) == "no_device");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_device_functions_refuse)

BOOST_AUTO_TEST_CASE(problems_of_attention_by_what_is_wrong) {
    const auto spoiled = [](auto spoil) {
        DeviceCall call;
        spoil(call);
        return call();
    };
    using C = DeviceCall;
    expect(spoiled([](C& c) { c.problem.query_heads = 3; }), PayloadFault::heads_do_not_divide, "query_heads");
    expect(spoiled([](C& c) { c.problem.width = 7; }), PayloadFault::bad_shape, "tables");
    expect(spoiled([](C& c) { c.bounds.rows = 1; }), PayloadFault::bad_shape, "bounds");
    expect(spoiled([](C& c) { c.bounds.longest = -1; }), PayloadFault::bad_shape, "bounds");
    expect(spoiled([](C& c) { c.problem.rule.window = -1; }), PayloadFault::bad_shape, "window");
    expect(spoiled([](C& c) { c.workspace.pop_back(); }), PayloadFault::workspace_too_small, "workspace");
    expect(spoiled([](C& c) { c.result.out.dtype = DType::e4m3; }), PayloadFault::unsupported_dtype, "out");
    expect(spoiled([](C& c) { c.result.lse = std::span(c.out).first(1); }), PayloadFault::buffer_too_small, "lse");
    expect(spoiled([](C& c) { c.result.out.data = c.made.queries.data(); }), PayloadFault::overlapping, "out");
    expect(spoiled([](C& c) { c.result.out.data = c.problem.cells.v; }), PayloadFault::overlapping, "out");
    expect(spoiled([](C& c) { c.result.lse = at_address<float>(c.made.tables.data(), c.made.states()); }),
           PayloadFault::overlapping, "lse");
    expect(spoiled([](C& c) { c.problem.lengths = at_address<Length>(c.workspace.data(), 2); }),
           PayloadFault::overlapping, "workspace");
    expect(spoiled([](C& c) { c.problem.lengths = shifted(c.problem.lengths); }), PayloadFault::misaligned, "lengths");
    expect(spoiled([](C& c) { c.problem.tables = shifted(c.problem.tables); }), PayloadFault::misaligned, "tables");
    expect(spoiled([](C& c) {
               for (void** part : {&c.problem.cells.k, &c.problem.cells.v}) {
                   *part = static_cast<float*>(*part) + 1;
               }
           }),
           PayloadFault::misaligned, "k");
}

BOOST_AUTO_TEST_CASE(to_look_for_wrong_entries_without_memory_for_the_answer) {
    DeviceCall call;
    std::uint64_t scratch = 0;
    WrongEntry out;
    expect(device_find_wrong_entry(call.problem, nullptr, &out, nullptr), PayloadFault::bad_shape, "scratch");
    expect(device_find_wrong_entry(call.problem, &scratch, nullptr, nullptr), PayloadFault::bad_shape, "out");
    call.problem.width = 7;
    expect(device_find_wrong_entry(call.problem, &scratch, &out, nullptr), PayloadFault::bad_shape, "tables");
}

BOOST_AUTO_TEST_CASE(to_look_for_wrong_entries_where_the_answer_has_no_memory_of_its_own) {
    const DeviceCall call;
    std::uint64_t scratch = 0;
    WrongEntry out;
    const auto refuses = [&](std::uint64_t* with, WrongEntry* into, PayloadFault fault, const char* where) {
        expect(device_find_wrong_entry(call.problem, with, into, nullptr), fault, where);
    };
    refuses(shifted(std::span(&scratch, 1)).data(), &out, PayloadFault::misaligned, "scratch");
    refuses(&scratch, shifted(std::span(&out, 1)).data(), PayloadFault::misaligned, "out");
    const auto lengths = at_address<std::uint64_t>(call.made.lengths.data(), 1);
    refuses(lengths.data(), &out, PayloadFault::overlapping, "scratch");
    refuses(&scratch, at_address<WrongEntry>(call.made.lengths.data(), 1).data(), PayloadFault::overlapping, "out");
    refuses(at_address<std::uint64_t>(&out, 1).data(), &out, PayloadFault::overlapping, "out");
}

BOOST_AUTO_TEST_CASE(merges_of_parts_as_the_host_does) {
    const std::vector<float> out(2 * 8), lse(2);
    std::vector<float> merged(8);
    AttentionParts parts{.parts = 2, .rows = 1, .query_heads = 1, .head_dim = 8, .out = out, .lse = lse};
    const AttentionResult result{.out = {merged.data(), DType::f32}, .lse = {}};
    parts.out = shifted(parts.out);
    expect(device_merge_parts(parts, result, nullptr), PayloadFault::misaligned, "parts.out");
    parts.out = merged;
    expect(device_merge_parts(parts, result, nullptr), PayloadFault::buffer_too_small, "parts.out");
    parts.out = out;
    parts.lse = merged;
    expect(device_merge_parts(parts, result, nullptr), PayloadFault::overlapping, "out");
    parts = {.parts = std::size_t{1} << 32U, .rows = 0, .query_heads = 1, .head_dim = 8, .out = out, .lse = lse};
    expect(device_merge_parts(parts, result, nullptr), PayloadFault::bad_shape, "parts");
}

BOOST_AUTO_TEST_CASE(operations_by_what_is_wrong) {
    const DeviceCall call;
    const CellStore& store = call.problem.cells;
    std::vector<float> rows(2 * store.shape.kv_heads * store.shape.head_dim + 1);
    const std::vector<std::int32_t> table = {1};
    float* const v = rows.data() + rows.size() / 2;
    expect(device_gather_cells(store, {table, 0, 9}, {rows.data(), v, DType::f32}, nullptr),
           PayloadFault::buffer_too_small, "table");
    expect(device_gather_cells(store, {table, 0, 1}, {rows.data(), v + 1, DType::f32}, nullptr),
           PayloadFault::misaligned, "rows");
    expect(device_gather_cells(store, {table, 0, 1}, {rows.data(), v, DType::e5m2}, nullptr),
           PayloadFault::unsupported_dtype, "rows");
    expect(device_compare_cells(store, {table, 0, 1}, {rows.data(), v, DType::f32}, -1.0F, nullptr, nullptr, nullptr),
           PayloadFault::out_of_range, "tolerance");
    CellStore no_size = store;
    no_size.shape.block_size = 0;
    expect(device_gather_cells(no_size, {table, 0, 9}, {rows.data(), v, DType::f32}, nullptr), PayloadFault::bad_shape,
           "block_size");
    expect(device_csr_to_tables(CsrTables{}, 1, {}, nullptr), PayloadFault::bad_shape, "block_size");
    expect(device_swap_blocks(store, store, {}, nullptr), PayloadFault::overlapping, "to");
    const std::vector<std::int32_t> nobody = {0};
    const std::vector<Length> positions = {3};
    std::vector<Slot> slots(1);
    expect(device_slots_of_positions({table, 1, 8}, nobody, positions, slots, nullptr), PayloadFault::bad_shape,
           "indptr");
}

BOOST_AUTO_TEST_CASE(operations_on_cells_whose_lists_and_answers_have_no_memory_of_their_own) {
    const DeviceCall call;
    const CellStore& store = call.problem.cells;
    const HostCellStore other(store.shape, CellOrder::nhd, false);
    const std::size_t row = std::size_t{store.shape.kv_heads} * store.shape.head_dim;
    std::vector<float> k(row), v(row);
    const CellRows in{k.data(), v.data(), DType::f32};
    const std::vector<std::int32_t> ids = {1};
    const CellRange range{ids, 0, 1};
    const CellRange in_rows{at_address<const std::int32_t>(k.data(), 1), 0, 1};
    const CellRange in_store{at_address<const std::int32_t>(store.k, 1), 0, 1};

    const auto slots = at_address<const Slot>(store.k, 1);
    expect(device_write_slots(store, slots, in, nullptr), PayloadFault::overlapping, "slots");
    expect(device_write_slots(store, shifted(slots), in, nullptr), PayloadFault::misaligned, "slots");
    expect(device_gather_cells(store, in_rows, {k.data(), v.data(), DType::f32}, nullptr), PayloadFault::overlapping,
           "rows");
    expect(device_scatter_cells(store, in_store, in, nullptr), PayloadFault::overlapping, "table");
    expect(device_scatter_cells(store, {shifted(std::span(ids)), 0, 1}, in, nullptr), PayloadFault::misaligned,
           "table");
    const auto copies = at_address<const BlockCopy>(store.v, 1);
    expect(device_copy_blocks(store, GroupId{0}, copies, nullptr), PayloadFault::overlapping, "copies");
    expect(device_copy_blocks(store, GroupId{0}, shifted(copies), nullptr), PayloadFault::misaligned, "copies");
    const auto pairs = at_address<const BlockPair>(other.view().k, 1);
    expect(device_swap_blocks(store, other.view(), pairs, nullptr), PayloadFault::overlapping, "pairs");
    expect(device_swap_blocks(store, other.view(), shifted(pairs), nullptr), PayloadFault::misaligned, "pairs");
    const std::vector<FilledBlock> blocks = {{BlockId{1}, 1}};
    std::uint64_t scratch = 0;
    expect(device_fingerprint_blocks(store, blocks, at_address<std::uint64_t>(store.k, 1), nullptr),
           PayloadFault::overlapping, "out");
    expect(device_fingerprint_blocks(store, blocks, shifted(std::span(&scratch, 1)), nullptr), PayloadFault::misaligned,
           "out");

    CellMismatch mismatch;
    const auto compare = [&](std::uint64_t* with, CellMismatch* out) {
        return device_compare_cells(store, range, in, {}, with, out, nullptr);
    };
    expect(compare(shifted(std::span(&scratch, 1)).data(), &mismatch), PayloadFault::misaligned, "scratch");
    expect(compare(&scratch, shifted(std::span(&mismatch, 1)).data()), PayloadFault::misaligned, "out");
    expect(compare(at_address<std::uint64_t>(store.v, 1).data(), &mismatch), PayloadFault::overlapping, "scratch");
    expect(compare(&scratch, at_address<CellMismatch>(v.data(), 1).data()), PayloadFault::overlapping, "out");
    expect(compare(at_address<std::uint64_t>(&mismatch, 1).data(), &mismatch), PayloadFault::overlapping, "out");
}

BOOST_AUTO_TEST_CASE(operations_on_tables_whose_arrays_overlap_or_start_within_an_element) {
    const std::vector<std::int32_t> ids = {1, 2};
    const std::vector<Length> lengths = {8};
    const PaddedTables tables{ids, 2, 4};
    std::vector<std::int32_t> indptr(2), indices(2), last_page_len(1);
    std::vector<Length> first_position(1);
    const auto to_csr = [&](auto change) {
        CsrArrays out{indptr, indices, last_page_len, first_position};
        std::span<std::byte> workspace;
        change(out, workspace);
        return device_tables_to_csr(tables, lengths, {}, out, workspace, nullptr);
    };
    using Out = CsrArrays&;
    using Workspace = std::span<std::byte>&;
    expect(to_csr([&](Out o, Workspace) { o.indices = at_address<std::int32_t>(ids.data(), 2); }),
           PayloadFault::overlapping, "out");
    expect(to_csr([&](Out o, Workspace) { o.last_page_len = std::span(indptr).last(1); }), PayloadFault::overlapping,
           "out");
    expect(to_csr([&](Out, Workspace w) { w = std::as_writable_bytes(std::span(indptr)); }), PayloadFault::overlapping,
           "workspace");
    expect(to_csr([&](Out, Workspace w) { w = at_address<std::byte>(lengths.data(), 8); }), PayloadFault::overlapping,
           "workspace");
    expect(to_csr([&](Out o, Workspace) { o.first_position = shifted(o.first_position); }), PayloadFault::misaligned,
           "first_position");

    indptr = {0, 2};
    expect(device_csr_to_tables({indptr, ids, first_position, 0, 4}, 2, indptr, nullptr), PayloadFault::overlapping,
           "out");
    expect(device_csr_to_tables({indptr, ids, first_position, 0, 4}, 2, shifted(std::span(indices)), nullptr),
           PayloadFault::misaligned, "out");
    std::vector<Slot> slots(1);
    expect(device_slots_of_positions(tables, {}, lengths, at_address<Slot>(lengths.data(), 1), nullptr),
           PayloadFault::overlapping, "out");
    expect(device_slots_of_positions(tables, {}, shifted(std::span(lengths)), slots, nullptr), PayloadFault::misaligned,
           "positions");
    expect(device_slots_of_positions(tables, {}, lengths, shifted(std::span(slots)), nullptr), PayloadFault::misaligned,
           "out");
}

BOOST_AUTO_TEST_CASE(copies_of_other_sizes_and_onto_themselves) {
    std::vector<std::byte> memory(24);
    const std::span<std::byte> bytes = memory;
    expect(copy_to_device(bytes.first(8), bytes.last(9), nullptr), PayloadFault::bad_shape, "to");
    expect(copy_within_device(bytes.first(16), bytes.last(16), nullptr), PayloadFault::overlapping, "to");
}

BOOST_AUTO_TEST_CASE(grids_that_no_device_has_instead_of_running_a_part_of_them) {
    BOOST_TEST(cuda::blocks_for(513, 256) == 3U);
    BOOST_TEST(cuda::blocks_for(std::size_t{1} << 40U, 256) == std::numeric_limits<unsigned>::max());
    BOOST_TEST(cuda::blocks_for(std::numeric_limits<std::size_t>::max(), 1) == std::numeric_limits<unsigned>::max());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

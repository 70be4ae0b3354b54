// SPDX-License-Identifier: Apache-2.0
// What callers of the device's functions are told: what is wrong first, then that there is no device. These tests touch
// no memory of a device; gpu_check.sh runs the kernels on one.
#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/device_ops.h>

#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/attention_case.h"
#include "attention/stores.h"
#include "cuda/bounds_of.h"
#include "cuda/expect_refusal.h"

namespace kvpane {

namespace {

using testing::at_address;
using testing::AttentionCase;
using testing::expect;
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

}  // namespace

BOOST_AUTO_TEST_SUITE(without_a_device)

BOOST_AUTO_TEST_CASE(every_call_says_so, *boost::unit_test::precondition(testing::has_no_device)) {
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
    BOOST_TEST(to_string(csr_workspace_bytes(2).error().fault) == "no_device");
    std::vector<std::int32_t> indptr(3), indices(2), last_page_len(2);
    std::vector<Length> first_position(2);
    BOOST_TEST(to_string(device_tables_to_csr({call.made.tables, call.made.width, 8}, call.made.lengths, {},
                                              {indptr, indices, last_page_len, first_position}, {}, nullptr)
                             .error()
                             .fault) == "no_device");
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
    const std::vector<std::int32_t> query_indptr = {0, 5, 6};
    for (const std::size_t most_rows : {0U, 2U}) {
        expect(spoiled([&](C& c) {
                   c.problem.query_indptr = query_indptr;
                   c.bounds = {.rows = 6, .most_rows = most_rows, .longest = 9};
               }),
               PayloadFault::bad_shape, "bounds");
    }
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
    expect(device_csr_to_tables(CsrTables{}, 1, {}, nullptr), PayloadFault::bad_shape, "block_size");
    expect(device_swap_blocks(store, store, {}, nullptr), PayloadFault::overlapping, "to");
    const std::vector<std::int32_t> nobody = {0};
    const std::vector<Length> positions = {3};
    std::vector<Slot> slots(1);
    expect(device_slots_of_positions({table, 1, 8}, nobody, positions, slots, nullptr), PayloadFault::bad_shape,
           "indptr");
}

// Each of them divides by the size of a block.
BOOST_AUTO_TEST_CASE(stores_without_a_block_size_before_they_count_blocks) {
    CellStore no_size = DeviceCall().problem.cells;
    no_size.shape.block_size = 0;
    const std::vector<std::int32_t> table = {1};
    const CellRange range{table, 0, 9};
    for (const auto& [store, where] : {std::pair{no_size, "block_size"}, std::pair{CellStore{}, "blocks"}}) {
        expect(device_gather_cells(store, range, {}, nullptr), PayloadFault::bad_shape, where);
        expect(device_scatter_cells(store, range, {}, nullptr), PayloadFault::bad_shape, where);
        expect(device_compare_cells(store, range, {}, std::nullopt, nullptr, nullptr, nullptr), PayloadFault::bad_shape,
               where);
        expect(device_write_slots(store, {}, {}, nullptr), PayloadFault::bad_shape, where);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane

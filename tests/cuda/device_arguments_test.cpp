// SPDX-License-Identifier: Apache-2.0
// Memory that the device's operations refuse by its address: shared with what is written, or misaligned for a kernel.
#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/cuda/device_attention.h>
#include <kvpane/attention/cuda/device_ops.h>

#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/launch_shape.h>

#include "attention/stores.h"
#include "cuda/expect_refusal.h"

namespace kvpane {

using testing::at_address;
using testing::expect;
using testing::shifted;

BOOST_AUTO_TEST_SUITE(the_device_functions_refuse)

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

BOOST_AUTO_TEST_CASE(operations_on_cells_whose_lists_and_answers_have_no_memory_of_their_own) {
    const CellShape shape{.blocks = 4, .block_size = 8, .kv_heads = 2, .head_dim = 64, .dtype = DType::f32};
    const HostCellStore memory(shape, CellOrder::nhd, false);
    const HostCellStore other(shape, CellOrder::nhd, false);
    const CellStore& store = memory.view();
    std::vector<float> k(2 * 64), v(2 * 64);
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

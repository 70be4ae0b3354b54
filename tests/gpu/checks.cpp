// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <kvpane/attention/cuda/device_ops.h>
#include <kvpane/attention/elements.h>

#include "attention/agreement.h"
#include "attention/stores.h"
#include "cuda/bounds_of.h"
#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"

namespace kvpane::gpu {

namespace {

using nlohmann::ordered_json;
using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;

Answer by_gpu(const AttentionProblem& host, DType rows) {
    OnGpu gpu;
    const AttentionProblem problem = gpu.copy(host);
    const DeviceBounds bounds = testing::bounds_of(host);
    const std::size_t states = testing::states_of(host);
    const std::size_t elements = states * host.cells.shape.head_dim;
    const auto out = gpu.empty(elements * bytes_of(rows));
    const auto lse = gpu.array<float>(states);
    require(device_attention(problem, bounds, gpu.empty(device_workspace_bytes(problem, bounds)),
                             {.out = {out.data(), rows}, .lse = lse}, nullptr));
    const auto bytes = from_gpu<std::byte>(out);
    Answer answer{std::vector<float>(elements), from_gpu<float>(lse)};
    for (std::size_t i = 0; i < elements; ++i) {
        answer.out[i] = read_element(bytes.data(), rows, i);
    }
    return answer;
}

ordered_json check_attention(const AttentionSizes& sizes, bool has_device) {
    const AttentionCase made(sizes, 1);
    const Answer expected = testing::by_reference(made.problem());
    ordered_json row = {{"name", "attention: " + describe(sizes)}, {"error", nullptr}, {"ok", true}};
    if (has_device) {
        const Answer found = by_gpu(made.problem(), sizes.rows);
        const double error = testing::norm_ratio(found.out, expected.out);
        const double lse_error = testing::norm_ratio(found.lse, expected.lse);
        row["error"] = std::max(error, lse_error);
        row["ok"] = error < testing::tolerance(sizes.rows) && lse_error < testing::lse_tolerance;
    }
    return row;
}

void check_attentions(bool small, bool has_device, ordered_json& rows) {
    for (AttentionSizes& sizes : testing::sizes_in_turn(small ? 100 : 1500, small ? 11 : 1)) {
        rows.push_back(check_attention(sizes, has_device));
        const auto b = static_cast<std::int32_t>(sizes.block_size);
        sizes.queries = {0, 1, b - 1, 1, b + 1, 33};
        rows.push_back(check_attention(sizes, has_device));
    }
}

// A store of random cells, rows, and one sequence's table: what the operations on cells take.
struct Cells {
    explicit Cells(DType dtype)
        : made({.block_size = 16, .cells = dtype, .lengths = {100}}, 2), store(made.store.view()) {}

    AttentionCase made;
    const CellStore& store;
    CellRange range{made.tables, 3, 90};
};

std::vector<std::byte> bytes_of_store(const CellStore& store) {
    const auto* const first = static_cast<const std::byte*>(std::min(store.k, store.v));
    return {first, first + bytes_of(store.shape)};
}

std::vector<std::byte> bytes_on_gpu(const CellStore& store) {
    const auto* const first = static_cast<const std::byte*>(std::min(store.k, store.v));
    return from_gpu(std::span<const std::byte>(first, bytes_of(store.shape)));
}

// Gather, write to other slots, copy a block, fingerprints, compare: each on the host, and then on the device.
void check_cells(DType dtype, bool has_device, ordered_json& out) {
    const Cells cells(dtype);
    const auto add = [&](const char* name, bool ok) {
        const std::string full_name = std::string(name) + ": " + std::string(to_string(dtype));
        out.push_back({{"name", full_name}, {"error", nullptr}, {"ok", ok}});
    };
    const CellShape& shape = cells.store.shape;
    const std::size_t elements = static_cast<std::size_t>(cells.range.count) * shape.kv_heads * shape.head_dim;
    std::vector<float> k(elements);
    std::vector<float> v(elements);
    require(gather_cells(cells.store, cells.range, {k.data(), v.data(), DType::f32}));
    const std::vector<Slot> slots = {Slot{shape.block_size}, no_slot, Slot{shape.block_size} + 5};
    const std::vector<BlockCopy> copies = {{GroupId{0}, BlockId{3}, BlockId{1}, 9}};
    const std::vector<FilledBlock> blocks = {{BlockId{1}, 9}, {BlockId{2}, 16}};

    OnGpu gpu;
    CellStore store;
    if (has_device) {
        store = gpu.copy(cells.store);
        const CellRange range{gpu.copy(cells.range.table), cells.range.first, cells.range.count};
        const auto gk = gpu.array<float>(elements);
        const auto gv = gpu.array<float>(elements);
        require(device_gather_cells(store, range, {gk.data(), gv.data(), DType::f32}, nullptr));
        add("gather", from_gpu<float>(gk) == k && from_gpu<float>(gv) == v);
        const auto scratch = gpu.array<std::uint64_t>(1);
        const auto mismatch = gpu.array<CellMismatch>(1);
        require(device_compare_cells(store, range, {gk.data(), gv.data(), DType::f32}, std::nullopt, scratch.data(),
                                     mismatch.data(), nullptr));
        add("compare", from_gpu<CellMismatch>(mismatch)[0] == CellMismatch{});
        require(device_write_slots(store, gpu.copy(std::span(slots)), {gk.data(), gv.data(), DType::f32}, nullptr));
        require(device_copy_blocks(store, GroupId{0}, gpu.copy(std::span(copies)), nullptr));
    }
    require(write_slots(cells.store, slots, {k.data(), v.data(), DType::f32}));
    require(copy_blocks(cells.store, GroupId{0}, copies));
    std::vector<std::uint64_t> prints(blocks.size());
    require(fingerprint_blocks(cells.store, blocks, prints));
    if (has_device) {
        add("write and copy", bytes_on_gpu(store) == bytes_of_store(cells.store));
        const auto found = gpu.array<std::uint64_t>(blocks.size());
        require(device_fingerprint_blocks(store, gpu.copy(std::span(blocks)), found, nullptr));
        add("fingerprint", from_gpu<std::uint64_t>(found) == prints);
    }
}

// Tables to CSR, which is the one that uses CUB, and back.
void check_tables(bool has_device, ordered_json& out) {
    const std::size_t n = 1000;
    const std::size_t width = 8;
    std::vector<Length> lengths(n);
    std::vector<std::int32_t> ids(n * width);
    std::iota(ids.begin(), ids.end(), 1);
    for (std::size_t i = 0; i < n; ++i) {
        lengths[i] = static_cast<Length>(i % 33);
    }
    const SeenRule rule{.window = 9, .sinks = 3};
    std::vector<std::int32_t> indptr(n + 1);
    std::vector<std::int32_t> indices(n * width);
    std::vector<std::int32_t> last(n);
    std::vector<Length> first(n);
    const auto entries = tables_to_csr({ids, width, 4}, lengths, rule, {indptr, indices, last, first});
    if (!has_device || !entries) {
        return;
    }
    indices.resize(static_cast<std::size_t>(*entries));
    OnGpu gpu;
    const CsrArrays arrays{gpu.array<std::int32_t>(n + 1), gpu.array<std::int32_t>(indices.size()),
                           gpu.array<std::int32_t>(n), gpu.array<Length>(n)};
    const auto bytes = csr_workspace_bytes(n);
    require(bytes.map([](std::size_t) {}));
    const PaddedTables tables{gpu.copy(std::span(std::as_const(ids))), width, 4};
    require(device_tables_to_csr(tables, gpu.copy(std::span(std::as_const(lengths))), rule, arrays, gpu.empty(*bytes),
                                 nullptr));
    out.push_back(
        {{"name", "tables to CSR"},
         {"error", nullptr},
         {"ok", from_gpu<std::int32_t>(arrays.indptr) == indptr && from_gpu<std::int32_t>(arrays.indices) == indices &&
                    from_gpu<std::int32_t>(arrays.last_page_len) == last &&
                    from_gpu<Length>(arrays.first_position) == first}});
}

}  // namespace

ordered_json check_all(bool small, bool has_device) {
    ordered_json rows = ordered_json::array();
    check_attentions(small, has_device, rows);
    for (const DType dtype : testing::dtypes) {
        check_cells(dtype, has_device, rows);
    }
    check_tables(has_device, rows);
    return rows;
}

}  // namespace kvpane::gpu

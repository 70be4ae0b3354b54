// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <kvpane/attention/cuda/device_ops.h>

#include "attention/attention_case.h"
#include "attention/stores.h"
#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"

namespace kvpane::gpu {

namespace {

using testing::AttentionCase;

// A store of random cells, the same each time, and the table of the sequence that has them.
struct Cells {
    explicit Cells(DType dtype)
        : made({.block_size = 16, .cells = dtype, .lengths = {100}}, 2), store(made.store.view()) {}

    AttentionCase made;
    const CellStore& store;
    CellRange range{made.tables, 3, 90};
};

std::span<const std::byte> bytes_in(const CellStore& store) {
    const auto* const first = static_cast<const std::byte*>(std::min(store.k, store.v));
    return {first, bytes_of(store.shape)};
}

CellRange copy(OnGpu& gpu, const CellRange& range) { return {gpu.copy(range.table), range.first, range.count}; }

// Rows of f32, on the host and on the device.
struct F32Rows {
    F32Rows(const CellShape& shape, Length cells)
        : k(static_cast<std::size_t>(cells) * shape.kv_heads * shape.head_dim), v(k.size()) {}

    CellRows in() const { return {k.data(), v.data(), DType::f32}; }
    CellRows on(OnGpu& gpu) const {
        return {gpu.copy(std::span<const float>(k)).data(), gpu.copy(std::span<const float>(v)).data(), DType::f32};
    }

    std::vector<float> k;
    std::vector<float> v;
};

F32Rows gathered(const Cells& cells) {
    F32Rows rows(cells.store.shape, cells.range.count);
    require(gather_cells(cells.store, cells.range, {rows.k.data(), rows.v.data(), DType::f32}));
    return rows;
}

// An operation that changes a store: on the host, and on the device from the same store. `before` is not yet changed.
template <class OnHost, class OnDevice>
void check_change(Checks& checks, const std::string& name, const CellStore& before, const CellStore& changed,
                  OnHost on_host, OnDevice on_device) {
    require(on_host(changed));
    checks.add(name + ": " + std::string(to_string(before.shape.dtype)), [&]() -> Outcome {
        OnGpu gpu;
        const CellStore store = gpu.copy(before);
        require(on_device(gpu, store));
        return {std::ranges::equal(from_gpu(bytes_in(store)), bytes_in(changed))};
    });
}

void check_reading(Checks& checks, DType dtype) {
    const std::string of_dtype = ": " + std::string(to_string(dtype));
    const Cells cells(dtype);
    const F32Rows rows = gathered(cells);
    checks.add("gather" + of_dtype, [&]() -> Outcome {
        OnGpu gpu;
        const auto k = gpu.array<float>(rows.k.size());
        const auto v = gpu.array<float>(rows.v.size());
        require(device_gather_cells(gpu.copy(cells.store), copy(gpu, cells.range), {k.data(), v.data(), DType::f32},
                                    nullptr));
        return {from_gpu<float>(k) == rows.k && from_gpu<float>(v) == rows.v};
    });

    F32Rows other = rows;
    other.v[other.v.size() / 2] += 1;
    for (const F32Rows* expected : {&rows, &std::as_const(other)}) {
        CellMismatch mismatch;
        require(compare_cells(cells.store, cells.range, expected->in(), std::nullopt, &mismatch));
        const bool are_equal = mismatch == CellMismatch{};
        checks.add((are_equal ? "compare with what is there" : "compare with something else") + of_dtype,
                   [&]() -> Outcome {
                       OnGpu gpu;
                       const auto scratch = gpu.array<std::uint64_t>(1);
                       const auto found = gpu.array<CellMismatch>(1);
                       require(device_compare_cells(gpu.copy(cells.store), copy(gpu, cells.range), expected->on(gpu),
                                                    std::nullopt, scratch.data(), found.data(), nullptr));
                       return {from_gpu<CellMismatch>(found)[0] == mismatch};
                   });
    }

    const std::vector<FilledBlock> blocks = {{BlockId{1}, 9}, {BlockId{2}, 16}, {BlockId{3}, 0}};
    std::vector<std::uint64_t> prints(blocks.size());
    require(fingerprint_blocks(cells.store, blocks, prints));
    checks.add("fingerprint" + of_dtype, [&]() -> Outcome {
        OnGpu gpu;
        const auto found = gpu.array<std::uint64_t>(blocks.size());
        require(device_fingerprint_blocks(gpu.copy(cells.store), gpu.copy(std::span(blocks)), found, nullptr));
        return {from_gpu<std::uint64_t>(found) == prints};
    });
}

void check_writing(Checks& checks, DType dtype) {
    const Cells before(dtype);
    const CellShape& shape = before.store.shape;
    F32Rows rows = gathered(before);
    std::ranges::reverse(rows.k);
    const Slot block = shape.block_size;
    const std::vector<Slot> slots = {block, no_slot, block + 5, 3 * block - 1};
    {
        const Cells changed(dtype);
        check_change(
            checks, "write to slots", before.store, changed.store,
            [&](const CellStore& store) { return write_slots(store, slots, rows.in()); },
            [&](OnGpu& gpu, const CellStore& store) {
                return device_write_slots(store, gpu.copy(std::span(slots)), rows.on(gpu), nullptr);
            });
    }
    {
        const Cells changed(dtype);
        check_change(
            checks, "scatter", before.store, changed.store,
            [&](const CellStore& store) { return scatter_cells(store, before.range, rows.in()); },
            [&](OnGpu& gpu, const CellStore& store) {
                return device_scatter_cells(store, copy(gpu, before.range), rows.on(gpu), nullptr);
            });
    }
    {
        const std::vector<BlockCopy> copies = {{GroupId{0}, BlockId{3}, BlockId{1}, 9},
                                               {GroupId{1}, BlockId{3}, BlockId{2}, 9},
                                               {GroupId{0}, BlockId{3}, BlockId{4}, 16}};
        const Cells changed(dtype);
        check_change(
            checks, "copy blocks", before.store, changed.store,
            [&](const CellStore& store) { return copy_blocks(store, GroupId{0}, copies); },
            [&](OnGpu& gpu, const CellStore& store) {
                return device_copy_blocks(store, GroupId{0}, gpu.copy(std::span(copies)), nullptr);
            });
    }
    {
        CellShape smaller = shape;
        smaller.blocks = 3;
        HostCellStore other(smaller, CellOrder::hnd, true);
        HostCellStore changed(smaller, CellOrder::hnd, true);
        other.set_scales(before.store.k_scale, before.store.v_scale);
        changed.set_scales(before.store.k_scale, before.store.v_scale);
        const std::vector<BlockPair> pairs = {{BlockId{5}, BlockId{1}}, {BlockId{2}, BlockId{3}}};
        check_change(
            checks, "swap blocks to another layout", other.view(), changed.view(),
            [&](const CellStore& store) { return swap_blocks(before.store, store, pairs); },
            [&](OnGpu& gpu, const CellStore& store) {
                return device_swap_blocks(gpu.copy(before.store), store, gpu.copy(std::span(pairs)), nullptr);
            });
    }
}

}  // namespace

void check_cells(Checks& checks) {
    for (const DType dtype : testing::dtypes) {
        check_reading(checks, dtype);
        check_writing(checks, dtype);
    }
}

}  // namespace kvpane::gpu

// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <numeric>

#include <kvpane/attention/cuda/device_ops.h>

#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"

namespace kvpane::gpu {

namespace {

using nlohmann::ordered_json;

constexpr int rounds = 20;

// Seconds of one call, of which many are queued: the way to the device is hidden.
template <class Call>
double seconds_of(Call call) {
    require(call());
    require(wait_for(nullptr));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) {
        require(call());
    }
    require(wait_for(nullptr));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / rounds;
}

struct Measures {
    double copy_bytes_per_second = 0;
    ordered_json rows = ordered_json::array();

    // `bytes`: those that have to be read and written.
    template <class Call>
    void add(const std::string& name, double bytes, Call call) {
        const double seconds = seconds_of(call);
        if (rows.empty()) {
            copy_bytes_per_second = bytes / seconds;
        }
        rows.push_back({{"name", name},
                        {"microseconds", seconds * 1e6},
                        {"gb_per_s", bytes / seconds / 1e9},
                        {"share_of_copy", bytes / seconds / copy_bytes_per_second}});
    }
};

// 64 sequences of 8192 cells in f16: 2 GiB of K and V, far more than any cache holds.
constexpr std::size_t n_seqs = 64;
constexpr Length length = 8192;
constexpr std::uint32_t kv_heads = 8;
constexpr std::uint32_t head_dim = 128;

struct Load {
    explicit Load(std::uint32_t block_size) : width(static_cast<std::size_t>(length) / block_size) {
        const CellShape shape{static_cast<std::int64_t>(n_seqs * width), block_size, kv_heads, head_dim, DType::f16};
        auto allocated = DeviceCellStore::allocate(shape, CellOrder::hnd, false);
        require(allocated.map([](const DeviceCellStore&) {}));
        store = std::move(*allocated);
        // Odd multiples give every id once, in an order that no prefetcher guesses.
        std::vector<std::int32_t> ids(n_seqs * width);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            ids[i] = static_cast<std::int32_t>(i * 7919 % ids.size()) + 1;
        }
        tables = gpu.copy(std::span(std::as_const(ids)));
        lengths = gpu.copy(std::span(std::as_const(all)));
        bytes = 2.0 * static_cast<double>(n_seqs) * length * kv_heads * head_dim * 2;
    }

    OnGpu gpu;
    std::size_t width;
    DeviceCellStore store;
    std::vector<Length> all = std::vector<Length>(n_seqs, length);
    std::span<const std::int32_t> tables;
    std::span<const Length> lengths;
    double bytes = 0;
};

void measure_decode(Load& load, std::uint32_t block_size, Measures& measures) {
    for (const std::uint32_t group : {1U, 4U, 8U}) {
        OnGpu gpu;
        const std::size_t elements = n_seqs * kv_heads * group * head_dim;
        const auto queries = gpu.empty(elements * 2);
        require(clear_device(queries));
        const auto out = gpu.empty(elements * 2);
        const AttentionProblem problem{.cells = load.store.view(),
                                       .rule = {},
                                       .query_heads = kv_heads * group,
                                       .tables = load.tables,
                                       .width = load.width,
                                       .lengths = load.lengths,
                                       .queries = {queries.data(), DType::f16}};
        const DeviceBounds bounds{.rows = n_seqs, .most_rows = 1, .longest = length};
        const auto workspace = gpu.empty(device_workspace_bytes(problem, bounds));
        const AttentionResult result{.out = {out.data(), DType::f16}, .lse = {}};
        measures.add("decode f16, G " + std::to_string(group) + ", block size " + std::to_string(block_size),
                     load.bytes, [&] { return device_attention(problem, bounds, workspace, result, nullptr); });
    }
}

void measure_cells(Load& load, Measures& measures) {
    const CellStore& store = load.store.view();
    const CellRange range{load.tables.first(load.width), 0, length};
    const double bytes = 2 * load.bytes / n_seqs;  // read and written
    const std::size_t elements = static_cast<std::size_t>(length) * kv_heads * head_dim;
    const auto k = load.gpu.empty(elements * 2);
    const auto v = load.gpu.empty(elements * 2);
    measures.add("gather f16, one sequence", bytes, [&] {
        return device_gather_cells(store, range, {k.data(), v.data(), DType::f16}, nullptr);
    });
    measures.add("scatter f16, one sequence", bytes, [&] {
        return device_scatter_cells(store, range, {k.data(), v.data(), DType::f16}, nullptr);
    });
    std::vector<BlockCopy> copies;
    std::vector<FilledBlock> blocks;
    const auto half = static_cast<std::uint32_t>(store.shape.blocks / 2);
    for (std::uint32_t i = 1; i <= half; ++i) {
        copies.push_back({GroupId{0}, BlockId{i}, BlockId{half + i}, store.shape.block_size});
        blocks.push_back({BlockId{i}, store.shape.block_size});
    }
    const auto device_copies = load.gpu.copy(std::span(std::as_const(copies)));
    const auto device_blocks = load.gpu.copy(std::span(std::as_const(blocks)));
    const auto prints = load.gpu.array<std::uint64_t>(blocks.size());
    measures.add("copy of half of all blocks", load.bytes,
                 [&] { return device_copy_blocks(store, GroupId{0}, device_copies, nullptr); });
    measures.add("fingerprint of half of all blocks", load.bytes / 2,
                 [&] { return device_fingerprint_blocks(store, device_blocks, prints, nullptr); });
}

}  // namespace

ordered_json measure_all() {
    Measures measures;
    {
        OnGpu gpu;
        constexpr std::size_t bytes = std::size_t{1} << 30U;
        const auto to = gpu.empty(bytes);
        const auto from = gpu.empty(bytes);
        measures.add("copy of 1 GiB", 2.0 * bytes, [&] { return copy_within_device(to, from, nullptr); });
    }
    for (const std::uint32_t block_size : {16U, 64U}) {
        Load load(block_size);
        measure_decode(load, block_size, measures);
        if (block_size == 16) {
            measure_cells(load, measures);
        }
    }
    return measures.rows;
}

}  // namespace kvpane::gpu

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <kvpane/attention/cuda/device_ops.h>
#include <kvpane/attention/elements.h>

#include "gpu/decode_dump.h"
#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"
#include "support/workloads.h"

namespace kvpane::gpu {

namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kv_heads = 8;
constexpr std::uint32_t head_dim = 128;
constexpr std::size_t cell_bytes = std::size_t{kv_heads} * head_dim * 2;  // of K, in f16

struct Extent {
    std::size_t n_seqs;
    Length length;
    std::size_t dumped;  // sequences
    std::size_t copied;  // [bytes] by the measure of all others
    int rounds;

    // [bytes] of one sequence, K or V alone
    std::size_t rows_bytes() const { return static_cast<std::size_t>(length) * cell_bytes; }
};
// 2 GiB of K and V, far more than any cache holds.
constexpr Extent full{.n_seqs = 64, .length = 8192, .dumped = 8, .copied = std::size_t{1} << 30U, .rounds = 20};
constexpr Extent small_extent{.n_seqs = 2, .length = 64, .dumped = 1, .copied = std::size_t{1} << 20U, .rounds = 1};

// Seconds of one call, of which many are queued: the way to the device is hidden.
template <class Call>
double seconds_of(int rounds, Call call) {
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
    int rounds = 1;
    double copy_bytes_per_second = 0;
    ordered_json rows = ordered_json::array();

    // `bytes`: those that have to be read and written. Gives the seconds of a call.
    template <class Call>
    double add(const std::string& name, double bytes, Call call) {
        const double seconds = seconds_of(rounds, call);
        if (rows.empty()) {
            copy_bytes_per_second = bytes / seconds;
        }
        rows.push_back({{"name", name},
                        {"microseconds", seconds * 1e6},
                        {"gb_per_s", bytes / seconds / 1e9},
                        {"share_of_copy", bytes / seconds / copy_bytes_per_second}});
        return seconds;
    }
};

// Numbers of f16 between -1 and 1.
std::vector<std::uint16_t> drawn(std::size_t n, std::uint64_t seed) {
    testing::Lcg lcg(seed);
    std::vector<std::uint16_t> out(n);
    for (std::size_t i = 0; i < n; ++i) {
        write_element(out.data(), DType::f16, i, static_cast<float>(lcg.below(2048)) / 1024.0F - 1);
    }
    return out;
}

struct Load {
    Load(const Extent& of, std::uint32_t block_size)
        : extent(of), width(static_cast<std::size_t>(of.length) / block_size), all(of.n_seqs, of.length) {
        const CellShape shape{static_cast<std::int64_t>(of.n_seqs * width), block_size, kv_heads, head_dim, DType::f16};
        auto allocated = DeviceCellStore::allocate(shape, CellOrder::hnd, false);
        require(allocated.map([](const DeviceCellStore&) {}));
        store = std::move(*allocated);
        // Odd multiples give every id once, in an order that no prefetcher guesses.
        std::vector<std::int32_t> ids(of.n_seqs * width);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            ids[i] = static_cast<std::int32_t>(i * 7919 % ids.size()) + 1;
        }
        tables = gpu.copy(std::span(std::as_const(ids)));
        lengths = gpu.copy(std::span(std::as_const(all)));
        bytes = 2.0 * static_cast<double>(of.n_seqs * of.rows_bytes());
        fill();
    }

    CellRange cells_of(std::size_t sequence) const {
        return {tables.subspan(sequence * width, width), 0, extent.length};
    }

    OnGpu gpu;
    Extent extent;
    std::size_t width;
    DeviceCellStore store;
    std::vector<Length> all;
    std::span<const std::int32_t> tables;
    std::span<const Length> lengths;
    double bytes = 0;

private:
    // Sequence i has the same random cells, from the i-th one on.
    void fill() const {
        OnGpu rows;
        const std::size_t numbers = (static_cast<std::size_t>(extent.length) + extent.n_seqs) * cell_bytes / 2;
        const std::vector<std::uint16_t> k = drawn(numbers, 1);
        const std::vector<std::uint16_t> v = drawn(numbers, 2);
        const auto k_on_device = std::as_bytes(rows.copy(std::span(k)));
        const auto v_on_device = std::as_bytes(rows.copy(std::span(v)));
        for (std::size_t i = 0; i < extent.n_seqs; ++i) {
            require(device_scatter_cells(store.view(), cells_of(i),
                                         {&k_on_device[i * cell_bytes], &v_on_device[i * cell_bytes], DType::f16},
                                         nullptr));
        }
        require(wait_for(nullptr));
    }
};

void dump_cells(const Load& load, const DecodeDump& dump) {
    const std::size_t bytes = load.extent.rows_bytes();
    OnGpu gpu;
    const auto k = gpu.empty(load.extent.dumped * bytes);
    const auto v = gpu.empty(load.extent.dumped * bytes);
    for (std::size_t i = 0; i < load.extent.dumped; ++i) {
        require(device_gather_cells(load.store.view(), load.cells_of(i), {&k[i * bytes], &v[i * bytes], DType::f16},
                                    nullptr));
    }
    dump.add_cells(from_gpu<std::byte>(k), from_gpu<std::byte>(v));
}

// `dump` may be null.
void measure_decode(const Load& load, std::uint32_t block_size, Measures& measures, DecodeDump* dump) {
    for (const std::uint32_t group : {1U, 4U, 8U}) {
        OnGpu gpu;
        const std::size_t n_seqs = load.extent.n_seqs;
        const std::vector<std::uint16_t> rows = drawn(n_seqs * kv_heads * group * head_dim, group);
        const auto queries = std::as_bytes(gpu.copy(std::span(rows)));
        const auto out = gpu.empty(queries.size());
        const AttentionProblem problem{.cells = load.store.view(),
                                       .rule = {},
                                       .query_heads = kv_heads * group,
                                       .tables = load.tables,
                                       .width = load.width,
                                       .lengths = load.lengths,
                                       .queries = {queries.data(), DType::f16}};
        const DeviceBounds bounds{.rows = n_seqs, .most_rows = 1, .longest = load.extent.length};
        const auto workspace = gpu.empty(device_workspace_bytes(problem, bounds));
        const AttentionResult result{.out = {out.data(), DType::f16}, .lse = {}};
        const double seconds =
            measures.add("decode f16, G " + std::to_string(group) + ", block size " + std::to_string(block_size),
                         load.bytes, [&] { return device_attention(problem, bounds, workspace, result, nullptr); });
        if (dump != nullptr) {
            const std::size_t dumped = queries.size() / n_seqs * load.extent.dumped;
            dump->add_decode(group, from_gpu(queries.first(dumped)),
                             from_gpu(std::span<const std::byte>(out.first(dumped))), seconds * 1e6);
        }
    }
}

void measure_cells(Load& load, Measures& measures) {
    const CellStore& store = load.store.view();
    const CellRange range = load.cells_of(0);
    const std::size_t rows = load.extent.rows_bytes();
    const double bytes = 4.0 * static_cast<double>(rows);  // K and V, read and written
    const auto k = load.gpu.empty(rows);
    const auto v = load.gpu.empty(rows);
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

ordered_json measure_all(bool small, const std::filesystem::path& dump_folder) {
    const Extent& extent = small ? small_extent : full;
    Measures measures{.rounds = extent.rounds};
    {
        OnGpu gpu;
        const auto to = gpu.empty(extent.copied);
        const auto from = gpu.empty(extent.copied);
        measures.add("copy within the device", 2.0 * static_cast<double>(extent.copied),
                     [&] { return copy_within_device(to, from, nullptr); });
    }
    {
        Load load(extent, 16);
        std::optional<DecodeDump> dump;
        if (!dump_folder.empty()) {
            dump.emplace(dump_folder, load.store.view().shape, extent.dumped, extent.length,
                         extent.n_seqs / extent.dumped);
            dump_cells(load, *dump);
        }
        measure_decode(load, 16, measures, dump ? &*dump : nullptr);
        measure_cells(load, measures);
    }
    const Load load(extent, 64);
    measure_decode(load, 64, measures, nullptr);
    return measures.rows;
}

}  // namespace kvpane::gpu

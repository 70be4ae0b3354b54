// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <vector>

#include <kvpane/attention/cuda/device_ops.h>

#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"

namespace kvpane::gpu {

namespace {

constexpr std::size_t n_seqs = 1000;
constexpr std::size_t width = 9;
constexpr std::uint32_t block_size = 4;

struct Csr {
    CsrArrays arrays() { return {indptr, indices, last_page_len, first_position}; }
    friend bool operator==(const Csr&, const Csr&) = default;

    std::vector<std::int32_t> indptr = std::vector<std::int32_t>(n_seqs + 1);
    std::vector<std::int32_t> indices = std::vector<std::int32_t>(n_seqs * width);
    std::vector<std::int32_t> last_page_len = std::vector<std::int32_t>(n_seqs);
    std::vector<Length> first_position = std::vector<Length>(n_seqs);
};

}  // namespace

void check_tables(Checks& checks) {
    std::vector<Length> lengths(n_seqs);
    std::vector<Length> positions(n_seqs);
    std::vector<std::int32_t> ids(n_seqs * width);
    std::iota(ids.begin(), ids.end(), 1);
    for (std::size_t i = 0; i < n_seqs; ++i) {
        lengths[i] = static_cast<Length>(i % 33);
        positions[i] = static_cast<Length>(i % 36);
    }
    const PaddedTables tables{ids, width, block_size};
    const SeenRule rule{.window = 9, .sinks = 3};
    Csr csr;
    require(tables_to_csr(tables, lengths, rule, csr.arrays()).map([](std::int64_t) {}));
    // The one that uses CUB.
    checks.add("tables to CSR", [&]() -> Outcome {
        OnGpu gpu;
        const CsrArrays arrays{gpu.array<std::int32_t>(n_seqs + 1), gpu.array<std::int32_t>(csr.indices.size()),
                               gpu.array<std::int32_t>(n_seqs), gpu.array<Length>(n_seqs)};
        require(clear_device(std::as_writable_bytes(arrays.indices)));
        const auto bytes = csr_workspace_bytes(n_seqs);
        require(bytes.map([](std::size_t) {}));
        require(device_tables_to_csr({gpu.copy(tables.ids), width, block_size},
                                     gpu.copy(std::span(std::as_const(lengths))), rule, arrays, gpu.empty(*bytes),
                                     nullptr));
        return {Csr{from_gpu<std::int32_t>(arrays.indptr), from_gpu<std::int32_t>(arrays.indices),
                    from_gpu<std::int32_t>(arrays.last_page_len), from_gpu<Length>(arrays.first_position)} == csr};
    });

    const CsrTables compact{csr.indptr, csr.indices, csr.first_position, rule.sinks, block_size};
    std::vector<std::int32_t> padded(n_seqs * width);
    require(csr_to_tables(compact, width, padded));
    checks.add("CSR to tables", [&]() -> Outcome {
        OnGpu gpu;
        const auto found = gpu.array<std::int32_t>(padded.size());
        require(device_csr_to_tables({gpu.copy(compact.indptr), gpu.copy(compact.indices),
                                      gpu.copy(compact.first_position), rule.sinks, block_size},
                                     width, found, nullptr));
        return {from_gpu<std::int32_t>(found) == padded};
    });

    std::vector<Slot> slots(n_seqs);
    require(slots_of_positions(tables, {}, positions, slots));
    checks.add("slots of positions", [&]() -> Outcome {
        OnGpu gpu;
        const auto found = gpu.array<Slot>(n_seqs);
        require(device_slots_of_positions({gpu.copy(tables.ids), width, block_size}, {},
                                          gpu.copy(std::span(std::as_const(positions))), found, nullptr));
        return {from_gpu<Slot>(found) == slots};
    });
}

}  // namespace kvpane::gpu

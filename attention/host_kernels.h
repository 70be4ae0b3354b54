// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kvpane/attention/dtype.h>

// The inner loops of host_attention(), for one way to compute and one dtype of cells. A tile is a handful of cells that
// some query rows see all of.
namespace kvpane {

// Cells of a tile: K and V of it stay in the first-level cache, 16 KiB for f32 and head_dim 128.
inline constexpr std::size_t tile_cells = 16;

// Cells, by the address of element 0 of their head. `ahead`: what will be read next, fetched meanwhile; may be null.
struct CellRows {
    const void* const* rows = nullptr;   // [cells]
    const void* const* ahead = nullptr;  // [cells]
    std::size_t cells = 0;
};

// Query rows and what is known of them so far: the softmax over the cells that passed by, not yet divided by its sum.
struct QueryTile {
    std::size_t rows = 0;
    std::size_t head_dim = 0;        // a multiple of 8
    const float* queries = nullptr;  // [rows, head_dim] times the scale
    float* out = nullptr;            // [rows, head_dim]
    float* largest = nullptr;        // [rows] logit, -inf before the first tile
    float* sum = nullptr;            // [rows] of exp(logit - largest)
    float* factors = nullptr;        // [rows] what `out` has to be multiplied with, as its `largest` grew
    float* weights = nullptr;        // [rows, tile_cells] logits, then exp(logit - largest)
};

struct HostKernels {
    // weights = queries * K^T
    void (*logits)(const QueryTile& tile, const CellRows& k);
    // weights = exp(soft_cap(weights) - largest), with largest, sum and factors brought up to date
    void (*weigh)(const QueryTile& tile, std::size_t cells, float soft_cap);
    // out = out * factors + weights * V
    void (*accumulate)(const QueryTile& tile, const CellRows& v);
};

HostKernels portable_kernels(DType cells) noexcept;
// REQUIRES a processor with AVX2, FMA and F16C. All null where the compiler does not know them.
HostKernels avx2_kernels(DType cells) noexcept;

}  // namespace kvpane

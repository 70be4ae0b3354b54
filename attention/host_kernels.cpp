// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <kvpane/attention/host_kernels.h>
#include <kvpane/attention/number_formats.h>

// The portable kernels: what the others have to give, too.
namespace kvpane {

namespace {

// How cells are stored, and how an element becomes a float.
struct Float {
    using Stored = float;
    static float widen(float value) noexcept { return value; }
};
template <class Format, class Bits>
struct Narrow {
    using Stored = Bits;
    static float widen(Bits bits) noexcept { return Format::widen(bits); }
};

template <class Type>
void logits(const QueryTile& tile, const CellRows& k) {
    for (std::size_t cell = 0; cell < k.cells; ++cell) {
        const auto* key = static_cast<const typename Type::Stored*>(k.rows[cell]);
        for (std::size_t row = 0; row < tile.rows; ++row) {
            const float* query = tile.queries + row * tile.head_dim;
            float sums[8] = {};  // several, so that they need not wait for one another
            for (std::size_t d = 0; d < tile.head_dim; d += 8) {
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    sums[lane] += query[d + lane] * Type::widen(key[d + lane]);
                }
            }
            tile.weights[row * tile_cells + cell] =
                ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
        }
    }
}

void weigh(const QueryTile& tile, std::size_t cells, float soft_cap) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
        float* weights = tile.weights + row * tile_cells;
        if (soft_cap > 0) {
            std::transform(weights, weights + cells, weights,
                           [&](float logit) { return soft_cap * std::tanh(logit / soft_cap); });
        }
        const float before = tile.largest[row];
        const float largest = std::max(before, *std::max_element(weights, weights + cells));
        const float base = largest == -std::numeric_limits<float>::infinity() ? 0 : largest;
        const float factor = std::exp(before - base);
        float sum = tile.sum[row] * factor;
        for (std::size_t cell = 0; cell < cells; ++cell) {
            weights[cell] = std::exp(weights[cell] - base);
            sum += weights[cell];
        }
        tile.largest[row] = largest;
        tile.sum[row] = sum;
        tile.factors[row] = factor;
    }
}

template <class Type>
void accumulate(const QueryTile& tile, const CellRows& v) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
        float* out = tile.out + row * tile.head_dim;
        std::transform(out, out + tile.head_dim, out, [&](float value) { return value * tile.factors[row]; });
        for (std::size_t cell = 0; cell < v.cells; ++cell) {
            const auto* value = static_cast<const typename Type::Stored*>(v.rows[cell]);
            const float weight = tile.weights[row * tile_cells + cell];
            for (std::size_t d = 0; d < tile.head_dim; ++d) {
                out[d] += weight * Type::widen(value[d]);
            }
        }
    }
}

template <class Type>
constexpr HostKernels kernels{logits<Type>, weigh, accumulate<Type>};

}  // namespace

HostKernels portable_kernels(DType cells) noexcept {
    switch (cells) {
        case DType::f32: return kernels<Float>;
        case DType::f16: return kernels<Narrow<F16, std::uint16_t>>;
        case DType::bf16: return kernels<Narrow<BF16, std::uint16_t>>;
        case DType::e4m3: return kernels<Narrow<E4M3, std::uint8_t>>;
        case DType::e5m2: return kernels<Narrow<E5M2, std::uint8_t>>;
    }
    return {};
}

}  // namespace kvpane

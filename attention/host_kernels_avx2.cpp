// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_kernels.h>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#    include <immintrin.h>

#    include <cstddef>
#    include <cstdint>
#    include <cstring>
#    include <limits>

// This file alone is compiled for AVX2. Nothing here may be an inline function of somebody else's header: the linker
// could give it to callers that run on older processors.
//
// Registers: a block of 4 query rows and 2 cells (or 2 and 4, 1 and 8) keeps 8 sums, so that each element of K or V that
// is loaded, and widened, serves 4 rows, and 8 multiplications are in flight (two a cycle with a latency of four).
namespace kvpane {

namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t cache_line = 64;

// How 8 elements of a cell become floats, exactly as number_formats.h says.
struct Float {
    using Stored = float;
    static __m256 load(const float* at) noexcept { return _mm256_loadu_ps(at); }
};

struct Half {
    using Stored = std::uint16_t;
    static __m256 load(const std::uint16_t* at) noexcept {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    }
};

struct Brain {
    using Stored = std::uint16_t;
    static __m256 load(const std::uint16_t* at) noexcept {
        const __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
        return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
    }
};

__m128i load_bytes(const std::uint8_t* at) noexcept { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); }

struct E4M3Bytes {
    using Stored = std::uint8_t;
    static __m256 load(const std::uint8_t* at) noexcept {
        // The bits in their places in an f16, of which the exponent's bias is larger by 15 - 7: subnormals come right.
        const __m128i spread = _mm_slli_epi16(_mm_cvtepi8_epi16(load_bytes(at)), 7);
        const __m128i half = _mm_and_si128(spread, _mm_set1_epi16(static_cast<short>(0xbf80)));
        const __m128i magnitude = _mm_and_si128(spread, _mm_set1_epi16(0x3f80));
        const __m128i nan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x3f80));
        return _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(half, nan)), _mm256_set1_ps(0x1p8F));
    }
};

struct E5M2Bytes {
    using Stored = std::uint8_t;
    static __m256 load(const std::uint8_t* at) noexcept {  // the upper half of an f16
        return _mm256_cvtph_ps(_mm_slli_epi16(_mm_cvtepu8_epi16(load_bytes(at)), 8));
    }
};

template <class Cells>
const typename Cells::Stored* cell_at(const void* const* rows, std::size_t cell) noexcept {
    return static_cast<const typename Cells::Stored*>(rows[cell]);
}

float sum_of(__m256 x) noexcept {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

float largest_of(__m256 x) noexcept {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// The sums of 8 vectors.
__m256 sums_of(const __m256* x) noexcept {
    const __m256 low = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    const __m256 high = _mm256_hadd_ps(_mm256_hadd_ps(x[4], x[5]), _mm256_hadd_ps(x[6], x[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31));
}

void fetch(const void* memory, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += cache_line) {
        _mm_prefetch(static_cast<const char*>(memory) + i, _MM_HINT_T0);
    }
}

// The logits of `rows` query rows from `row` on and of `count` cells from `cell` on.
template <class Cells, std::size_t rows, std::size_t count>
void logits_of_block(const QueryTile& tile, const CellRows& k, std::size_t row, std::size_t cell) noexcept {
    const float* queries = tile.queries + row * tile.head_dim;
    __m256 sums[rows * count];
#    pragma GCC unroll 8
    for (std::size_t i = 0; i < rows * count; ++i) {
        sums[i] = _mm256_setzero_ps();
    }
    for (std::size_t d = 0; d < tile.head_dim; d += lanes) {
        __m256 keys[count];
#    pragma GCC unroll 8
        for (std::size_t c = 0; c < count; ++c) {
            keys[c] = Cells::load(cell_at<Cells>(k.rows, cell + c) + d);
        }
#    pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
            __m256 query = _mm256_loadu_ps(queries + r * tile.head_dim + d);
            asm("" : "+x"(query));  // else g++ loads it again for each cell, and loads are what limits this loop
#    pragma GCC unroll 8
            for (std::size_t c = 0; c < count; ++c) {
                sums[r * count + c] = _mm256_fmadd_ps(query, keys[c], sums[r * count + c]);
            }
        }
    }
    float logits[rows * count];
    if constexpr (rows * count == lanes) {
        _mm256_storeu_ps(logits, sums_of(sums));
    } else {
        for (std::size_t i = 0; i < rows * count; ++i) {
            logits[i] = sum_of(sums[i]);
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        std::memcpy(tile.weights + (row + r) * tile_cells + cell, logits + r * count, count * sizeof(float));
    }
}

template <class Cells, std::size_t rows>
void logits_of_rows(const QueryTile& tile, const CellRows& k, std::size_t row) noexcept {
    constexpr std::size_t step = lanes / rows;
    // What is fetched ahead is spread evenly over all blocks: these rows' share of each cell.
    const std::size_t bytes = k.ahead == nullptr ? 0 : tile.head_dim * sizeof(typename Cells::Stored);
    const std::size_t begin = bytes * row / tile.rows;
    const std::size_t end = bytes * (row + rows) / tile.rows;
    std::size_t cell = 0;
    for (; cell + step <= k.cells; cell += step) {
        for (std::size_t c = cell; c < cell + step && end > 0; ++c) {
            fetch(static_cast<const std::byte*>(k.ahead[c]) + begin, end - begin);
        }
        logits_of_block<Cells, rows, step>(tile, k, row, cell);
    }
    for (; cell < k.cells; ++cell) {
        logits_of_block<Cells, rows, 1>(tile, k, row, cell);
    }
}

template <class Cells>
void logits(const QueryTile& tile, const CellRows& k) {
    std::size_t row = 0;
    for (; row + 4 <= tile.rows; row += 4) {
        logits_of_rows<Cells, 4>(tile, k, row);
    }
    for (; row + 2 <= tile.rows; row += 2) {
        logits_of_rows<Cells, 2>(tile, k, row);
    }
    for (; row < tile.rows; ++row) {
        logits_of_rows<Cells, 1>(tile, k, row);
    }
}

// exp(x) for x <= 0 to 1 ulp (the polynomial of Cephes' expf); 0 where it would be subnormal, NaN for NaN.
__m256 exp_of(__m256 x) noexcept {
    const __m256 least = _mm256_set1_ps(-87.33654F);
    const __m256 too_small = _mm256_cmp_ps(x, least, _CMP_LT_OQ);
    x = _mm256_max_ps(least, x);  // gives the second operand if one is NaN
    const __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504088896341F)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375F), x);  // ln 2 in two parts
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(2.12194440e-4F), r);
    __m256 p = _mm256_set1_ps(1.9875691500E-4F);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507E-3F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073E-3F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894E-2F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459E-1F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201E-1F));
    p = _mm256_fmadd_ps(_mm256_mul_ps(r, r), p, _mm256_add_ps(r, _mm256_set1_ps(1)));
    const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_andnot_ps(too_small, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

// tanh(x): Cephes' polynomial around 0, else (1 - e) / (1 + e) with e = exp(-2 |x|).
__m256 tanh_of(__m256 x) noexcept {
    const __m256 sign = _mm256_set1_ps(-0.0F);
    const __m256 magnitude = _mm256_andnot_ps(sign, x);
    const __m256 one = _mm256_set1_ps(1);
    const __m256 e = exp_of(_mm256_mul_ps(magnitude, _mm256_set1_ps(-2)));
    const __m256 far = _mm256_div_ps(_mm256_sub_ps(one, e), _mm256_add_ps(one, e));
    const __m256 square = _mm256_mul_ps(x, x);
    __m256 p = _mm256_set1_ps(-5.70498872745E-3F);
    p = _mm256_fmadd_ps(p, square, _mm256_set1_ps(2.06390887954E-2F));
    p = _mm256_fmadd_ps(p, square, _mm256_set1_ps(-5.37397155531E-2F));
    p = _mm256_fmadd_ps(p, square, _mm256_set1_ps(1.33314422036E-1F));
    p = _mm256_fmadd_ps(p, square, _mm256_set1_ps(-3.33332819422E-1F));
    const __m256 near = _mm256_fmadd_ps(_mm256_mul_ps(p, square), x, x);
    const __m256 is_near = _mm256_cmp_ps(magnitude, _mm256_set1_ps(0.625F), _CMP_LT_OQ);
    return _mm256_blendv_ps(_mm256_or_ps(far, _mm256_and_ps(sign, x)), near, is_near);
}

void weigh(const QueryTile& tile, std::size_t cells, float soft_cap) {
    constexpr float nothing = -std::numeric_limits<float>::infinity();
    const std::size_t padded = (cells + lanes - 1) / lanes * lanes;
    for (std::size_t row = 0; row < tile.rows; ++row) {
        float* weights = tile.weights + row * tile_cells;
        if (soft_cap > 0) {
            const __m256 cap = _mm256_set1_ps(soft_cap);
            const __m256 inverse = _mm256_set1_ps(1 / soft_cap);
            for (std::size_t c = 0; c < cells; c += lanes) {
                const __m256 logit = _mm256_mul_ps(_mm256_loadu_ps(weights + c), inverse);
                _mm256_storeu_ps(weights + c, _mm256_mul_ps(cap, tanh_of(logit)));
            }
        }
        for (std::size_t c = cells; c < padded; ++c) {
            weights[c] = nothing;
        }

        __m256 most = _mm256_set1_ps(tile.largest[row]);
        for (std::size_t c = 0; c < cells; c += lanes) {
            most = _mm256_max_ps(_mm256_loadu_ps(weights + c), most);
        }
        const float before = tile.largest[row];
        const float largest = largest_of(most);
        const float base = largest == nothing ? 0 : largest;
        const float factor = before == largest ? 1 : _mm256_cvtss_f32(exp_of(_mm256_set1_ps(before - base)));
        __m256 sum = _mm256_setzero_ps();
        for (std::size_t c = 0; c < cells; c += lanes) {
            const __m256 weight = exp_of(_mm256_sub_ps(_mm256_loadu_ps(weights + c), _mm256_set1_ps(base)));
            _mm256_storeu_ps(weights + c, weight);
            sum = _mm256_add_ps(sum, weight);
        }
        tile.largest[row] = largest;
        tile.sum[row] = tile.sum[row] * factor + sum_of(sum);
        tile.factors[row] = factor;
    }
}

// Adds to `vectors` * 8 elements of `rows` rows.
template <class Cells, std::size_t rows, std::size_t vectors>
void accumulate_block(const QueryTile& tile, const CellRows& v, std::size_t row, std::size_t d) noexcept {
    float* out = tile.out + row * tile.head_dim + d;
    __m256 sums[rows * vectors];
#    pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
        const __m256 factor = _mm256_set1_ps(tile.factors[row + r]);
#    pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i) {
            sums[r * vectors + i] = _mm256_mul_ps(factor, _mm256_loadu_ps(out + r * tile.head_dim + i * lanes));
        }
    }
    // These rows' share of the cells is fetched ahead.
    const bool fetches = v.ahead != nullptr && d * sizeof(typename Cells::Stored) % cache_line == 0;
    const std::size_t fetch_begin = fetches ? v.cells * row / tile.rows : v.cells;
    const std::size_t fetch_end = v.cells * (row + rows) / tile.rows;
    for (std::size_t cell = 0; cell < v.cells; ++cell) {
        if (cell >= fetch_begin && cell < fetch_end) {
            fetch(cell_at<Cells>(v.ahead, cell) + d, vectors * lanes * sizeof(typename Cells::Stored));
        }
        __m256 values[vectors];
#    pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i) {
            values[i] = Cells::load(cell_at<Cells>(v.rows, cell) + d + i * lanes);
        }
#    pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
            const __m256 weight = _mm256_broadcast_ss(tile.weights + (row + r) * tile_cells + cell);
#    pragma GCC unroll 8
            for (std::size_t i = 0; i < vectors; ++i) {
                sums[r * vectors + i] = _mm256_fmadd_ps(weight, values[i], sums[r * vectors + i]);
            }
        }
    }
#    pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
#    pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i) {
            _mm256_storeu_ps(out + r * tile.head_dim + i * lanes, sums[r * vectors + i]);
        }
    }
}

template <class Cells, std::size_t rows>
void accumulate_rows(const QueryTile& tile, const CellRows& v, std::size_t row) noexcept {
    constexpr std::size_t vectors = lanes / rows;
    std::size_t d = 0;
    for (; d + vectors * lanes <= tile.head_dim; d += vectors * lanes) {
        accumulate_block<Cells, rows, vectors>(tile, v, row, d);
    }
    for (; d < tile.head_dim; d += lanes) {
        accumulate_block<Cells, rows, 1>(tile, v, row, d);
    }
}

template <class Cells>
void accumulate(const QueryTile& tile, const CellRows& v) {
    std::size_t row = 0;
    for (; row + 4 <= tile.rows; row += 4) {
        accumulate_rows<Cells, 4>(tile, v, row);
    }
    for (; row + 2 <= tile.rows; row += 2) {
        accumulate_rows<Cells, 2>(tile, v, row);
    }
    for (; row < tile.rows; ++row) {
        accumulate_rows<Cells, 1>(tile, v, row);
    }
}

template <class Cells>
constexpr HostKernels kernels{logits<Cells>, weigh, accumulate<Cells>};

}  // namespace

HostKernels avx2_kernels(DType cells) noexcept {
    switch (cells) {
        case DType::f32: return kernels<Float>;
        case DType::f16: return kernels<Half>;
        case DType::bf16: return kernels<Brain>;
        case DType::e4m3: return kernels<E4M3Bytes>;
        case DType::e5m2: return kernels<E5M2Bytes>;
    }
    return {};
}

}  // namespace kvpane

#else

namespace kvpane {

HostKernels avx2_kernels(DType) noexcept { return {}; }

}  // namespace kvpane

#endif

// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/memory_floors.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "benchmarks/bench.h"

#if defined(__x86_64__)
#    include <immintrin.h>
#endif

namespace kvpane::bench {

void read(std::span<const std::span<const std::byte>> pieces) {
    std::array<std::uint64_t, 8> sums{};
    for (const auto piece : pieces) {
        for (std::size_t at = 0; at + sizeof sums <= piece.size(); at += sizeof sums) {
            std::array<std::uint64_t, 8> line;
            std::memcpy(&line, piece.data() + at, sizeof line);
            for (std::size_t i = 0; i < line.size(); ++i) {
                sums[i] ^= line[i];
            }
        }
    }
    keep(&sums);
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) void multiply_add(double count) {
    constexpr std::size_t vectors = 10;  // two a cycle with a latency of four or five
    __m256 sums[vectors];
    for (std::size_t i = 0; i < vectors; ++i) {
        sums[i] = _mm256_set1_ps(static_cast<float>(i));  // no two alike, or the compiler would compute one for all
    }
    const __m256 factor = _mm256_set1_ps(0.5F);
    const auto rounds = static_cast<std::size_t>(count) / (8 * vectors);
    for (std::size_t round = 0; round < rounds; ++round) {
#    pragma GCC unroll 10
        for (std::size_t i = 0; i < vectors; ++i) {
            sums[i] = _mm256_fmadd_ps(sums[i], factor, factor);
        }
    }
    keep(sums);
}

#else

void multiply_add(double count) {
    std::array<float, 32> sums{};
    for (std::size_t round = 0; round < static_cast<std::size_t>(count) / sums.size(); ++round) {
        for (float& sum : sums) {
            sum = sum * 0.5F + 0.5F;
        }
    }
    keep(&sums);
}

#endif

}  // namespace kvpane::bench

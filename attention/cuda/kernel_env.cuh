// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __CUDACC__
#    include <cstring>
#endif

// What a kernel sees of the machine that it runs on. The kernels are written once, in these words: nvcc compiles them
// for devices; any C++ compiler compiles them for whoever gives the functions of `emulated` (tests/emulator does).
namespace kvpane::cuda {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffU;

struct Index3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

#ifdef __CUDACC__

#    define KVPANE_KERNEL static __global__
#    define KVPANE_DEVICE __device__ __forceinline__
#    define KVPANE_BOTH __host__ __device__ __forceinline__  // needed by kernels and by who launches them
#    define KVPANE_MOST_THREADS(threads) __launch_bounds__(threads)
#    define KVPANE_UNROLL _Pragma("unroll")  // what is indexed inside stays in registers

KVPANE_DEVICE unsigned thread_index() { return threadIdx.x; }
KVPANE_DEVICE unsigned thread_count() { return blockDim.x; }
KVPANE_DEVICE Index3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
KVPANE_DEVICE Index3 grid_size() { return {gridDim.x, gridDim.y, gridDim.z}; }

// The memory that the threads of a block share, as many bytes as the launch says; 16-byte aligned, not initialised.
KVPANE_DEVICE std::byte* shared_memory() {
    extern __shared__ uint4 kvpane_shared[];
    return reinterpret_cast<std::byte*>(kvpane_shared);
}

// All threads of the block come here before any goes on.
KVPANE_DEVICE void sync_block() { __syncthreads(); }

// out[i] = values[i] of lane (this lane XOR offset). All lanes of the warp take part.
template <unsigned n>
KVPANE_DEVICE void shuffle_xor(const float (&values)[n], float (&out)[n], unsigned offset) {
    KVPANE_UNROLL
    for (unsigned i = 0; i < n; ++i) {
        out[i] = __shfl_xor_sync(all_lanes, values[i], static_cast<int>(offset));
    }
}

// Bit i: what lane i says. All lanes of the warp take part.
KVPANE_DEVICE unsigned ballot(bool vote) { return __ballot_sync(all_lanes, vote); }

KVPANE_DEVICE void atomic_min(unsigned long long* least, unsigned long long value) { atomicMin(least, value); }

// `words` 32-bit words, 2, 4 or 8: the address is a multiple of their size, at most of 16.
template <unsigned words>
KVPANE_DEVICE void load_words(const void* from, std::uint32_t (&to)[words]) {
    if constexpr (words == 2) {
        const uint2 piece = *static_cast<const uint2*>(from);
        to[0] = piece.x, to[1] = piece.y;
    } else {
        KVPANE_UNROLL
        for (unsigned i = 0; i < words; i += 4) {
            const uint4 piece = static_cast<const uint4*>(from)[i / 4];
            to[i] = piece.x, to[i + 1] = piece.y, to[i + 2] = piece.z, to[i + 3] = piece.w;
        }
    }
}

template <unsigned words>
KVPANE_DEVICE void store_words(const std::uint32_t (&from)[words], void* to) {
    if constexpr (words == 2) {
        *static_cast<uint2*>(to) = {from[0], from[1]};
    } else {
        KVPANE_UNROLL
        for (unsigned i = 0; i < words; i += 4) {
            static_cast<uint4*>(to)[i / 4] = {from[i], from[i + 1], from[i + 2], from[i + 3]};
        }
    }
}

#else

#    define KVPANE_KERNEL inline
#    define KVPANE_DEVICE inline
#    define KVPANE_BOTH inline
#    define KVPANE_MOST_THREADS(threads)
#    define KVPANE_UNROLL

// Given by the emulator. Places in the source tell one barrier, or one exchange, from another.
namespace emulated {

// A line of a source: that of the call, where current() is a default argument. clang 14 has no std::source_location.
struct Where {
    const char* file = "";
    unsigned line = 0;

    static constexpr Where current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
        return {file, line};
    }
};

struct Place {
    Index3 grid = {};
    Index3 block = {};  // its index
    unsigned threads = 0;
    unsigned thread = 0;
    std::byte* shared = nullptr;
};
const Place& place();
void wait_for_block(const Where& where);
// Lane `source` of the warp has `bytes` at its `mine`; they come to `theirs`, once all lanes of the mask are here.
void exchange(unsigned mask, unsigned source, const void* mine, void* theirs, std::size_t bytes, const Where& where);
// An address that devices access as one piece.
void must_be_aligned(const void* address, std::size_t alignment, const Where& where);

}  // namespace emulated

KVPANE_DEVICE unsigned thread_index() { return emulated::place().thread; }
KVPANE_DEVICE unsigned thread_count() { return emulated::place().threads; }
KVPANE_DEVICE Index3 block_index() { return emulated::place().block; }
KVPANE_DEVICE Index3 grid_size() { return emulated::place().grid; }
KVPANE_DEVICE std::byte* shared_memory() { return emulated::place().shared; }

KVPANE_DEVICE void sync_block(emulated::Where where = emulated::Where::current()) { emulated::wait_for_block(where); }

template <unsigned n>
KVPANE_DEVICE void shuffle_xor(const float (&values)[n], float (&out)[n], unsigned offset,
                               emulated::Where where = emulated::Where::current()) {
    emulated::exchange(all_lanes, thread_index() % warp_size ^ offset, values, out, sizeof values, where);
}

KVPANE_DEVICE unsigned ballot(bool vote, emulated::Where where = emulated::Where::current()) {
    unsigned votes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        bool theirs = false;
        emulated::exchange(all_lanes, lane, &vote, &theirs, sizeof vote, where);
        votes |= static_cast<unsigned>(theirs) << lane;
    }
    return votes;
}

// Fibers do not interrupt one another.
KVPANE_DEVICE void atomic_min(unsigned long long* least, unsigned long long value) {
    *least = value < *least ? value : *least;
}

template <unsigned words>
KVPANE_DEVICE void load_words(const void* from, std::uint32_t (&to)[words],
                              emulated::Where where = emulated::Where::current()) {
    emulated::must_be_aligned(from, words == 2 ? 8 : 16, where);
    std::memcpy(to, from, sizeof to);
}

template <unsigned words>
KVPANE_DEVICE void store_words(const std::uint32_t (&from)[words], void* to,
                               emulated::Where where = emulated::Where::current()) {
    emulated::must_be_aligned(to, words == 2 ? 8 : 16, where);
    std::memcpy(to, from, sizeof from);
}

#endif

}  // namespace kvpane::cuda

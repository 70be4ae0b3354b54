// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <kvpane/attention/dtype.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane {

// How the cells of a block lie in memory; the head_dim elements of one head are always adjacent.
enum class CellOrder : std::uint8_t {
    nhd,  // [blocks + 1, block_size, kv_heads, head_dim]: a cell is one piece
    hnd,  // [blocks + 1, kv_heads, block_size, head_dim]: a head of a block is one piece
};

inline constexpr std::uint32_t largest_head_dim = 256;

// The sizes of the cells of one layer.
struct CellShape {
    // Ids 1..blocks, at most most_blocks (config.h); the null block has memory, too, so that slots index it directly.
    std::int64_t blocks = 0;
    std::uint32_t block_size = 0;  // [cells]
    std::uint32_t kv_heads = 0;
    std::uint32_t head_dim = 0;  // a multiple of 8, at most largest_head_dim
    DType dtype = DType::f32;

    friend bool operator==(const CellShape&, const CellShape&) = default;
};

// Whether there is such a block; the null block is nobody's.
constexpr bool has_block(const CellShape& shape, std::int64_t block) noexcept {
    return block > 0 && block <= shape.blocks;
}

// Distances in elements; all of memory is reached by 64-bit offsets.
struct CellStrides {
    std::int64_t block = 0;
    std::int64_t cell = 0;
    std::int64_t head = 0;

    // The index of a head's first element, in K and V alike.
    constexpr std::int64_t index(std::int64_t of_block, std::int64_t of_cell, std::int64_t of_head) const noexcept {
        return of_block * block + of_cell * cell + of_head * head;
    }

    friend bool operator==(const CellStrides&, const CellStrides&) = default;
};

// K and V of one layer, in memory that somebody else owns: of the host, or of a device. Element d of head h of K in a
// slot: k[(slot / block_size) * strides.block + (slot % block_size) * strides.cell + h * strides.head + d].
// What is stored times the scale is the value; scales of f32, f16 and bf16 are 1.
struct CellStore {
    CellShape shape;
    CellStrides strides;
    void* k = nullptr;
    void* v = nullptr;
    float k_scale = 1;
    float v_scale = 1;
};

// The strides of dense arrays. `interleaved`: K and V of a block lie one after the other,
// [blocks + 1, 2, block_size, kv_heads, head_dim] (or hnd alike); else each is an array of its own.
CellStrides dense_strides(const CellShape& shape, CellOrder order, bool interleaved) noexcept;

// Bytes of K and V together of dense arrays, the null block included. REQUIRES find_wrong(shape) finds nothing.
std::size_t bytes_of(const CellShape& shape) noexcept;

// Elements from the first one of K to behind its last one, those of V likewise; -1 where two of them would share their
// place or the number passes 64 bits. A dimension of one entry may have any stride. REQUIRES find_wrong(shape) finds
// nothing.
std::int64_t reach_of(const CellShape& shape, const CellStrides& strides) noexcept;

// ERRORS bad_shape (a size of 0, more blocks than tables can name, bytes beyond 63 bits), head_dim_out_of_range,
// unsupported_dtype (a value that the enum does not name).
payload_expected<void> find_wrong(const CellShape& shape) noexcept;

// What every operation asks first. ERRORS as above; bad_shape (no memory; strides without a reach), misaligned (k or
// v), overlapping (K and V), out_of_range (a scale that is not finite and positive, or not 1 where it has to be).
payload_expected<void> find_wrong(const CellStore& store) noexcept;

// A store that owns its memory on the host: zeroed, 64-byte aligned. Moving it leaves views valid.
class HostCellStore {
public:
    // Throws std::invalid_argument (with the name of the fault) for a shape that find_wrong refuses, std::bad_alloc.
    HostCellStore(const CellShape& shape, CellOrder order, bool interleaved);

    // A view; scales are set in it.
    const CellStore& view() const noexcept { return store_; }
    void set_scales(float k_scale, float v_scale) noexcept {
        store_.k_scale = k_scale;
        store_.v_scale = v_scale;
    }

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept;
    };

    std::unique_ptr<std::byte[], Free> memory_;
    CellStore store_;
};

}  // namespace kvpane

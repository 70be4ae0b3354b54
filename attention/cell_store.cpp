// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_store.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <kvpane/blocktable/config.h>

namespace kvpane {

namespace {

constexpr std::align_val_t alignment{64};  // a cache line, and the widest vector

// One way through the elements: `extent` of them, `stride` apart.
struct Dimension {
    std::int64_t stride = 0;
    std::int64_t extent = 1;
};

// Elements from the first to behind the last one, where each stride passes what the smaller ones reach together, so
// that no two elements share their place; -1 where one does not, or beyond 64 bits.
template <std::size_t n>
std::int64_t nested_reach(std::array<Dimension, n> dimensions) noexcept {
    std::ranges::sort(dimensions, {}, &Dimension::stride);
    std::int64_t reach = 1;
    for (const auto& [stride, extent] : dimensions) {
        std::int64_t more = 0;
        if (extent > 1 && (stride < reach || __builtin_mul_overflow(stride, extent - 1, &more) ||
                           __builtin_add_overflow(reach, more, &reach))) {
            return -1;
        }
    }
    return reach;
}

std::array<Dimension, 4> dimensions_of(const CellShape& shape, const CellStrides& strides) noexcept {
    return {{{1, shape.head_dim},
             {strides.head, shape.kv_heads},
             {strides.cell, shape.block_size},
             {strides.block, shape.blocks + 1}}};
}

// K and V are one more dimension, of two: where their distance nests with the strides they do not overlap, be they
// arrays of their own or interleaved by blocks, cells or heads.
bool keeps_elements_apart(const CellStore& store) noexcept {
    const auto k = reinterpret_cast<std::uintptr_t>(store.k);
    const auto v = reinterpret_cast<std::uintptr_t>(store.v);
    const std::uint64_t distance = (k < v ? v - k : k - v) / bytes_of(store.shape.dtype);
    if (distance > std::numeric_limits<std::int64_t>::max()) {
        return false;
    }
    const auto [d, head, cell, block] = dimensions_of(store.shape, store.strides);
    const std::int64_t reach =
        nested_reach(std::array<Dimension, 5>{d, head, cell, block, {static_cast<std::int64_t>(distance), 2}});
    return reach >= 0 && reach <= std::numeric_limits<std::int64_t>::max() / bytes_of(store.shape.dtype);
}

bool is_aligned(const void* address, DType dtype) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % bytes_of(dtype) == 0;
}

bool is_scale(float scale, DType dtype) noexcept {
    const bool is_fp8 = bytes_of(dtype) == 1;
    return is_fp8 ? std::isfinite(scale) && scale > 0 : scale == 1;
}

const CellShape& sound(const CellShape& shape) {
    if (const auto found = find_wrong(shape); !found) {
        throw std::invalid_argument(std::string(to_string(found.error().fault)) + ": " + found.error().where);
    }
    return shape;
}

}  // namespace

CellStrides dense_strides(const CellShape& shape, CellOrder order, bool interleaved) noexcept {
    const std::int64_t block = std::int64_t{shape.block_size} * shape.kv_heads * shape.head_dim;
    const bool is_nhd = order == CellOrder::nhd;
    return {.block = interleaved ? 2 * block : block,
            .cell = is_nhd ? std::int64_t{shape.kv_heads} * shape.head_dim : shape.head_dim,
            .head = is_nhd ? shape.head_dim : std::int64_t{shape.block_size} * shape.head_dim};
}

std::size_t bytes_of(const CellShape& shape) noexcept {
    return 2 * (static_cast<std::size_t>(shape.blocks) + 1) * shape.block_size * shape.kv_heads * shape.head_dim *
           bytes_of(shape.dtype);
}

std::int64_t reach_of(const CellShape& shape, const CellStrides& strides) noexcept {
    return nested_reach(dimensions_of(shape, strides));
}

payload_expected<void> find_wrong(const CellShape& shape) noexcept {
    if (shape.blocks < 1 || shape.blocks > most_blocks) {
        return refuse(PayloadFault::bad_shape, "blocks");
    }
    if (shape.block_size == 0) {
        return refuse(PayloadFault::bad_shape, "block_size");
    }
    if (shape.kv_heads == 0) {
        return refuse(PayloadFault::bad_shape, "kv_heads");
    }
    if (shape.head_dim == 0 || shape.head_dim > largest_head_dim || shape.head_dim % 8 != 0) {
        return refuse(PayloadFault::head_dim_out_of_range, "head_dim");
    }
    if (bytes_of(shape.dtype) == 0) {
        return refuse(PayloadFault::unsupported_dtype, "dtype");
    }
    // Not beyond 2^63 by the checks above: blocks + 1 < 2^31, block_size < 2^32.
    std::int64_t bytes = (shape.blocks + 1) * shape.block_size;
    for (const std::int64_t factor : {std::int64_t{shape.kv_heads}, std::int64_t{shape.head_dim},
                                      std::int64_t{bytes_of(shape.dtype)}, std::int64_t{2}}) {
        if (__builtin_mul_overflow(bytes, factor, &bytes)) {
            return refuse(PayloadFault::bad_shape, "shape");
        }
    }
    return {};
}

payload_expected<void> find_wrong(const CellStore& store) noexcept {
    if (const auto found = find_wrong(store.shape); !found) {
        return found;
    }
    const DType dtype = store.shape.dtype;
    for (const auto& [memory, name] : {std::pair{store.k, "k"}, std::pair{store.v, "v"}}) {
        if (memory == nullptr) {
            return refuse(PayloadFault::bad_shape, name);
        }
        if (!is_aligned(memory, dtype)) {
            return refuse(PayloadFault::misaligned, name);
        }
    }
    if (reach_of(store.shape, store.strides) < 0) {
        return refuse(PayloadFault::bad_shape, "strides");
    }
    if (!keeps_elements_apart(store)) {
        return refuse(PayloadFault::overlapping, "v");
    }
    for (const auto& [scale, name] : {std::pair{store.k_scale, "k_scale"}, std::pair{store.v_scale, "v_scale"}}) {
        if (!is_scale(scale, dtype)) {
            return refuse(PayloadFault::out_of_range, name);
        }
    }
    return {};
}

void HostCellStore::Free::operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }

HostCellStore::HostCellStore(const CellShape& shape, CellOrder order, bool interleaved)
    : memory_(static_cast<std::byte*>(::operator new[](bytes_of(sound(shape)), alignment))) {
    const std::size_t bytes = bytes_of(shape);
    std::fill_n(memory_.get(), bytes, std::byte{0});
    const std::size_t blocks = static_cast<std::size_t>(shape.blocks) + 1;
    store_ = {.shape = shape,
              .strides = dense_strides(shape, order, interleaved),
              .k = memory_.get(),
              .v = memory_.get() + (interleaved ? bytes / blocks / 2 : bytes / 2)};
}

}  // namespace kvpane

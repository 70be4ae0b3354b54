// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane {

// Kernels move eight elements of cells and rows at once, at most 16 bytes in one piece.
inline constexpr std::int64_t device_piece = 8;

inline bool is_device_aligned(const void* address, DType dtype) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % std::min<std::uintptr_t>(16, 8 * bytes_of(dtype)) == 0;
}

// find_wrong(CellStore), and misaligned where pieces would be.
inline payload_expected<void> find_wrong_on_device(const CellStore& store) noexcept {
    return find_wrong(store).and_then([&]() -> payload_expected<void> {
        const auto is_split = [](std::int64_t stride) { return stride % device_piece != 0; };
        if (is_split(store.strides.block) || is_split(store.strides.cell) || is_split(store.strides.head)) {
            return refuse(PayloadFault::misaligned, "strides");
        }
        if (!is_device_aligned(store.k, store.shape.dtype)) {
            return refuse(PayloadFault::misaligned, "k");
        }
        if (!is_device_aligned(store.v, store.shape.dtype)) {
            return refuse(PayloadFault::misaligned, "v");
        }
        return {};
    });
}

}  // namespace kvpane

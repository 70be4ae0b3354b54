// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane {

// Kernels move eight elements at once, at most 16 bytes in one piece.
inline constexpr std::size_t device_alignment = 16;
inline constexpr std::int64_t device_piece = 8;

inline bool is_device_aligned(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) % device_alignment == 0;
}

// find_wrong(CellStore), and misaligned where pieces would be.
inline payload_expected<void> find_wrong_on_device(const CellStore& store) noexcept {
    return find_wrong(store).and_then([&]() -> payload_expected<void> {
        const auto is_split = [](std::int64_t stride) { return stride % device_piece != 0; };
        if (is_split(store.strides.block) || is_split(store.strides.cell) || is_split(store.strides.head)) {
            return refuse(PayloadFault::misaligned, "strides");
        }
        if (!is_device_aligned(store.k)) {
            return refuse(PayloadFault::misaligned, "k");
        }
        if (!is_device_aligned(store.v)) {
            return refuse(PayloadFault::misaligned, "v");
        }
        return {};
    });
}

}  // namespace kvpane

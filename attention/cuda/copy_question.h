// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane {

// What the copies of device.h ask, with a device and without. ERRORS bad_shape (sizes that differ), overlapping.
inline payload_expected<void> find_wrong_copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    if (to.size() != from.size()) {
        return refuse(PayloadFault::bad_shape, "to");
    }
    return find_overlapping({memory_of("to", to)}, {range_of(from)});
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/device.h>

namespace kvpane {

payload_expected<DeviceCellStore> DeviceCellStore::allocate(const CellShape& shape, CellOrder order,
                                                            bool interleaved) noexcept {
    DeviceCellStore out;
    return find_wrong(shape)
        .and_then([&] { return DeviceMemory::allocate(bytes_of(shape)); })
        .and_then([&](DeviceMemory memory) {
            out.memory_ = std::move(memory);
            return clear_device(out.bytes());
        })
        .map([&] {
            std::byte* const k = out.bytes().data();
            const std::size_t bytes = out.bytes().size();
            const std::size_t blocks = static_cast<std::size_t>(shape.blocks) + 1;
            out.store_ = {.shape = shape,
                          .strides = dense_strides(shape, order, interleaved),
                          .k = k,
                          .v = k + (interleaved ? bytes / blocks / 2 : bytes / 2)};
            return std::move(out);
        });
}

}  // namespace kvpane

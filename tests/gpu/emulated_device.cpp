// SPDX-License-Identifier: Apache-2.0
// A device that is none: its memory is the host's, its kernels run in the tests' emulator. With it the checks for a real
// device run where there is none. These functions take the place of the library's.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <kvpane/attention/cuda/copy_question.h>
#include <kvpane/attention/cuda/device.h>

#include "cuda/emulated_launch.h"

namespace kvpane::cuda {

struct StreamLaunch : testing::EmulatedLaunch {
    explicit StreamLaunch(void*) : EmulatedLaunch(1) {}
};

}  // namespace kvpane::cuda

#include <kvpane/attention/cuda/on_device.cuh>

namespace kvpane {

namespace {

payload_expected<void> copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    return find_wrong_copy(to, from).map([&] { std::copy(from.begin(), from.end(), to.begin()); });
}

}  // namespace

payload_expected<void> device_available() noexcept { return {}; }

DeviceMemory::~DeviceMemory() { std::free(bytes_.data()); }

payload_expected<DeviceMemory> DeviceMemory::allocate(std::size_t bytes) noexcept {
    constexpr std::size_t alignment = 256;
    DeviceMemory out;
    if (bytes > 0) {
        void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        std::memset(memory, 0xff, bytes);
        out.bytes_ = {static_cast<std::byte*>(memory), bytes};
    }
    return out;
}

payload_expected<void> clear_device(std::span<std::byte> memory) noexcept {
    std::ranges::fill(memory, std::byte{0});
    return {};
}
payload_expected<void> copy_to_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> copy_from_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> copy_within_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> wait_for(void*) noexcept { return {}; }

namespace on_device {

Done running_sum(std::int32_t* values, std::size_t n, std::span<std::byte> workspace, void*) noexcept {
    return cuda::StreamLaunch(nullptr).running_sum(values, n, workspace);
}
payload_expected<std::size_t> running_sum_bytes(std::size_t) noexcept { return 0; }

}  // namespace on_device

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/copy_question.h>
#include <kvpane/attention/cuda/cuda_status.h>
#include <kvpane/attention/cuda/device.h>

namespace kvpane {

namespace {

cudaStream_t stream_of(void* stream) noexcept { return static_cast<cudaStream_t>(stream); }

payload_expected<void> copy(std::span<std::byte> to, std::span<const std::byte> from, cudaMemcpyKind kind,
                            void* stream) noexcept {
    return find_wrong_copy(to, from).and_then([&] {
        return status_of(cudaMemcpyAsync(to.data(), from.data(), to.size(), kind, stream_of(stream)),
                         "cudaMemcpyAsync");
    });
}

}  // namespace

payload_expected<void> device_available() noexcept {
    int devices = 0;
    return status_of(cudaGetDeviceCount(&devices), "cudaGetDeviceCount").and_then([&]() -> payload_expected<void> {
        if (devices == 0) {
            return refuse(PayloadFault::no_device, "cudaGetDeviceCount");
        }
        return status_of(cudaFree(nullptr), "cudaFree");  // makes the context: a device that cannot says so here
    });
}

DeviceMemory::~DeviceMemory() {
    if (!bytes_.empty()) {
        static_cast<void>(cudaFree(bytes_.data()));
    }
}

payload_expected<DeviceMemory> DeviceMemory::allocate(std::size_t bytes) noexcept {
    void* memory = nullptr;
    return status_of(bytes == 0 ? cudaSuccess : cudaMalloc(&memory, bytes), "cudaMalloc").map([&] {
        DeviceMemory owner;
        owner.bytes_ = {static_cast<std::byte*>(memory), bytes};
        return owner;
    });
}

payload_expected<void> clear_device(std::span<std::byte> memory) noexcept {
    return status_of(cudaMemset(memory.data(), 0, memory.size()), "cudaMemset");
}

payload_expected<void> copy_to_device(std::span<std::byte> to, std::span<const std::byte> from, void* stream) noexcept {
    return copy(to, from, cudaMemcpyHostToDevice, stream);
}

payload_expected<void> copy_from_device(std::span<std::byte> to, std::span<const std::byte> from,
                                        void* stream) noexcept {
    return copy(to, from, cudaMemcpyDeviceToHost, stream);
}

payload_expected<void> copy_within_device(std::span<std::byte> to, std::span<const std::byte> from,
                                          void* stream) noexcept {
    return copy(to, from, cudaMemcpyDeviceToDevice, stream);
}

payload_expected<void> wait_for(void* stream) noexcept {
    return status_of(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize");
}

}  // namespace kvpane

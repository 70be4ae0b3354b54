// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>

// A CUDA device and its memory, without a CUDA type in sight: a stream is a cudaStream_t as a pointer, null is the
// default one. Everything is of the calling thread's current device.
//
// ERRORS of all: no_device (built without CUDA, no driver, no device: `where` says which call found that out),
// cuda_error (where = the CUDA call, code = its cudaError_t).
namespace kvpane {

// Was this library built with CUDA, and is there a device that works? Says why not.
payload_expected<void> device_available() noexcept;

// Memory on the device; gone with its owner.
class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(DeviceMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DeviceMemory();

    // Not initialised; 256-byte aligned. Nothing for 0 bytes.
    static payload_expected<DeviceMemory> allocate(std::size_t bytes) noexcept;

    std::span<std::byte> bytes() const noexcept { return bytes_; }

    // As an array: as many T as fit.
    template <class T>
    std::span<T> as() const noexcept {
        return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
    }

private:
    std::span<std::byte> bytes_;
};

// A store that owns its memory on the device: zeroed, like a HostCellStore.
class DeviceCellStore {
public:
    // ERRORS also as find_wrong(CellShape).
    static payload_expected<DeviceCellStore> allocate(const CellShape& shape, CellOrder order,
                                                      bool interleaved) noexcept;

    const CellStore& view() const noexcept { return store_; }
    void set_scales(float k_scale, float v_scale) noexcept {
        store_.k_scale = k_scale;
        store_.v_scale = v_scale;
    }
    // K and V together, dense.
    std::span<std::byte> bytes() const noexcept { return memory_.bytes(); }

private:
    DeviceMemory memory_;
    CellStore store_;
};

// Queued on the stream; REQUIRES that the host's memory stays until then. ERRORS also bad_shape (sizes that differ),
// overlapping (`to` and `from`).
payload_expected<void> copy_to_device(std::span<std::byte> to, std::span<const std::byte> from, void* stream) noexcept;
payload_expected<void> copy_from_device(std::span<std::byte> to, std::span<const std::byte> from,
                                        void* stream) noexcept;
payload_expected<void> copy_within_device(std::span<std::byte> to, std::span<const std::byte> from,
                                          void* stream) noexcept;

// Zeroes it, before it returns.
payload_expected<void> clear_device(std::span<std::byte> memory) noexcept;

// Until all that was queued on the stream is done. ERRORS also what went wrong in it.
payload_expected<void> wait_for(void* stream) noexcept;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_scan.cuh>

#include <kvpane/attention/cuda/cuda_status.h>
#include <kvpane/attention/cuda/on_device.h>

// All that is taken from CUB.
namespace kvpane::on_device {

namespace {

payload_expected<void> inclusive_sum(void* workspace, std::size_t& bytes, std::int32_t* values, std::size_t n,
                                     void* stream) noexcept {
    return status_of(cub::DeviceScan::InclusiveSum(workspace, bytes, values, values, static_cast<int>(n),
                                                   static_cast<cudaStream_t>(stream)),
                     "cub::DeviceScan::InclusiveSum");
}

}  // namespace

payload_expected<std::size_t> running_sum_bytes(std::size_t n) noexcept {
    std::size_t bytes = 0;
    return inclusive_sum(nullptr, bytes, nullptr, n, nullptr).map([&] { return bytes; });
}

Done running_sum(std::int32_t* values, std::size_t n, std::span<std::byte> workspace, void* stream) noexcept {
    std::size_t bytes = workspace.size();
    return n == 0 ? Done{} : inclusive_sum(workspace.data(), bytes, values, n, stream);
}

}  // namespace kvpane::on_device

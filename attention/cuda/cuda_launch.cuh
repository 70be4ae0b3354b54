// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <kvpane/attention/cuda/cuda_status.h>
#include <kvpane/attention/cuda/launch_shape.h>
#include <kvpane/attention/cuda/on_device.h>

namespace kvpane::cuda {

// Queues kernels on a stream: the `launch` of attention_launch.cuh and ops_launch.cuh.
class CudaLaunch {
public:
    explicit CudaLaunch(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}

    // An empty grid is no launch.
    template <class Args>
    payload_expected<void> operator()(void (*kernel)(Args), const LaunchShape& shape, const Args& args) const {
        const dim3 grid(shape.grid.x, shape.grid.y, shape.grid.z);
        if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
            return {};
        }
        void* parameters[] = {const_cast<Args*>(&args)};
        const auto* const function = reinterpret_cast<const void*>(kernel);
        return allow_shared(function, shape.shared_bytes).and_then([&] {
            return status_of(
                cudaLaunchKernel(function, grid, dim3(shape.threads), parameters, shape.shared_bytes, stream_),
                "cudaLaunchKernel");
        });
    }

    payload_expected<void> fill(void* memory, int byte, std::size_t bytes) const {
        return status_of(cudaMemsetAsync(memory, byte, bytes, stream_), "cudaMemsetAsync");
    }

    payload_expected<void> running_sum(std::int32_t* values, std::size_t n, std::span<std::byte> workspace) const {
        return on_device::running_sum(values, n, workspace, stream_);
    }

private:
    // More than 48 KiB have to be asked for.
    static payload_expected<void> allow_shared(const void* function, std::size_t bytes) {
        constexpr std::size_t always_allowed = 48 * 1024;
        return bytes <= always_allowed
                   ? payload_expected<void>{}
                   : status_of(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(bytes)),
                               "cudaFuncSetAttribute");
    }

    cudaStream_t stream_;
};

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <kvpane/attention/payload_error.h>

namespace kvpane {

// What a CUDA call returned, as an error value that names the call. The runtime does not remember it.
inline payload_expected<void> status_of(cudaError_t status, const char* call) noexcept {
    if (status == cudaSuccess) {
        return {};
    }
    static_cast<void>(cudaGetLastError());
    // No call here names a device: one that is invalid is what CUB says where there is none.
    const bool is_none = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
                         status == cudaErrorStubLibrary || status == cudaErrorSystemDriverMismatch ||
                         status == cudaErrorInvalidDevice;
    const PayloadFault fault = is_none ? PayloadFault::no_device : PayloadFault::cuda_error;
    return tl::unexpected(PayloadError{fault, call, static_cast<int>(status)});
}

}  // namespace kvpane

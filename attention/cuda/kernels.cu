// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/cuda_launch.cuh>

static_assert(__cplusplus >= 202002L, "compile with -std=c++20: CMake 3.25 does not know how to ask nvcc for it");

namespace kvpane::cuda {

using StreamLaunch = CudaLaunch;

}  // namespace kvpane::cuda

// All kernels, in one translation unit; those of CUB are in running_sum.cu.
#include <kvpane/attention/cuda/on_device.cuh>

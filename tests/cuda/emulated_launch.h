// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

#include <kvpane/attention/cuda/launch_shape.h>
#include <kvpane/attention/payload_error.h>

#include "emulator/emulator.h"

namespace kvpane::testing {

// Runs kernels in the emulator, at once: the `launch` of attention_launch.cuh and ops_launch.cuh.
class EmulatedLaunch {
public:
    explicit EmulatedLaunch(std::uint64_t seed) : seed_(seed) {}

    template <class Args>
    payload_expected<void> operator()(void (*kernel)(Args), const cuda::LaunchShape& shape, const Args& args) const {
        emulator::run({shape.grid, shape.threads, shape.shared_bytes, seed_}, [&] { kernel(args); });
        return {};
    }

    payload_expected<void> fill(void* memory, int byte, std::size_t bytes) const {
        std::memset(memory, byte, bytes);
        return {};
    }

    // On a device this is CUB's.
    payload_expected<void> running_sum(std::int32_t* values, std::size_t n, std::span<std::byte>) const {
        std::partial_sum(values, values + n, values);
        return {};
    }

private:
    std::uint64_t seed_;
};

}  // namespace kvpane::testing

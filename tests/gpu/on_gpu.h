// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/cuda/device_attention.h>

#include "attention/attention_case.h"

namespace kvpane::gpu {

using testing::require;

// Copies of arrays on the device, as long as it lives. Throws std::runtime_error with the CUDA call that failed.
class OnGpu {
public:
    std::span<std::byte> empty(std::size_t bytes) {
        auto memory = DeviceMemory::allocate(bytes);
        if (!memory) {
            require(tl::unexpected(memory.error()));
        }
        owned_.push_back(std::move(*memory));
        return owned_.back().bytes();
    }

    template <class T>
    std::span<T> array(std::size_t n) {
        return {reinterpret_cast<T*>(empty(n * sizeof(T)).data()), n};
    }

    template <class T>
    std::span<const T> copy(std::span<const T> host) {
        const std::span<T> out = array<T>(host.size());
        require(copy_to_device(std::as_writable_bytes(out), std::as_bytes(host), nullptr));
        require(wait_for(nullptr));
        return out;
    }

    // K and V of a dense store, together.
    CellStore copy(const CellStore& host) {
        const std::byte* const first = static_cast<std::byte*>(std::min(host.k, host.v));
        const auto bytes = copy(std::span<const std::byte>(first, bytes_of(host.shape)));
        auto* const base = const_cast<std::byte*>(bytes.data());
        CellStore out = host;
        out.k = base + (static_cast<std::byte*>(host.k) - first);
        out.v = base + (static_cast<std::byte*>(host.v) - first);
        return out;
    }

    AttentionProblem copy(const AttentionProblem& host) {
        AttentionProblem out = host;
        const std::size_t bytes = testing::states_of(host) * host.cells.shape.head_dim * bytes_of(host.queries.dtype);
        out.cells = copy(host.cells);
        out.rule.sink_logits = copy(host.rule.sink_logits);
        out.tables = copy(host.tables);
        out.lengths = copy(host.lengths);
        out.queries.data = copy(std::span(static_cast<const std::byte*>(host.queries.data), bytes)).data();
        out.query_indptr = copy(host.query_indptr);
        out.begin = copy(host.begin);
        out.end = copy(host.end);
        return out;
    }

private:
    std::deque<DeviceMemory> owned_;
};

template <class T>
std::vector<T> from_gpu(std::span<const T> device) {
    std::vector<T> out(device.size());
    require(copy_from_device(std::as_writable_bytes(std::span(out)), std::as_bytes(device), nullptr));
    require(wait_for(nullptr));
    return out;
}

}  // namespace kvpane::gpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <kvpane/attention/cuda/kernel_env.cuh>

namespace kvpane::cuda {

struct LaunchShape {
    Index3 grid = {};  // [blocks]
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
};

// Blocks of a grid that cover `work`, `of_block` each.
constexpr unsigned blocks_for(std::size_t work, std::size_t of_block) noexcept {
    return static_cast<unsigned>((work + of_block - 1) / of_block);
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/cuda/kernel_env.cuh>

namespace kvpane::cuda {

struct LaunchShape {
    Index3 grid = {};  // [blocks]
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
};

// Blocks of a grid that cover `work`, `of_block` each. More than there can be remain too many, for CUDA to refuse.
constexpr unsigned blocks_for(std::size_t work, std::size_t of_block) noexcept {
    const std::size_t blocks = work / of_block + (work % of_block == 0 ? 0 : 1);
    return static_cast<unsigned>(std::min<std::size_t>(blocks, std::numeric_limits<unsigned>::max()));
}

// Positions that a row of a table has entries for. No row has more entries than int32 counts.
constexpr Length room_of(std::size_t width, std::uint32_t block_size) noexcept {
    return static_cast<Length>(std::min<std::size_t>(width, std::numeric_limits<std::int32_t>::max())) * block_size;
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvpane {

// Running totals since construction. They never decide anything and are not part of digest().
struct Statistics {
    std::uint64_t admitted = 0;
    std::uint64_t released = 0;
    std::uint64_t forks = 0;
    std::uint64_t truncations = 0;
    std::uint64_t committed_tokens = 0;
    std::uint64_t blocks_taken = 0;  // destinations of copies included
    std::uint64_t copies = 0;
    std::uint64_t copied_cells = 0;
    std::uint64_t refused_later = 0;
    std::uint64_t refused_never = 0;
    std::uint64_t queried_tokens = 0;  // of first admissions, while the prefix cache is on
    std::uint64_t hit_tokens = 0;
    std::uint64_t evicted_blocks = 0;  // entries lost to taking blocks
    std::uint64_t preempted = 0;
};

}  // namespace kvpane

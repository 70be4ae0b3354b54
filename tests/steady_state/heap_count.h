// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Every operator new and delete of this executable is counted (heap_count.cpp replaces them).
namespace kvpane::testing {

std::uint64_t heap_calls();

// The calls of operator new and delete that `work` makes.
template <class Work>
std::uint64_t heap_calls_of(Work&& work) {
    const std::uint64_t before = heap_calls();
    work();
    return heap_calls() - before;
}

}  // namespace kvpane::testing

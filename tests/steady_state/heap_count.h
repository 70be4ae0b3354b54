// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Every operator new and delete of this executable is counted (heap_count.cpp replaces them).
namespace kvpane::testing {

std::uint64_t heap_calls();

// From now on the n-th call of operator new throws std::bad_alloc, once; 0 = none does. Gives what was left of the last
// count: 0 when that one was thrown.
std::uint64_t fail_allocation(std::uint64_t n);

// The calls of operator new and delete that `work` makes.
template <class Work>
std::uint64_t heap_calls_of(Work&& work) {
    const std::uint64_t before = heap_calls();
    work();
    return heap_calls() - before;
}

}  // namespace kvpane::testing

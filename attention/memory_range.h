// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvpane {

// Memory as a half-open range of addresses: do two arguments share some?
struct MemoryRange {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

inline MemoryRange range_of(const void* memory, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {begin, begin + bytes};
}

template <class T>
MemoryRange range_of(std::span<T> memory) noexcept {
    return range_of(memory.data(), memory.size_bytes());
}

inline bool overlap(const MemoryRange& a, const MemoryRange& b) noexcept {
    return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

}  // namespace kvpane

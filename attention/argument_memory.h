// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>

#include <kvpane/attention/memory_range.h>
#include <kvpane/attention/payload_error.h>

// What is asked of the memory of arguments, on the host and on a device alike: addresses are compared, nothing is read.
// Where there are no bytes, any address will do.
namespace kvpane {

struct ArgumentMemory {
    const char* where = "";  // the argument, as its contract calls it
    MemoryRange range;
    std::size_t alignment = 1;  // [bytes]
};

template <class T>
ArgumentMemory memory_of(const char* where, std::span<T> array) noexcept {
    return {where, range_of(array), alignof(T)};
}

// ERRORS misaligned: the first that does not start at a multiple of its alignment. COST O(arguments).
inline payload_expected<void> find_misaligned(std::initializer_list<ArgumentMemory> arguments) noexcept {
    for (const auto& [where, range, alignment] : arguments) {
        if (range.begin < range.end && range.begin % alignment != 0) {
            return refuse(PayloadFault::misaligned, where);
        }
    }
    return {};
}

// ERRORS overlapping: the first argument that shares memory with one of the others, or with an argument before it.
// COST O(arguments * (arguments + others)).
template <class Arguments = std::initializer_list<ArgumentMemory>, class Others = std::initializer_list<MemoryRange>>
payload_expected<void> find_overlapping(const Arguments& arguments, const Others& others) noexcept {
    for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
        const auto is_shared = [&](const MemoryRange& other) { return overlap(argument->range, other); };
        const auto is_shared_before = [&](const ArgumentMemory& before) { return is_shared(before.range); };
        if (std::any_of(others.begin(), others.end(), is_shared) ||
            std::any_of(arguments.begin(), argument, is_shared_before)) {
            return refuse(PayloadFault::overlapping, argument->where);
        }
    }
    return {};
}

}  // namespace kvpane

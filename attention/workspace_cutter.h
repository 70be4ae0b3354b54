// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>

namespace kvpane {

inline constexpr std::size_t workspace_alignment = 64;  // a cache line

// Cuts arrays off the front of a workspace, each on its own cache lines. Without a base it only adds up.
class WorkspaceCutter {
public:
    explicit WorkspaceCutter(std::byte* base) noexcept : base_(base) {}

    // An array of that shape.
    template <class T>
    std::span<T> cut(std::initializer_list<std::size_t> shape) noexcept {
        const std::size_t begin = bytes_;
        std::size_t size = sizeof(T);
        const auto is_too_large = [&](std::size_t extent) { return __builtin_mul_overflow(size, extent, &size); };
        if (std::ranges::any_of(shape, is_too_large) || size > most / 2 || begin > most / 2) {
            bytes_ = most / 2 + 1;  // no memory is so large, and it stays that large
        } else {
            bytes_ += (size + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
        }
        return base_ == nullptr ? std::span<T>{} : std::span<T>(reinterpret_cast<T*>(base_ + begin), size / sizeof(T));
    }

    std::size_t bytes() const noexcept { return bytes_; }

private:
    static constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2;

    std::byte* base_;
    std::size_t bytes_ = 0;
};

}  // namespace kvpane

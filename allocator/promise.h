// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kvpane {

// Prints "kvpane: invariant <number> broken: <sentence>" to stderr and aborts.
[[noreturn]] void broken_promise(const char* invariant, const char* sentence) noexcept;

// Stops the process when something that the caller or this library promised does not hold. Always on: each use is one
// predictable branch, and going on would hand out somebody else's memory.
inline void promise(bool holds, const char* invariant, const char* sentence) noexcept {
    if (!holds) [[unlikely]] {
        broken_promise(invariant, sentence);
    }
}

}  // namespace kvpane

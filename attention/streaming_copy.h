// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Copies past the caches: what is written is neither fetched before nor kept after, which saves a third of the traffic
// of a copy that no cache could hold anyway.
namespace kvpane {

// From here on a copy gains by it, and so does its reader. Blocks of 64 KB at random to one place, ns each, copied, and
// copied and read again (4 MB: 4590 and 7065 by memcpy, 4700 and 6631 past the caches; 8 MB: 5072, 7651, 4906, 6852;
// 64 MB: 7909, 11150, 6056, 9235; 1 MB of L2 and 32 MB of L3).
inline constexpr std::size_t streaming_bytes = std::size_t{8} << 20U;

// memcpy; past the caches where `out` and `bytes` are whole cache lines and the processor is known to have a way.
// ENSURES what was written is seen by other threads after finish_streams(), and by this one at once.
void stream_bytes(void* out, const void* in, std::size_t bytes) noexcept;

// Waits for what stream_bytes() wrote: what is written after it is seen later.
void finish_streams() noexcept;

}  // namespace kvpane

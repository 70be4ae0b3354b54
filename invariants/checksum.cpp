// SPDX-License-Identifier: Apache-2.0
// The only source that sees the hash library: all of it is inlined here, nothing is linked.
#include <kvpane/invariants/checksum.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kvpane::invariants {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace kvpane::invariants

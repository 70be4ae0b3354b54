// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kvpane/invariants/random.h>

namespace kvpane::invariants {

// Draws ranks 0..count-1: rank r about as often as (r + 1)^-exponent, the rarest at least once in 2^16 draws of the
// first. In whole numbers: the same ranks on every machine.
class ZipfSampler {
public:
    static constexpr std::uint32_t most = 65'536;  // ranks

    // REQUIRES 1 <= count <= most, 0 <= exponent <= 64.
    ZipfSampler(std::uint32_t count, double exponent);

    std::uint32_t draw(Random& random) const;

private:
    std::vector<std::uint64_t> sums_;  // [count] of the weights up to each rank, itself included; at most 2^32
};

}  // namespace kvpane::invariants

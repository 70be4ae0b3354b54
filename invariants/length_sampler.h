// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/stress.h>

namespace kvpane::invariants {

// Draws lengths from a distribution, in whole numbers: the same lengths on every machine.
//
// lognormal: the deviate is the sum of twelve uniforms less 6 (so within 6 sigma), its power of two a product of table
// entries: within 2^-14 of what a mathematical library would give, without its last digit that differs by vendor.
// edges: a unit (the block size or a window), then minus or plus one or none, then a multiple of the unit. Where no
// multiple fits into min..max it gives min.
class LengthSampler {
public:
    // REQUIRES 0 <= min <= max <= longest_sequence; median and sigma finite and not negative.
    LengthSampler(LengthDistribution distribution, const Config& config);

    Length draw(Random& random) const;

private:
    Length lognormal(Random& random) const;
    Length edge(Random& random) const;

    LengthDistribution distribution_;
    std::vector<Length> units_;  // of `edges`: the block size, then the windows
    std::uint64_t median_ = 0;   // [1/256 token]
    std::int64_t sigma_ = 0;     // [1/65536] of the logarithm to base 2
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/zipf_sampler.h>

#include <algorithm>
#include <cmath>

#include <kvpane/invariants/fixed_point.h>

namespace kvpane::invariants {

namespace {

// (rank + 1)^-exponent in units of 2^-16, at least one of them. `exponent` in units of 2^-16.
std::uint64_t weight(std::uint64_t rank, std::uint64_t exponent) noexcept {
    constexpr std::uint64_t one = 65'536;
    const std::uint64_t down = (exponent * logarithm_to_base_two(rank + 1)) >> 16U;  // the weight is 2^-(down / one)
    const std::uint64_t whole = (down + one - 1) / one;
    if (whole > 16) {
        return 1;
    }
    return std::max<std::uint64_t>(1, power_of_two(whole * one - down) >> whole);
}

}  // namespace

ZipfSampler::ZipfSampler(std::uint32_t count, double exponent) {
    const auto fixed = static_cast<std::uint64_t>(std::llround(exponent * 65'536));
    std::uint64_t sum = 0;
    sums_.reserve(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
        sum += weight(rank, fixed);
        sums_.push_back(sum);
    }
}

std::uint32_t ZipfSampler::draw(Random& random) const {
    const std::uint64_t drawn = random.below(sums_.back());
    return static_cast<std::uint32_t>(std::ranges::upper_bound(sums_, drawn) - sums_.begin());
}

}  // namespace kvpane::invariants

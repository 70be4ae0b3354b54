// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/length_sampler.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <kvpane/invariants/fixed_point.h>

namespace kvpane::invariants {

namespace {

// A deviate of mean 0 and variance 1, in units of 2^-16: twelve uniforms of 16 bits, from three words.
std::int64_t deviate(Random& random) noexcept {
    constexpr std::int64_t mean = 6 * 65'535;
    std::int64_t sum = 0;
    for (int word = 0; word < 3; ++word) {
        for (std::uint64_t bits = random.next(), part = 0; part < 4; ++part, bits >>= 16U) {
            sum += static_cast<std::int64_t>(bits & 0xffffU);
        }
    }
    return sum - mean;
}

}  // namespace

LengthSampler::LengthSampler(LengthDistribution distribution, const Config& config)
    : distribution_(std::move(distribution)) {
    constexpr double largest_sigma = 64;  // beyond it everything is min or max
    constexpr double log2_e = 1.4426950408889634;
    const double median = std::clamp(distribution_.median, 0.0, static_cast<double>(longest_sequence));
    median_ = static_cast<std::uint64_t>(std::llround(median * 256));
    sigma_ = std::llround(std::clamp(distribution_.sigma, 0.0, largest_sigma) * (log2_e * 65'536));
    units_.push_back(config.block_size);
    for (const GroupConfig& group : config.groups) {
        if (group.window > 0) {
            units_.push_back(group.window);
        }
    }
}

Length LengthSampler::draw(Random& random) const {
    const auto& [kind, min, max, median, sigma, values] = distribution_;
    switch (kind) {
        case LengthDistribution::Kind::uniform: return random.between(min, max);
        case LengthDistribution::Kind::lognormal: return std::clamp(lognormal(random), min, max);
        case LengthDistribution::Kind::edges: return edge(random);
        case LengthDistribution::Kind::values:
            return values.empty() ? min : std::clamp(values[random.below(values.size())], min, max);
    }
    return min;
}

Length LengthSampler::lognormal(Random& random) const {
    const std::int64_t exponent = (deviate(random) * sigma_) >> 16U;  // [1/65536], rounded down
    const std::int64_t whole = exponent >> 16U;
    const std::uint64_t scaled = median_ * power_of_two(static_cast<std::uint64_t>(exponent & 0xffff));  // [2^-24]
    // scaled < 2^56: up to 6 bits more still fit, beyond them lies no length.
    const std::int64_t drop = 24 - whole;
    if (drop > 56 || scaled == 0) {
        return 0;
    }
    if (drop < -6) {
        return longest_sequence;
    }
    if (drop <= 0) {
        return static_cast<Length>(scaled << static_cast<std::uint64_t>(-drop));
    }
    const std::uint64_t half = std::uint64_t{1} << static_cast<std::uint64_t>(drop - 1);
    return static_cast<Length>((scaled + half) >> static_cast<std::uint64_t>(drop));
}

Length LengthSampler::edge(Random& random) const {
    const auto& [kind, min, max, median, sigma, values] = distribution_;
    const std::size_t choices = units_.size() * 3;
    const std::size_t start = random.below(choices);
    for (std::size_t i = 0; i < choices; ++i) {
        const std::size_t choice = (start + i) % choices;
        const Length unit = units_[choice / 3];
        const Length beside = static_cast<Length>(choice % 3) - 1;
        const Length lowest = (std::max<Length>(min - beside, 0) + unit - 1) / unit;
        if (max >= beside && lowest <= (max - beside) / unit) {
            return random.between(lowest, (max - beside) / unit) * unit + beside;
        }
    }
    return min;
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <kvpane/invariants/fixed_point.h>
#include <kvpane/invariants/zipf_sampler.h>

#include "support/seed.h"

namespace kvpane::invariants {

namespace {

// How often each rank comes in `draws` draws.
std::vector<int> counts(std::uint32_t ranks, double exponent, int draws = 60'000) {
    const ZipfSampler sampler(ranks, exponent);
    Random random(testing::seed());
    std::vector<int> counts(ranks);
    for (int i = 0; i < draws; ++i) {
        ++counts.at(sampler.draw(random));
    }
    return counts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(zipf_sampler)

BOOST_AUTO_TEST_CASE(logarithms_are_exact_at_powers_of_two_and_rounded_down_between) {
    for (std::uint64_t power = 0; power < 31; ++power) {
        BOOST_TEST(logarithm_to_base_two(std::uint64_t{1} << power) == power * 65'536);
    }
    for (const std::uint64_t n : {3U, 5U, 7U, 1000U, 65'535U, 2'147'483'647U}) {
        const double exact = std::log2(static_cast<double>(n)) * 65'536;
        BOOST_TEST(static_cast<double>(logarithm_to_base_two(n)) <= exact);
        BOOST_TEST(static_cast<double>(logarithm_to_base_two(n)) > exact - 4);
    }
}

BOOST_AUTO_TEST_CASE(the_ranks_are_the_same_on_every_machine) {
    const ZipfSampler sampler(1000, 1.1);
    Random random(1);
    std::vector<std::uint32_t> drawn;
    for (int i = 0; i < 8; ++i) {
        drawn.push_back(sampler.draw(random));
    }
    const std::vector<std::uint32_t> pinned = {102, 0, 0, 272, 39, 48, 653, 36};
    BOOST_TEST(drawn == pinned, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_rank_is_drawn_as_often_as_its_power_says) {
    for (const double exponent : {0.5, 1.0, 2.0}) {
        const std::vector<int> drawn = counts(8, exponent);
        double sum = 0;
        for (int rank = 1; rank <= 8; ++rank) {
            sum += std::pow(rank, -exponent);
        }
        for (int rank = 1; rank <= 8; ++rank) {
            const double expected = 60'000 * std::pow(rank, -exponent) / sum;
            BOOST_TEST_CONTEXT("exponent " << exponent << ", rank " << rank) {
                BOOST_TEST(std::abs(drawn[static_cast<std::size_t>(rank - 1)] - expected) < 6 * std::sqrt(expected));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(with_exponent_zero_all_ranks_are_alike) {
    const std::vector<int> drawn = counts(100, 0);
    BOOST_TEST(*std::ranges::min_element(drawn) > 400);
    BOOST_TEST(*std::ranges::max_element(drawn) < 800);
}

BOOST_AUTO_TEST_CASE(the_largest_sampler_stays_within_its_ranks) {
    for (const double exponent : {0.0, 1.0, 64.0}) {
        const std::vector<int> drawn = counts(ZipfSampler::most, exponent);  // .at() throws beyond them
        BOOST_TEST(drawn[0] >= (exponent > 1 ? 20'000 : 0));
    }
    BOOST_TEST(counts(1, 3)[0] == 60'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <kvpane/invariants/length_sampler.h>

#include "support/kv.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

using boost::test_tools::per_element;
using Kind = LengthDistribution::Kind;

constexpr int many = 20'000;

std::vector<Length> drawn(const LengthDistribution& distribution, const Config& config, int count = many,
                          std::uint64_t seed = testing::seed()) {
    const LengthSampler sampler(distribution, config);
    Random random(seed);
    std::vector<Length> lengths;
    for (int i = 0; i < count; ++i) {
        lengths.push_back(sampler.draw(random));
    }
    return lengths;
}

double share_below(const std::vector<Length>& lengths, Length bound) {
    const auto below = std::ranges::count_if(lengths, [&](Length length) { return length < bound; });
    return static_cast<double>(below) / static_cast<double>(lengths.size());
}

bool is_beside_a_multiple(Length length, Length unit) {
    const Length rest = length % unit;
    return rest <= 1 || rest == unit - 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(length_sampler)

BOOST_AUTO_TEST_CASE(the_random_numbers_are_the_same_on_every_machine) {
    Random random(1);
    BOOST_TEST(random.next() == 0xc5883e370b0926c3U);
    BOOST_TEST(random.next() == 0x021b74b80f71f81cU);
    BOOST_TEST(random.below(128'000) == 19'277U);
    BOOST_TEST(random.token() == 1'881'750'206);
    const std::vector<Length> pinned = {164, 507, 11'644, 73, 291, 233, 1714, 921};
    BOOST_TEST(drawn({Kind::lognormal, 1, 100'000, 900, 1.5, {}}, testing::plain(16, 1), 8, 1) == pinned,
               per_element());
}

BOOST_AUTO_TEST_CASE(uniform_reaches_both_ends_and_nothing_beyond) {
    const auto lengths = drawn({Kind::uniform, 3, 6, 1, 0, {}}, testing::plain(4, 1));
    const std::set<Length> all(lengths.begin(), lengths.end());
    BOOST_TEST(all == (std::set<Length>{3, 4, 5, 6}), per_element());
    BOOST_TEST(share_below(lengths, 5) > 0.48);
    BOOST_TEST(share_below(lengths, 5) < 0.52);
}

BOOST_AUTO_TEST_CASE(lognormal_has_its_median_and_its_sigma) {
    // ln 2 as sigma: one sigma above the median is twice the median, two below a quarter.
    const auto lengths = drawn({Kind::lognormal, 1, 1'000'000, 1000, 0.6931471805599453, {}}, testing::plain(4, 1));
    BOOST_TEST(share_below(lengths, 1000) == 0.500, boost::test_tools::tolerance(0.03));
    BOOST_TEST(share_below(lengths, 2000) == 0.841, boost::test_tools::tolerance(0.02));
    BOOST_TEST(share_below(lengths, 500) == 0.159, boost::test_tools::tolerance(0.06));
    BOOST_TEST(share_below(lengths, 250) == 0.0228, boost::test_tools::tolerance(0.2));
}

BOOST_AUTO_TEST_CASE(lognormal_without_spread_is_its_median) {
    for (const Length length : drawn({Kind::lognormal, 1, 100, 17, 0, {}}, testing::plain(4, 1), 100)) {
        BOOST_TEST(length == 17);
    }
}

BOOST_AUTO_TEST_CASE(lognormal_stays_within_its_bounds_however_wide) {
    for (const double median : {0.0, 1.0, 2e9}) {
        for (const double sigma : {0.5, 10.0, 1e300}) {
            const auto lengths = drawn({Kind::lognormal, 5, 50, median, sigma, {}}, testing::plain(4, 1), 1000);
            BOOST_TEST(*std::ranges::min_element(lengths) >= 5);
            BOOST_TEST(*std::ranges::max_element(lengths) <= 50);
        }
    }
    const auto wide = drawn({Kind::lognormal, 1, longest_sequence, 1000, 20, {}}, testing::plain(4, 1), 1000);
    BOOST_TEST(share_below(wide, 2) > 0.3);
    BOOST_TEST(share_below(wide, longest_sequence) < 0.9);
}

BOOST_AUTO_TEST_CASE(edges_lie_beside_multiples_of_the_block_size_and_of_each_window) {
    Config config = testing::plain(16, 1);
    config.groups = {{"full", 0, 0}, {"swa", 100, 0}, {"wide", 1000, 4}};
    const auto lengths = drawn({Kind::edges, 1, 3000, 1, 0, {}}, config);
    std::array<int, 3> beside{};
    for (const Length length : lengths) {
        BOOST_TEST_REQUIRE(length >= 1);
        BOOST_TEST_REQUIRE(length <= 3000);
        const std::array on = {is_beside_a_multiple(length, 16), is_beside_a_multiple(length, 100),
                               is_beside_a_multiple(length, 1000)};
        BOOST_TEST_REQUIRE((on[0] || on[1] || on[2]), length);
        for (std::size_t unit = 0; unit < on.size(); ++unit) {
            beside[unit] += on[unit] ? 1 : 0;
        }
    }
    for (const int count : beside) {
        BOOST_TEST(count > many / 4);  // each unit gets its share
    }
    for (const Length edge : {15, 16, 17, 99, 100, 101, 999, 1000, 1001, 3000}) {
        BOOST_TEST(std::ranges::count(lengths, edge) > 0, edge);
    }
}

BOOST_AUTO_TEST_CASE(edges_keep_to_the_bounds_where_few_or_none_fit) {
    const Config config = testing::windowed(16, 1, 64);
    for (const Length length : drawn({Kind::edges, 60, 70, 1, 0, {}}, config, 1000)) {
        BOOST_TEST((length >= 63 && length <= 65), length);
    }
    for (const Length length : drawn({Kind::edges, 5, 9, 1, 0, {}}, config, 100)) {
        BOOST_TEST(length == 5);
    }
    for (const Length length : drawn({Kind::edges, 0, 0, 1, 0, {}}, config, 100)) {
        BOOST_TEST(length == 0);
    }
}

BOOST_AUTO_TEST_CASE(values_come_from_the_list_and_are_clamped) {
    const auto lengths = drawn({Kind::values, 2, 50, 1, 0, {1, 7, 900}}, testing::plain(4, 1), 1000);
    const std::set<Length> all(lengths.begin(), lengths.end());
    BOOST_TEST(all == (std::set<Length>{2, 7, 50}), per_element());
    BOOST_TEST(drawn({Kind::values, 2, 50, 1, 0, {}}, testing::plain(4, 1), 1).front() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

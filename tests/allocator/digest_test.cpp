// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <initializer_list>
#include <set>

#include <kvpane/allocator/digest.h>

namespace kvpane::testing {

namespace {

std::uint64_t digest_of(std::initializer_list<std::uint64_t> words) {
    Digest digest;
    for (const std::uint64_t word : words) {
        digest.add(word);
    }
    return digest.value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(digests)

BOOST_AUTO_TEST_CASE(equal_words_give_equal_digests) { BOOST_TEST(digest_of({1, 2, 3}) == digest_of({1, 2, 3})); }

BOOST_AUTO_TEST_CASE(order_and_number_of_words_count) {
    BOOST_TEST(digest_of({1, 2}) != digest_of({2, 1}));
    BOOST_TEST(digest_of({}) != digest_of({0}));
    BOOST_TEST(digest_of({0}) != digest_of({0, 0}));
    BOOST_TEST(digest_of({1, 0}) != digest_of({1}));
}

BOOST_AUTO_TEST_CASE(each_bit_of_a_word_counts) {
    std::set<std::uint64_t> seen{digest_of({0})};
    for (unsigned bit = 0; bit < 64; ++bit) {
        seen.insert(digest_of({std::uint64_t{1} << bit}));
    }
    BOOST_TEST(seen.size() == 65U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

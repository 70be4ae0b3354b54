// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <cstdint>

#include <kvpane/allocator/fences.h>

#include "support/printing.h"

namespace kvpane::testing {

namespace {

std::uint64_t digest_of(const Fences& fences) {
    Digest digest;
    fences.add_to(digest);
    return digest.value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fences)

BOOST_AUTO_TEST_CASE(without_an_open_step_nothing_has_to_wait) {
    const Fences fences;
    BOOST_TEST(!fences.any_open());
    BOOST_TEST(fences.passed(fences.current_epoch()));
}

BOOST_AUTO_TEST_CASE(what_is_given_up_during_a_step_waits_for_its_end) {
    Fences fences;
    BOOST_TEST(fences.begin(StepId{7}).has_value());
    const std::uint64_t epoch = fences.current_epoch();
    BOOST_TEST(fences.any_open());
    BOOST_TEST(!fences.passed(epoch));
    BOOST_TEST(fences.end(StepId{7}).has_value());
    BOOST_TEST(!fences.any_open());
    BOOST_TEST(fences.passed(epoch));
}

BOOST_AUTO_TEST_CASE(epochs_grow_with_every_begin_and_with_nothing_else) {
    Fences fences;
    std::uint64_t last = fences.current_epoch();
    for (std::uint64_t step = 1; step <= 3; ++step) {
        BOOST_TEST(fences.begin(StepId{step}).has_value());
        BOOST_TEST(fences.current_epoch() > last);
        last = fences.current_epoch();
        BOOST_TEST(fences.end(StepId{step}).has_value());
        BOOST_TEST(fences.current_epoch() == last);
    }
}

BOOST_AUTO_TEST_CASE(every_step_that_was_open_at_that_moment_has_to_end_in_any_order) {
    for (const bool oldest_first : {true, false}) {
        Fences fences;
        BOOST_TEST(fences.begin(StepId{1}).has_value());
        BOOST_TEST(fences.begin(StepId{2}).has_value());
        const std::uint64_t epoch = fences.current_epoch();
        BOOST_TEST(fences.end(StepId{oldest_first ? 1U : 2U}).has_value());
        BOOST_TEST(!fences.passed(epoch));
        BOOST_TEST(fences.end(StepId{oldest_first ? 2U : 1U}).has_value());
        BOOST_TEST(fences.passed(epoch));
    }
}

BOOST_AUTO_TEST_CASE(a_step_that_begins_later_does_not_matter) {
    Fences fences;
    BOOST_TEST(fences.begin(StepId{1}).has_value());
    const std::uint64_t before = fences.current_epoch();
    BOOST_TEST(fences.begin(StepId{2}).has_value());
    const std::uint64_t after = fences.current_epoch();
    BOOST_TEST(fences.end(StepId{1}).has_value());
    BOOST_TEST(fences.passed(before));
    BOOST_TEST(!fences.passed(after));
}

BOOST_AUTO_TEST_CASE(an_id_that_begins_again_is_a_new_step) {
    Fences fences;
    BOOST_TEST(fences.begin(StepId{1}).has_value());
    const std::uint64_t first = fences.current_epoch();
    BOOST_TEST(fences.end(StepId{1}).has_value());
    BOOST_TEST(fences.begin(StepId{1}).has_value());
    BOOST_TEST(fences.passed(first));
    BOOST_TEST(!fences.passed(fences.current_epoch()));
}

BOOST_AUTO_TEST_CASE(beginning_an_open_step_and_ending_a_closed_one_are_refused_and_change_nothing) {
    Fences fences;
    BOOST_TEST(fences.end(StepId{1}).error() == Error::invalid_argument);
    BOOST_TEST(fences.begin(StepId{1}).has_value());
    const std::uint64_t before = digest_of(fences);
    BOOST_TEST(fences.begin(StepId{1}).error() == Error::invalid_argument);
    BOOST_TEST(fences.end(StepId{2}).error() == Error::invalid_argument);
    BOOST_TEST(digest_of(fences) == before);
}

BOOST_AUTO_TEST_CASE(more_than_sixty_four_steps_may_be_open_at_once) {
    Fences fences;
    for (std::uint64_t step = 0; step < 200; ++step) {
        BOOST_TEST_REQUIRE(fences.begin(StepId{step}).has_value());
    }
    const std::uint64_t epoch = fences.current_epoch();
    for (std::uint64_t step = 199; step > 0; --step) {
        BOOST_TEST_REQUIRE(fences.end(StepId{step}).has_value());
    }
    BOOST_TEST(!fences.passed(epoch));
    BOOST_TEST(fences.end(StepId{0}).has_value());
    BOOST_TEST(fences.passed(epoch));
}

BOOST_AUTO_TEST_CASE(which_steps_are_open_is_part_of_the_digest) {
    Fences one;
    Fences two;
    BOOST_TEST(digest_of(one) == digest_of(two));
    BOOST_TEST(one.begin(StepId{1}).has_value());
    BOOST_TEST(two.begin(StepId{2}).has_value());
    BOOST_TEST(digest_of(one) != digest_of(two));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

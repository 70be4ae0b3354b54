// SPDX-License-Identifier: Apache-2.0
// A run that does not survive ends its own process only, and how it ended is known.
#include <kvpane/cli/isolated.h>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <stdexcept>

#include <kvpane/allocator/promise.h>

#include "invariants/faulty_engines.h"
#include "invariants/operations.h"
#include "support/kv.h"
#include "support/tamper.h"

namespace kvpane::cli {

using namespace invariants;

namespace {

using Each = std::function<void(const Outcome&)>;

const Case three{testing::plain(4, 8), {admit(0, {1}), append(1, {2}), append(0, {3})}};

// The judge, on a Manager that does `deed` in place of the third operation.
template <class Deed>
RunCase with(Deed deed) {
    return [deed](const Case& one, const Each& each) {
        std::int64_t done = 0;
        return judge(one, [&](const Outcome& outcome) {
            if (++done == 3) {
                deed();
            }
            each(outcome);
        });
    };
}

void expect_errors(const IsolatedRun& run, std::size_t operations) {
    BOOST_TEST_REQUIRE(run.errors.size() == operations);
    BOOST_TEST(!run.errors[0].has_value());
    BOOST_TEST((run.errors[1] == Error::unknown_sequence));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(isolated_runs)

BOOST_AUTO_TEST_CASE(a_sound_run_ends_with_the_errors_of_its_operations) {
    const IsolatedRun run = run_isolated(three, with([] {}));
    BOOST_TEST(!run.failure.has_value());
    expect_errors(run, 3);
    BOOST_TEST(!run.errors[2].has_value());
}

BOOST_AUTO_TEST_CASE(a_violation_comes_back_with_its_sentence) {
    const IsolatedRun run = run_isolated(three, [](const Case& one, const Each& each) {
        judge(one, each);
        return std::optional(Violation{Invariant::T3, 3, "two\nlines", Error::busy});
    });
    BOOST_TEST_REQUIRE(run.failure.has_value());
    BOOST_TEST(run.failure->kind == "invariant T3");
    BOOST_TEST(run.failure->operation == 3);
    BOOST_TEST(run.failure->what == "two\nlines");
    BOOST_TEST((run.failure->due == Error::busy));
}

BOOST_AUTO_TEST_CASE(a_broken_promise_is_a_failure_with_its_number) {
    const IsolatedRun run = run_isolated(three, with([] { broken_promise("P2", "a reference too many"); }));
    BOOST_TEST_REQUIRE(run.failure.has_value());
    BOOST_TEST(run.failure->kind == "promise P2");
    BOOST_TEST(run.failure->operation == 3);
    BOOST_TEST(run.failure->what == "a reference too many");
    expect_errors(run, 2);
}

BOOST_AUTO_TEST_CASE(another_signal_is_a_failure_too) {
    const IsolatedRun run = run_isolated(three, with([] { std::raise(SIGKILL); }));
    BOOST_TEST_REQUIRE(run.failure.has_value());
    BOOST_TEST(run.failure->kind == "signal 9");
    BOOST_TEST(run.failure->operation == 3);
}

BOOST_AUTO_TEST_CASE(an_exception_is_an_error_of_the_program) {
    BOOST_CHECK_EXCEPTION(run_isolated(three, with([] { throw std::logic_error("a mistake"); })), std::runtime_error,
                          [](const std::runtime_error& error) {
                              return std::string(error.what()) == "a run in a child process ended: a mistake";
                          });
}

BOOST_AUTO_TEST_CASE(a_run_that_breaks_a_promise_shrinks_to_what_it_needs) {
    // The Manager "dies" in the first fork at an earlier position.
    const RunCase dies = [](const Case& one, const Each& each) {
        std::size_t next = 0;
        return judge(one, [&](const Outcome& outcome) {
            const Operation& operation = one.operations[next++];
            if (operation.verb == Verb::fork && operation.at && !outcome.error) {
                broken_promise("T1", "forked where it should not");
            }
            each(outcome);
        });
    };
    Case failing{testing::plain(4, 8), {}};
    for (Name name = 0; name < 5; ++name) {
        failing.operations.push_back(admit(name, {1, 2, 3}));
        failing.operations.push_back(append(name, {4, 5}));
    }
    failing.operations.push_back(fork(3, 5, 2));
    failing.operations.push_back(release(5));
    const Shrunk shrunk = shrink(failing, [&](const Case& one) {
        const IsolatedRun run = run_isolated(one, dies);
        return run.failure && run.failure->kind == "promise T1";
    });
    BOOST_TEST(shrunk.smallest.operations.size() == 2U);
    BOOST_TEST(tokens_of(shrunk.smallest.operations) == 1U);
}

BOOST_AUTO_TEST_CASE(what_only_real_cells_show_shrinks_to_the_write_that_needs_the_copy) {
    const RunCase copies_too_little = [](const Case& one, const Each& each) {
        CheckedManager checked(one.config, CheckMode::every);
        Tamper::play_on(checked, std::make_unique<CopiesOneCellTooFew>(one.config, PayloadOptions{}));
        for (std::size_t next = 0; next < one.operations.size() && !checked.violation(); ++next) {
            each(checked.apply(one.operations[next]));
        }
        return checked.violation();
    };
    Case failing{testing::plain(4, 32), {}};
    for (Name name = 0; name < 4; ++name) {
        failing.operations.push_back(admit(name, {1, 2, 3, 4, 5, 6}));
        failing.operations.push_back(fork(name, name + 4));
        failing.operations.push_back(append(name + 4, {7, 8}));
    }
    BOOST_TEST(!judge(failing).has_value());  // the books are right
    BOOST_TEST(!judge(failing, {}, PayloadOptions{}).has_value());
    const Shrunk shrunk = shrink(failing, [&](const Case& one) {
        const IsolatedRun run = run_isolated(one, copies_too_little);
        return run.failure && run.failure->kind == "invariant T3";
    });
    const std::vector<Operation>& left = shrunk.smallest.operations;
    BOOST_TEST_REQUIRE(left.size() == 3U);
    BOOST_TEST((left[0].verb == Verb::admit && left[1].verb == Verb::fork && left[2].verb == Verb::append));
    BOOST_TEST(tokens_of(left) == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
// Memory may run out at any moment: an operation whose allocation fails throws, and has changed nothing.
#include <functional>
#include <iostream>
#include <new>
#include <vector>

#include "steady_state/steady.h"
#include "support/cache.h"
#include "support/seed.h"
#include "support/workloads.h"

namespace kvpane::testing {

namespace {

// One operation, drawn once, so that it can be tried on several Managers in the same state.
using Deed = std::function<void(Manager&)>;

struct Load {
    explicit Load(std::uint64_t seed) : lcg(seed) {}

    Length below(Length n) { return static_cast<Length>(lcg.below(static_cast<std::uint64_t>(n))); }

    Tokens draw(Length count) {
        Tokens out;
        for (Length i = 0; i < count; ++i) {
            out.push_back(static_cast<Token>(below(2)));
        }
        return out;
    }

    SequenceHandle any(const Manager& kv) {
        const auto living = kv.living();
        return living.empty() ? SequenceHandle{} : living[static_cast<std::size_t>(below(Length(living.size())))];
    }

    Deed next(const Manager& kv) {
        const SequenceHandle a = any(kv);
        const SequenceHandle b = any(kv);
        const Tokens tokens = draw(1 + below(9));
        const Length some = below(5);
        const std::string tenant = below(4) == 0 ? "a tenant with a name of more than fifteen letters" : "";
        const bool has_image = below(4) == 0;
        switch (kind = below(14)) {
            case 0:
            case 1:
            case 2:
                return [=](Manager& m) {
                    const std::vector<ExternalContent> extra{{0, 1, "an image with a name of some length"}};
                    (void)m.admit({.tokens = tokens,
                                   .scope = {.tenant = tenant},
                                   .extra = has_image ? std::span(extra) : std::span<const ExternalContent>(),
                                   .priority = some % 2,
                                   .priority_steps = 2});
                };
            case 3: return [=](Manager& m) { (void)m.append(a, tokens); };
            case 4:
                return [=](Manager& m) {
                    const Reservation batch[] = {{a, 1 + some}, {b, 2}};
                    (void)m.reserve(a == b ? std::span(batch).first(1) : std::span(batch));
                };
            case 5: return [=](Manager& m) { (void)m.commit(a, std::span(tokens).first(1)); };
            case 6: return [=](Manager& m) { (void)m.cancel(a); };
            case 7: return [=](Manager& m) { (void)m.fork(a); };
            case 8: return [=](Manager& m) { (void)m.fork(a, m.length(a).value_or(0) / 2); };
            case 9: return [=](Manager& m) { (void)m.truncate(a, std::max<Length>(0, m.length(a).value_or(0) - some)); };
            case 10: return [=](Manager& m) { (void)m.release(a, some != 0); };
            case 11: return [=](Manager& m) { (void)m.step_begin(StepId{static_cast<std::uint64_t>(some)}); };
            case 12: return [=](Manager& m) { (void)m.step_end(StepId{static_cast<std::uint64_t>(some)}); };
            default:
                return [=](Manager& m) {
                    (void)m.pin({.tokens = tokens});
                    (void)m.unpin({.tokens = tokens});
                };
        }
    }

    Lcg lcg;
    Length kind = 0;  // of the last deed, for messages
};

Config small(Granularity granularity) {
    Config config = granularity == Granularity::token ? caching_by_token(3, 40) : caching(3, 40);
    config.groups = {{"full", 0, 0}, {"swa", 5, 1}};
    config.expected_sequences = 1;
    config.prefix_cache.kept_events = 8;
    return config;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failing_allocations, *boost::unit_test::precondition(nobody_replaces_the_counter))

BOOST_AUTO_TEST_CASE(an_operation_that_runs_out_of_memory_has_changed_nothing_and_can_be_tried_again) {
    std::uint64_t failures = 0;
    for (const Granularity granularity : {Granularity::block, Granularity::token}) {
        Manager kv(small(granularity));
        Load load(seed());
        for (int operation = 0; operation < 400; ++operation) {
            const Deed deed = load.next(kv);
            const std::uint64_t before = kv.digest();
            std::vector<std::uint64_t> ends;  // digests of the copies that could go on
            for (std::uint64_t n = 1;; ++n) {
                Manager trial(small(granularity));
                trial.assign(kv);
                bool failed = false;
                fail_allocation(n);
                try {
                    deed(trial);
                } catch (const std::bad_alloc&) {
                    failed = true;
                }
                fail_allocation(0);
                if (failed) {
                    ++failures;
                    BOOST_TEST_REQUIRE(trial.digest() == before,
                                       "operation " << operation << " (kind " << load.kind << "), allocation " << n << " left a trace");
                    deed(trial);
                }
                ends.push_back(trial.digest());
                if (!failed) {
                    break;
                }
            }
            deed(kv);
            for (const std::uint64_t end : ends) {
                BOOST_TEST_REQUIRE(end == kv.digest(), "operation " << operation << " ended in another state");
            }
        }
    }
    std::cout << failures << " allocations failed\n";
    BOOST_TEST(failures > 1000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

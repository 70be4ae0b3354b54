// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

#include <kvpane/blocktable/manager.h>

#include "steady_state/steady.h"

// The prefix cache after warming up: prompts that hit, evict, come back, are refused. External content aside.
namespace kvpane::testing {

namespace {

constexpr std::size_t families = 6;
constexpr std::size_t length = 90;

std::vector<std::vector<Token>> prompts_of() {
    std::vector<std::vector<Token>> out;
    for (std::size_t i = 0; i < 4 * families; ++i) {
        std::vector<Token> prompt;
        for (std::size_t at = 0; at < length; ++at) {
            const bool is_shared = at < 50;
            const std::size_t drawn = (is_shared ? i % families : i) * 31 + at * 7;
            prompt.push_back(static_cast<Token>(drawn % 11));
        }
        out.push_back(prompt);
    }
    return out;
}

const std::vector<std::vector<Token>> prompts = prompts_of();
const Scope tenant{.tenant = "a tenant with a name that no small string can hold"};

struct Variant {
    std::vector<GroupConfig> groups;
    Granularity granularity = Granularity::block;
};

const std::vector<Variant> variants{
    {{{"full", 0, 0}}},
    {{{"full", 0, 0}}, Granularity::token},
    {{{"swa", 16, 4}}, Granularity::token},
    {{{"full", 0, 0}, {"swa", 7, 0}, {"one", 1, 0}}},
    {{{"full", 0, 0}, {"swa", 7, 4}}, Granularity::token},
};

// With lru: each use count that lfu never saw before makes a list. Room for a few prompts: most of what comes back has been evicted in part.
Config config_of(const Variant& variant) {
    Config config;
    config.block_size = 4;
    config.blocks = static_cast<std::int64_t>(variant.groups.size()) * 90;
    config.groups = variant.groups;
    config.prefix_cache.granularity = variant.granularity;
    config.prefix_cache.kept_events = 64;
    config.expected_sequences = 8;
    config.expected_length = 2 * length;
    return config;
}

template <class Work>
void expect_no_heap(Work work) {
    for (const Variant& variant : variants) {
        Manager kv(config_of(variant));
        for (int round = 0; round < 3; ++round) {
            work(kv);
        }
        BOOST_TEST(heap_calls_of([&] { work(kv); }) == 0U);
    }
}

SequenceHandle admitted(Manager& kv, std::size_t i, std::int64_t priority = 0) {
    const auto result =
        kv.admit({.tokens = prompts[i % prompts.size()], .scope = tenant, .priority = priority, .priority_steps = 2});
    must_hold(result.has_value());
    return result->sequence;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(steady_prefix_cache, *boost::unit_test::precondition(nobody_replaces_the_counter))

BOOST_AUTO_TEST_CASE(prompts_that_hit_and_evict_each_other_do_not_touch_the_heap) {
    expect_no_heap([](Manager& kv) {
        const std::uint64_t evicted = kv.statistics().evicted_blocks;
        for (std::size_t i = 0; i < 100; ++i) {
            const SequenceHandle sequence = admitted(kv, i * 5, static_cast<std::int64_t>(i % 3));
            must_hold(kv.append(sequence, std::span(prompts[i % prompts.size()]).first(i % 9 + 1)).has_value());
            must_hold(kv.release(sequence, i % 4 != 0).has_value());
        }
        must_hold(kv.statistics().evicted_blocks > evicted && kv.statistics().hit_tokens > 0);
    });
}

BOOST_AUTO_TEST_CASE(probes_and_plans_do_not_touch_the_heap) {
    expect_no_heap([](Manager& kv) {
        must_hold(kv.release(admitted(kv, 0)).has_value());
        must_hold(kv.release(admitted(kv, 0)).has_value());
        for (const std::vector<Token>& prompt : prompts) {
            must_hold(kv.probe({.tokens = prompt, .scope = tenant}).has_value());
            must_hold(kv.plan_prompt({.tokens = prompt, .scope = tenant}, 16).has_value());
        }
        must_hold(kv.digest() != 0);
    });
}

BOOST_AUTO_TEST_CASE(evicting_pinning_and_forgetting_do_not_touch_the_heap) {
    const std::vector<Length> entries{0, 3};
    expect_no_heap([&](Manager& kv) {
        for (std::size_t i = 0; i < 20; ++i) {
            const SequenceHandle sequence = admitted(kv, i);
            must_hold(kv.pin({.tokens = prompts[i % prompts.size()], .scope = tenant}).has_value());
            must_hold(kv.unpin({.tokens = prompts[i % prompts.size()], .scope = tenant}).has_value());
            must_hold(kv.uncache(sequence, entries).has_value());
            must_hold(kv.release(sequence).has_value());
            must_hold(kv.evict(3).has_value());
            must_hold(kv.release(admitted(kv, i)).has_value());
        }
        kv.reset_cache();
    });
}

BOOST_AUTO_TEST_CASE(branches_that_are_rewritten_do_not_touch_the_heap) {
    expect_no_heap([](Manager& kv) {
        for (std::size_t i = 0; i < 30; ++i) {
            const SequenceHandle parent = admitted(kv, i % 3);
            const SequenceHandle child = kv.fork(parent).value();
            must_hold(kv.truncate(child, static_cast<Length>(length) - 1).has_value());
            must_hold(kv.append(child, std::span(prompts[i % prompts.size()]).first(7)).has_value());
            must_hold(kv.release(parent).has_value());
            must_hold(kv.release(child).has_value());
        }
    });
}

BOOST_AUTO_TEST_CASE(hits_behind_fences_do_not_touch_the_heap) {
    expect_no_heap([](Manager& kv) {
        for (std::uint64_t step = 0; step < 50; ++step) {
            must_hold(kv.step_begin(StepId{step}).has_value());
            const SequenceHandle sequence = admitted(kv, step % 2);
            must_hold(kv.release(sequence).has_value());
            must_hold(kv.step_end(StepId{step}).has_value());
        }
    });
}

BOOST_AUTO_TEST_CASE(refused_admissions_with_hits_do_not_touch_the_heap) {
    expect_no_heap([](Manager& kv) {
        std::array<SequenceHandle, 64> alive{};
        std::size_t n = 0;
        std::size_t refused = 0;
        while (refused == 0) {
            must_hold(n < alive.size());
            const auto result = kv.admit({.tokens = prompts[n % prompts.size()], .scope = tenant});
            if (result.has_value()) {
                alive[n++] = result->sequence;
            } else {
                must_hold(result.error() == Error::later);
                ++refused;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            must_hold(kv.release(alive[i]).has_value());
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

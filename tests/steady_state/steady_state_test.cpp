// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <vector>

#include <kvpane/blocktable/exports.h>
#include <kvpane/blocktable/manager.h>

#include "steady_state/steady.h"

namespace kvpane::testing {

namespace {

constexpr std::size_t sequences = 8;
constexpr Length longest = 400;
const std::vector<Token> prompt(64, Token{3});
const std::vector<Token> some(16, Token{5});

Config config_of(std::vector<GroupConfig> groups) {
    Config config;
    config.block_size = 4;
    config.blocks = static_cast<std::int64_t>(sequences * groups.size()) * (longest / 4 + 2);
    config.groups = std::move(groups);
    config.expected_sequences = 2 * sequences;
    config.expected_length = longest;
    return config;
}

struct Engine {
    Manager kv;
    std::array<SequenceHandle, sequences> alive{};
    std::array<Token, sequences> one_each{};

    explicit Engine(const Config& config) : kv(config) {
        for (SequenceHandle& sequence : alive) {
            sequence = kv.admit({.tokens = prompt}).value().sequence;
        }
    }

    void decode(int steps) {
        for (int step = 0; step < steps; ++step) {
            must_hold(kv.append_batch(alive, one_each).has_value());
        }
    }

    // Reserve a few cells, accept some of them, give back the rest, go back one.
    void speculate(int steps) {
        for (int step = 0; step < steps; ++step) {
            const SequenceHandle sequence = alive[static_cast<std::size_t>(step) % sequences];
            const Reservation drafts{sequence, 5};
            must_hold(kv.reserve(std::span(&drafts, 1)).has_value());
            must_hold(kv.commit(sequence, std::span(some).first(static_cast<std::size_t>(step) % 3)).has_value());
            must_hold(kv.cancel(sequence).has_value());
            must_hold(kv.truncate(sequence, kv.length(sequence).value()).has_value());
        }
    }

    void fork_and_release(int steps) {
        for (int step = 0; step < steps; ++step) {
            const SequenceHandle parent = alive[static_cast<std::size_t>(step) % sequences];
            const SequenceHandle child = kv.fork(parent).value();
            must_hold(kv.append(child, std::span(some).first(1)).has_value());
            must_hold(kv.release(child).has_value());
        }
    }

    void come_and_go(int steps) {
        for (int step = 0; step < steps; ++step) {
            SequenceHandle& sequence = alive[static_cast<std::size_t>(step) % sequences];
            must_hold(kv.release(sequence).has_value());
            sequence = kv.admit({.tokens = prompt}).value().sequence;
        }
    }

    void overlap_device_steps(int steps) {
        for (int step = 0; step < steps; ++step) {
            const auto id = static_cast<std::uint64_t>(step);
            must_hold(kv.step_begin(StepId{id}).has_value());
            come_and_go(1);
            if (id > 0) {
                must_hold(kv.step_end(StepId{id - 1}).has_value());
            }
        }
        must_hold(kv.step_end(StepId{static_cast<std::uint64_t>(steps) - 1}).has_value());
    }
};

const std::vector<std::vector<GroupConfig>> all_groups{
    {{"full", 0, 0}},
    {{"swa", 16, 0}},
    {{"full", 0, 0}, {"swa", 7, 4}, {"one", 1, 0}},
};

// The work, after one round of the same kind, must not touch the heap.
template <class Work>
void expect_no_heap(Work work) {
    for (const auto& groups : all_groups) {
        for (const WindowRelease release : {WindowRelease::commit, WindowRelease::reserve}) {
            for (const bool cache : {false, true}) {
                Config config = config_of(groups);
                config.window_release = release;
                config.prefix_cache.enabled = cache;
                Engine engine(config);
                work(engine);
                BOOST_TEST(heap_calls_of([&] { work(engine); }) == 0U);
            }
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(steady_state, *boost::unit_test::precondition(nobody_replaces_the_counter))

BOOST_AUTO_TEST_CASE(the_counter_counts) {
    BOOST_TEST(heap_calls_of([] { std::make_unique<int>(1); }) == 2U);
    BOOST_TEST(heap_calls_of([] { std::vector<int>(100); }) == 2U);
    BOOST_TEST(heap_calls_of([] {}) == 0U);
}

BOOST_AUTO_TEST_CASE(decoding_does_not_touch_the_heap) {
    expect_no_heap([](Engine& engine) { engine.decode(100); });
}

BOOST_AUTO_TEST_CASE(decoding_within_the_expected_length_needs_no_warming_up) {
    for (const auto& groups : all_groups) {
        Engine engine(config_of(groups));
        engine.decode(1);
        BOOST_TEST(heap_calls_of([&] { engine.decode(longest - 64 - 1); }) == 0U);
    }
}

BOOST_AUTO_TEST_CASE(speculating_does_not_touch_the_heap) {
    expect_no_heap([](Engine& engine) { engine.speculate(200); });
}

BOOST_AUTO_TEST_CASE(forking_and_releasing_do_not_touch_the_heap) {
    expect_no_heap([](Engine& engine) { engine.fork_and_release(100); });
}

BOOST_AUTO_TEST_CASE(sequences_come_and_go_without_the_heap) {
    expect_no_heap([](Engine& engine) { engine.come_and_go(100); });
}

BOOST_AUTO_TEST_CASE(device_steps_and_fences_do_not_touch_the_heap) {
    expect_no_heap([](Engine& engine) { engine.overlap_device_steps(100); });
}

BOOST_AUTO_TEST_CASE(refusals_do_not_touch_the_heap) {
    Config config = config_of({{"full", 0, 0}});
    config.blocks = static_cast<std::int64_t>(sequences) * 16;  // the prompts fill the pool
    config.prefix_cache.enabled = false;
    Engine engine(config);
    const std::vector<Token> too_much(4096, Token{1});
    const auto refusals = [&] {
        must_hold(engine.kv.append(engine.alive[0], some).error() == Error::later);
        must_hold(engine.kv.admit({.tokens = prompt}).error() == Error::later);
        must_hold(engine.kv.admit({.tokens = too_much}).error() == Error::never);
        must_hold(engine.kv.append_batch(engine.alive, engine.one_each).error() == Error::never);
        must_hold(engine.kv.release(SequenceHandle{}).error() == Error::unknown_sequence);
        must_hold(engine.kv.truncate(engine.alive[0], -1).error() == Error::invalid_argument);
    };
    refusals();
    BOOST_TEST(heap_calls_of(refusals) == 0U);
}

BOOST_AUTO_TEST_CASE(plans_and_digests_do_not_touch_the_heap) {
    expect_no_heap([](Engine& engine) {
        std::array<Reservation, sequences> asked{};
        for (std::size_t i = 0; i < sequences; ++i) {
            asked[i] = {engine.alive[i], 3};
        }
        must_hold(engine.kv.plan(asked).has_value());
        must_hold(engine.kv.plan_prompt(100'000, 16).has_value());
        must_hold(engine.kv.digest() != 0);
    });
}

BOOST_AUTO_TEST_CASE(exports_and_bound_rows_do_not_touch_the_heap) {
    std::array<std::int32_t, sequences + 1> indptr{};
    std::vector<std::int32_t> indices(sequences * (longest / 4 + 1));
    std::array<std::int32_t, sequences> last_page_len{};
    std::array<std::int64_t, sequences> first_position{};
    std::vector<std::int32_t> row(longest);
    std::array<Slot, 4> slots{};
    expect_no_heap([&](Engine& engine) {
        const GroupId group{0};
        const CsrArrays out{indptr, indices, last_page_len, first_position};
        must_hold(export_csr(engine.kv, engine.alive, group, out).has_value());
        must_hold(export_padded(engine.kv, engine.alive, group, longest / 8, indices).has_value());
        const Length end = engine.kv.length(engine.alive[0]).value();
        must_hold(export_slots(engine.kv, engine.alive[0], group, end - 1, std::span(slots).first(1)).has_value());
        must_hold(engine.kv.bind_row(engine.alive[0], group, row).has_value());
        engine.decode(10);
        must_hold(engine.kv.take_row_change(engine.alive[0], group).has_value());
        must_hold(engine.kv.unbind_row(engine.alive[0], group).has_value());
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

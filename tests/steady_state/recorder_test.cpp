// SPDX-License-Identifier: Apache-2.0
// A journal in the making leaves the heap alone.
#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

#include <kvpane/invariants/recorder.h>

#include "steady_state/steady.h"

namespace kvpane::testing {

namespace {

// Takes everything and keeps nothing.
struct Abyss final : invariants::JournalSink {
    bool write(std::span<const std::byte> bytes) noexcept override {
        taken += bytes.size();
        return true;
    }
    std::size_t taken = 0;
};

Config config_of() {
    Config config;
    config.block_size = 4;
    config.blocks = 400;
    config.expected_sequences = 8;
    config.expected_length = 200;
    return config;
}

// Each kind of call once; behind it everything is as before, up to the order of the blocks.
void serve(Manager& kv) {
    static const std::vector<Token> prompt(64, Token{3});
    static const std::vector<Token> drafts(4, Token{5});
    const Scope scope{.model = "a model with a long name", .tenant = "a tenant with a long name"};
    const std::array<ExternalContent, 1> picture{{{8, 4, "picture"}}};
    const Prompt asked{.tokens = prompt, .scope = scope, .extra = picture};
    std::array<SequenceHandle, 2> alive{kv.admit(asked).value().sequence, kv.admit(asked).value().sequence};
    must_hold(kv.step_begin(StepId{1}).has_value());
    for (Length cells = 1; cells < 5; ++cells) {
        const std::array<Reservation, 2> batch{{{alive[0], cells}, {alive[1], 5 - cells}}};
        must_hold(kv.reserve(batch).has_value());
        must_hold(kv.commit(alive[0], std::span(drafts).first(1)).has_value());
        must_hold(kv.cancel(alive[0]).has_value());
        must_hold(kv.cancel(alive[1]).has_value());
        must_hold(kv.append(alive[0], drafts).has_value());
        must_hold(kv.append_batch(alive, std::span(drafts).first(2)).has_value());
    }
    must_hold(kv.truncate(alive[0], 60).has_value());
    const SequenceHandle child = kv.fork(alive[0]).value();
    must_hold(kv.release(child).has_value());
    must_hold(kv.pin(asked).has_value());
    must_hold(kv.unpin(asked).has_value());
    const std::array<Length, 2> entries{0, 1};
    must_hold(kv.uncache(alive[0], entries).has_value());
    must_hold(kv.release(SequenceHandle{}).error() == Error::unknown_sequence);
    for (const SequenceHandle sequence : alive) {
        must_hold(kv.release(sequence).has_value());
    }
    must_hold(kv.step_end(StepId{1}).has_value());
    must_hold(kv.evict(2).has_value());
    kv.reset_cache();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_recorded_engine, *boost::unit_test::precondition(nobody_replaces_the_counter))

BOOST_AUTO_TEST_CASE(does_not_touch_the_heap) {
    for (const bool digests : {false, true}) {
        Manager kv(config_of());
        Abyss abyss;
        invariants::Recorder recorder(kv, abyss, {.digests = digests});
        serve(kv);
        serve(kv);
        const std::size_t before = abyss.taken;
        BOOST_TEST(heap_calls_of([&] {
                       for (int i = 0; i < 200; ++i) {
                           serve(kv);
                       }
                   }) == 0U);
        BOOST_TEST(recorder.ok());
        BOOST_TEST(abyss.taken > before);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

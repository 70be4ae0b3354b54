// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <vector>

#include "support/workloads.h"

namespace kvpane::testing {

namespace {

struct Request {
    SequenceHandle sequence;
    Token pending = 1;
    Token steps = 0;
};

struct Outcome {
    std::uint64_t tables = 0;
    std::uint64_t refusals = 0;
    std::uint64_t decoded = 0;
};

constexpr std::uint64_t requests = 1000;
constexpr std::size_t most_alive = 64;
constexpr Token most_steps = 128;

// 64 prefixes of 2048 tokens, 512 tokens of its own for each request, 128 decode steps.
class SharedPrefixes {
public:
    explicit SharedPrefixes(Manager& kv) : kv_(kv) {
        for (std::uint64_t g = 0; g < 64; ++g) {
            prefixes_.push_back(drawn_tokens(1000 + g, 2048));
        }
    }

    Outcome run() {
        while (next_ < requests || !alive_.empty()) {
            while (alive_.size() < most_alive && next_ < requests && admit()) {
            }
            decode();
        }
        outcome_.tables = tables_.value();
        return outcome_;
    }

private:
    bool admit() {
        Tokens prompt = prefixes_[picks_.below(64)];
        const Tokens own = drawn_tokens(100'000 + next_, 512);
        prompt.insert(prompt.end(), own.begin(), own.end());
        const auto admitted = kv_.admit({.tokens = prompt});
        if (!admitted.has_value()) {
            ++outcome_.refusals;
            return false;
        }
        tables_.add(table_of(kv_, admitted->sequence));
        alive_.push_back({admitted->sequence});
        ++next_;
        return true;
    }

    void decode() {
        std::deque<Request> still;
        for (Request& request : alive_) {
            must(reserve(kv_, request.sequence, 1));
            must(kv_.commit(request.sequence, std::span(&request.pending, 1)));
            ++outcome_.decoded;
            request.pending = ++request.steps & 0xffff;
            if (request.steps == most_steps) {
                must(kv_.release(request.sequence));
            } else {
                still.push_back(request);
            }
        }
        alive_ = std::move(still);
    }

    Manager& kv_;
    std::vector<Tokens> prefixes_;
    Lcg picks_{7};
    std::uint64_t next_ = 0;
    std::deque<Request> alive_;
    Fnv tables_;
    Outcome outcome_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_workloads)

BOOST_AUTO_TEST_CASE(a_long_prompt_that_comes_back_25_times_is_found_whole_each_time) {
    Manager kv(workload(16'386));
    const Tokens prompt = drawn_tokens(42, 32'769);
    const SequenceHandle first = must(kv.admit({.tokens = prompt, .compute = 2048})).sequence;
    for (Length at = 2048; at < 32'769; at += 2048) {
        const auto chunk = std::min<Length>(2048, 32'769 - at);
        must(kv.append(first, std::span(prompt).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(chunk))));
    }
    must(kv.release(first));
    for (int round = 0; round < 25; ++round) {
        const Admission again = must(kv.admit({.tokens = prompt}));
        BOOST_TEST(again.cached_tokens == 32'768);
        BOOST_TEST(again.step.cells == 1);
        BOOST_TEST(again.step.blocks_taken == 1);
        must(kv.release(again.sequence));
    }
    BOOST_TEST(kv.statistics().evicted_blocks == 0U);
}

BOOST_AUTO_TEST_CASE(cold_prompts_that_evict_each_other_leave_the_recorded_free_queue) {
    Manager kv(workload(16'385));
    for (std::uint64_t i = 0; i < 28; ++i) {
        const Tokens prompt = drawn_tokens(1000 + i, 32'768);
        const Admission cold = must(kv.admit({.tokens = prompt}));
        BOOST_TEST(cold.cached_tokens == 0);
        must(kv.release(cold.sequence));
        BOOST_TEST(kv.statistics().evicted_blocks == (i < 8 ? 0 : (i - 7) * 2048));
    }
    BOOST_TEST(fnv(queue_of(kv)) == 0x2e552e0aef894325U);
}

BOOST_AUTO_TEST_CASE(a_thousand_requests_with_shared_prefixes_give_every_recorded_figure) {
    Manager kv(workload(12'289));
    const Outcome outcome = SharedPrefixes(kv).run();
    BOOST_TEST(kv.statistics().queried_tokens == 2'560'000U);
    BOOST_TEST(kv.statistics().hit_tokens == 1'731'584U);
    BOOST_TEST(outcome.refusals == 0U);
    BOOST_TEST(outcome.decoded == 128'000U);
    BOOST_TEST(kv.statistics().evicted_blocks == 47'488U);
    BOOST_TEST(outcome.tables == 0x609867e54ca632bdU);
    BOOST_TEST(fnv(queue_of(kv)) == 0x94be45977d649365U);
}

BOOST_AUTO_TEST_CASE(prompts_that_fill_the_index_are_all_found_again) {
    Manager kv(workload(65'536 + 1 + 32));
    for (std::uint64_t i = 0; i < 32; ++i) {
        const Tokens prompt = drawn_tokens(1000 + i, 32'768);
        must(kv.release(must(kv.admit({.tokens = prompt})).sequence));
    }
    BOOST_TEST(kv.index_entries() == 65'536U);
    for (std::uint64_t i = 0; i < 32; ++i) {
        Tokens prompt = drawn_tokens(1000 + i, 32'768);
        prompt.push_back(0);
        BOOST_TEST(must(kv.probe({.tokens = prompt})) == 32'768);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

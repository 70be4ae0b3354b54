// SPDX-License-Identifier: Apache-2.0
// When may a cached prefix be reused exactly? The seven questions that the article on prefix reuse asked of a cache, and
// its nine queries, put to the Manager at token granularity.
#include <algorithm>
#include <limits>

#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

constexpr std::uint32_t block_sizes[] = {1, 4, 16};

const Scope owner{.tenant = "owner"};

// The two prefixes that are remembered, in this order.
const Tokens first_prefix = tokens(1, 8);
const Tokens second_prefix = tokens(1, 5) + tokens(20, 22);

void remember_both(Manager& kv) {
    leave(kv, first_prefix, owner);
    leave(kv, second_prefix, owner);
}

Config one_window(std::uint32_t block_size, Length window) {
    Config config = caching_by_token(block_size, 64);
    config.groups = {{"swa", window, 0}};
    return config;
}

// What is left to compute of the prompt, and what was copied for it.
struct Work {
    Length computed = 0;
    Length copied = 0;

    friend bool operator==(const Work&, const Work&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Work& work) {
        return out << work.computed << " computed, " << work.copied << " copied";
    }
};

Work work_of(Manager& kv, const Tokens& prompt, const Scope& scope) {
    const Admission admission = admit_prompt(kv, prompt, scope);
    Work work{admission.step.cells, 0};
    std::ranges::for_each(admission.step.copies, [&](const BlockCopy& copy) { work.copied += copy.cells; });
    must(kv.release(admission.sequence, false));
    return work;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_reuse_of_the_article)

BOOST_AUTO_TEST_CASE(the_nine_queries_have_their_cuts_with_every_block_size) {
    for (const std::uint32_t block_size : block_sizes) {
        Manager kv(caching_by_token(block_size, 64));
        remember_both(kv);
        BOOST_TEST(found(kv, tokens(1, 12), owner) == 8);                                  // append
        BOOST_TEST(found(kv, Tokens{20} + tokens(2, 12), owner) == 0);                     // edit of the first
        BOOST_TEST(found(kv, tokens(1, 4) + Tokens{20} + tokens(6, 12), owner) == 4);      // in the middle
        BOOST_TEST(found(kv, tokens(1, 7) + Tokens{22} + tokens(9, 12), owner) == 7);      // of the last
        BOOST_TEST(found(kv, tokens(1, 4), owner) == 3);                                   // shorter
        BOOST_TEST(found(kv, tokens(1, 5) + tokens(20, 22) + tokens(9, 12), owner) == 8);  // second branch
        BOOST_TEST(found(kv, tokens(1, 12), {.tenant = "another-owner"}) == 0);            // other scope
        for (const bool early_blocks_are_gone : {false, true}) {
            Manager windowed(one_window(block_size, 4));
            leave(windowed, tokens(1, 8), owner);
            if (early_blocks_are_gone && block_size == 1) {
                must(windowed.evict(4));
            }
            const Length edit = found(windowed, tokens(1, 4) + Tokens{20} + tokens(6, 12), owner);
            BOOST_TEST(edit == (early_blocks_are_gone && block_size == 1 ? 0 : 4));
            BOOST_TEST(found(windowed, tokens(1, 12), owner) == 8);
        }
    }
}

// An edit in the middle keeps what stands before it and nothing behind it, though those tokens are equal again.
BOOST_AUTO_TEST_CASE(a_middle_edit_keeps_only_what_stands_before_it) {
    for (const std::uint32_t block_size : block_sizes) {
        Manager kv(caching_by_token(block_size, 64));
        remember_both(kv);
        const Tokens edited = tokens(1, 4) + Tokens{20} + tokens(6, 12);
        const Length copied = 4 % block_size;
        BOOST_TEST(work_of(kv, edited, owner) == (Work{8, copied}));
        const SequenceHandle a = admit_prompt(kv, edited, owner).sequence;
        BOOST_TEST(found(kv, edited + Tokens{13}, owner) == 12 / block_size * block_size + (block_size == 16 ? 4 : 0));
        must(kv.release(a));
        BOOST_TEST(found(kv, edited + Tokens{13}, owner) == 12);
        BOOST_TEST(found(kv, first_prefix + Tokens{13}, owner) == 8);
    }
}

BOOST_AUTO_TEST_CASE(a_query_of_one_token_reuses_nothing_and_one_more_token_costs_one) {
    for (const std::uint32_t block_size : block_sizes) {
        Manager kv(caching_by_token(block_size, 64));
        remember_both(kv);
        BOOST_TEST(work_of(kv, {1}, owner) == (Work{1, 0}));
        BOOST_TEST(found(kv, first_prefix, owner) == 7);  // the last token is always computed
        BOOST_TEST(work_of(kv, first_prefix + Tokens{9}, owner).computed == 1);
    }
}

// Whoever continues a prefix, in whatever order, finds the same and leaves the other branch as it was.
BOOST_AUTO_TEST_CASE(branches_do_not_change_one_another) {
    const Tokens one = first_prefix + tokens(9, 12);
    const Tokens two = second_prefix + tokens(9, 12);
    for (const std::uint32_t block_size : block_sizes) {
        for (const bool turned : {false, true}) {
            Manager kv(caching_by_token(block_size, 64));
            leave(kv, turned ? second_prefix : first_prefix, owner);
            leave(kv, turned ? first_prefix : second_prefix, owner);
            const SequenceHandle a = admit_prompt(kv, turned ? two : one, owner).sequence;
            const Ids table = table_of(kv, a);
            const Admission b = admit_prompt(kv, turned ? one : two, owner);
            BOOST_TEST(b.cached_tokens == 8);
            feed(kv, b.sequence, tokens(40, 60));
            BOOST_TEST(table_of(kv, a) == table, per_element());
            BOOST_TEST(found(kv, first_prefix + Tokens{99}, owner) == 8);
            BOOST_TEST(found(kv, second_prefix + Tokens{99}, owner) == 8);
            must(kv.truncate(b.sequence, 3));
            feed(kv, b.sequence, tokens(50, 60));  // writes where it had hit: into a copy
            BOOST_TEST(table_of(kv, a) == table, per_element());
            BOOST_TEST(found(kv, first_prefix + Tokens{99}, owner) == 8);
            BOOST_TEST(found(kv, second_prefix + Tokens{99}, owner) == 8);
        }
    }
}

// The weights are the scope's model: other weights, another adapter or another owner find nothing.
BOOST_AUTO_TEST_CASE(another_scope_or_other_weights_find_nothing) {
    const Scope base{.model = "weights-7", .tenant = "owner"};
    const Scope others[] = {
        {.model = "weights-7 after an update", .tenant = "owner"},
        {.model = "weights-7", .tenant = "another-owner"},
        {.model = "weights-7", .adapter = "tuned", .tenant = "owner"},
        {.model = "weights-7", .tenant = "owner", .salt = "s"},
        {.model = "owner", .tenant = "weights-7"},
        {},
    };
    for (const std::uint32_t block_size : block_sizes) {
        Manager kv(caching_by_token(block_size, 64));
        leave(kv, first_prefix, base);
        for (const Scope& other : others) {
            BOOST_TEST(found(kv, tokens(1, 12), other) == 0);
        }
        BOOST_TEST(found(kv, tokens(1, 12), base) == 8);
    }
}

// With a window, a cut is only as good as the cells before it that are still there: else everything is computed.
BOOST_AUTO_TEST_CASE(a_window_whose_cells_are_gone_falls_back_to_computing_everything) {
    for (const std::uint32_t block_size : {1U, 4U}) {
        Config config = one_window(block_size, 4);
        config.window_release = WindowRelease::commit;
        Manager kv(config);
        const SequenceHandle a = admit_prompt(kv, tokens(1, 4), owner).sequence;
        for (Token token = 5; token <= 16; ++token) {
            feed(kv, a, {token});
        }
        must(kv.evict(64));  // what slid out of the window is idle, and goes
        must(kv.release(a));
        BOOST_TEST(found(kv, tokens(1, 20), owner) == 16);                           // the last W - 1 cells are there
        BOOST_TEST(found(kv, tokens(1, 8) + Tokens{99} + tokens(10, 20), owner) == 0);  // those before the edit are not
        BOOST_TEST(work_of(kv, tokens(1, 8) + Tokens{99}, owner) == (Work{9, 0}));
    }
}

// What does not fit is forgotten, the longest idle first; a prompt that no empty pool can hold is refused.
BOOST_AUTO_TEST_CASE(capacity_forgets_the_longest_idle_and_refuses_what_can_never_fit) {
    for (const std::uint32_t block_size : block_sizes) {
        const auto blocks = static_cast<Length>((8 + block_size - 1) / block_size);  // of one prefix
        Manager kv(caching_by_token(block_size, 2 * blocks));
        leave(kv, tokens(1, 8), owner);
        leave(kv, tokens(101, 108), owner);
        leave(kv, tokens(201, 208), owner);
        BOOST_TEST(found(kv, tokens(1, 12), owner) == 0);
        BOOST_TEST(found(kv, tokens(101, 112), owner) == 8);
        BOOST_TEST(found(kv, tokens(201, 212), owner) == 8);
        const Tokens too_long = some_tokens(2 * blocks * block_size + 1);
        expect_refusal(kv, Error::never, [&] { return kv.admit({.tokens = too_long, .scope = owner}); });
        BOOST_TEST(found(kv, tokens(101, 112), owner) == 8);
    }
}

BOOST_AUTO_TEST_CASE(illegal_ids_are_refused_before_anything_is_looked_up) {
    constexpr Token largest = std::numeric_limits<Token>::max();
    for (const std::uint32_t block_size : block_sizes) {
        Manager kv(caching_by_token(block_size, 64));
        remember_both(kv);
        for (const Tokens& illegal : {Tokens{}, Tokens{-1}, tokens(1, 8) + Tokens{-1}, Tokens{-largest - 1}}) {
            const Prompt prompt{.tokens = illegal, .scope = owner};
            expect_refusal(kv, Error::invalid_argument, [&] { return kv.admit(prompt); });
            expect_refusal(kv, Error::invalid_argument, [&] { return kv.probe(prompt); });
            expect_refusal(kv, Error::invalid_argument, [&] { return kv.pin(prompt); });
        }
        BOOST_TEST(work_of(kv, tokens(1, 8) + Tokens{largest}, owner).computed == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

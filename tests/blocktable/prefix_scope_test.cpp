// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "support/cache.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

const std::vector<Scope> different_scopes{
    {},
    {.model = "X"},
    {.adapter = "X"},
    {.adapter_id = 1},
    {.adapter_id = -1},
    {.tenant = "X"},
    {.salt = "X"},
    {.adapter = "1"},
    {.adapter = "X", .salt = "X"},
    {.adapter = "X", .tenant = "X"},
    {.model = "X", .tenant = "X"},
    {.adapter = "c", .tenant = "ab"},
    {.adapter = "bc", .tenant = "a"},
    {.adapter = "ab", .tenant = "c"},
    {.tenant = "abc"},
    {.tenant = "ab"},
    {.tenant = "ab", .salt = "c"},
    {.adapter = "abc"},
    {.adapter = "X", .adapter_id = 1},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_scopes)

BOOST_AUTO_TEST_CASE(no_part_of_a_scope_can_stand_for_another) {
    for (const bool constant_hash : {false, true}) {
        Config config = caching(4, 64);
        config.prefix_cache.constant_hash = constant_hash;
        Manager kv(config);
        for (const Scope& owner : different_scopes) {
            BOOST_TEST(admit_prompt(kv, tokens(0, 8), owner).cached_tokens == 0);
        }
        BOOST_TEST(kv.index_entries() == 2 * different_scopes.size());
        BOOST_TEST(kv.cache_totals().stored == 2 * different_scopes.size());
        for (std::size_t i = 0; i < different_scopes.size(); ++i) {
            const Admission again = admit_prompt(kv, tokens(0, 8), different_scopes[i]);
            BOOST_TEST(again.cached_tokens == 8);
            BOOST_TEST(table_of(kv, again.sequence)[0] == 1 + 3 * i);
            must(kv.release(again.sequence, false));
        }
    }
}

BOOST_AUTO_TEST_CASE(each_scope_alone_finds_nothing_of_the_others) {
    for (const Scope& owner : different_scopes) {
        Manager kv(caching(4, 8));
        leave(kv, tokens(0, 8), owner);
        for (const Scope& asked : different_scopes) {
            BOOST_TEST(found(kv, tokens(0, 8), asked) == (asked == owner ? 8 : 0));
        }
    }
}

BOOST_AUTO_TEST_CASE(empty_strings_and_adapter_zero_are_absent_parts) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 8), Scope{.model = "", .adapter = "", .adapter_id = 0, .tenant = "", .salt = ""});
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
}

BOOST_AUTO_TEST_CASE(scopes_are_compared_by_their_text_and_not_by_where_it_lies) {
    Manager kv(caching(4, 8));
    {
        const std::string text = "a tenant with a name too long for a small string";
        leave(kv, tokens(0, 8), {.tenant = text});
    }
    const std::string same = "a tenant with a name too long for a small string";
    BOOST_TEST(found(kv, tokens(0, 8), {.tenant = same}) == 8);
    BOOST_TEST(found(kv, tokens(0, 8), {.tenant = std::string_view(same).substr(1)}) == 0);
}

BOOST_AUTO_TEST_CASE(new_weights_under_a_new_model_name_find_nothing_of_the_old_ones) {
    Manager kv(caching_by_token(4, 16));
    leave(kv, tokens(0, 9), {.model = "weights-1"});
    BOOST_TEST(found(kv, tokens(0, 9), {.model = "weights-1"}) == 9);
    BOOST_TEST(found(kv, tokens(0, 9), {.model = "weights-2"}) == 0);
    leave(kv, tokens(0, 9), {.model = "weights-2"});
    BOOST_TEST(kv.index_entries() == 6U);
}

BOOST_AUTO_TEST_CASE(external_content_is_part_of_what_a_block_is_known_by) {
    Manager kv(caching(4, 32));
    const Tokens prompt = tokens(0, 8);
    const std::vector<ExternalContent> image{{1, 2, "image-a"}};
    must(kv.release(must(kv.admit({.tokens = prompt, .extra = image})).sequence));
    BOOST_TEST(found(kv, prompt, {}, image) == 8);
    BOOST_TEST(found(kv, prompt) == 0);
    BOOST_TEST(found(kv, prompt, {}, {{1, 2, "image-b"}}) == 0);
    BOOST_TEST(found(kv, prompt, {}, {{1, 2, "image-ab"}}) == 0);
    BOOST_TEST(found(kv, prompt, {}, {{2, 2, "image-a"}}) == 0);
    BOOST_TEST(found(kv, prompt, {}, {{1, 3, "image-a"}}) == 0);
    BOOST_TEST(found(kv, prompt, {}, {{1, 1, "image-a"}, {2, 1, "image-a"}}) == 0);  // its first cell twice
    BOOST_TEST(found(kv, prompt, {}, {{1, 2, "image-a"}, {4, 2, "image-b"}}) == 4);
    BOOST_TEST(found(kv, prompt, {.salt = "image-a"}) == 0);
}

BOOST_AUTO_TEST_CASE(content_that_spans_blocks_is_told_apart_by_where_it_starts) {
    Manager kv(caching(4, 32));
    const Tokens prompt = some_tokens(12);
    const auto leaves = [&](const std::vector<ExternalContent>& extra) {
        must(kv.release(must(kv.admit({.tokens = prompt, .extra = extra})).sequence));
    };
    leaves({{2, 8, "v"}});
    BOOST_TEST(found(kv, prompt + prompt, {}, {{2, 8, "v"}}) == 12);
    BOOST_TEST(found(kv, prompt + prompt, {}, {{2, 6, "v"}}) == 8);  // equal up to there
    BOOST_TEST(found(kv, prompt + prompt, {}, {{2, 10, "v"}}) == 8);
    BOOST_TEST(found(kv, prompt + prompt, {}, {{2, 2, "v"}, {4, 6, "v"}}) == 4);  // the second block starts it anew
}

BOOST_AUTO_TEST_CASE(a_common_beginning_ends_where_the_external_content_differs) {
    Manager kv(caching_by_token(8, 8));
    const Tokens prompt = some_tokens(8);
    const std::vector<ExternalContent> image{{2, 4, "a"}};
    must(kv.release(must(kv.admit({.tokens = prompt, .extra = image})).sequence));
    const Tokens longer = prompt + prompt;
    BOOST_TEST(found(kv, longer, {}, {{2, 4, "a"}}) == 8);
    BOOST_TEST(found(kv, longer, {}, {{2, 3, "a"}}) == 5);
    BOOST_TEST(found(kv, longer, {}, {{2, 5, "a"}}) == 6);
    BOOST_TEST(found(kv, longer, {}, {{2, 4, "b"}}) == 2);
    BOOST_TEST(found(kv, longer, {}, {{3, 4, "a"}}) == 2);
    BOOST_TEST(found(kv, longer, {}, {{1, 4, "a"}}) == 1);
    BOOST_TEST(found(kv, longer) == 2);
}

BOOST_AUTO_TEST_CASE(content_belongs_to_the_positions_of_the_prompt_also_where_they_are_computed_later) {
    Manager kv(caching(4, 16));
    const std::vector<ExternalContent> image{{5, 2, "a"}};
    const Tokens prompt = tokens(0, 8);
    const SequenceHandle a = must(kv.admit({.tokens = prompt, .compute = 2, .extra = image})).sequence;
    feed(kv, a, tokens(2, 8));
    BOOST_TEST(found(kv, prompt, {}, image) == 8);
    BOOST_TEST(found(kv, prompt) == 4);
    const SequenceHandle b = must(kv.fork(a, 6));
    feed(kv, b, tokens(6, 8));
    BOOST_TEST(found(kv, prompt, {}, image) == 8);
}

BOOST_AUTO_TEST_CASE(a_constant_hash_changes_nothing_but_the_speed) {
    Config config = caching_by_token(4, 16);
    config.prefix_cache.constant_hash = true;
    Manager kv(config);
    const SequenceHandle a = admit_prompt(kv, tokens(1, 8)).sequence;
    BOOST_TEST(admit_prompt(kv, tokens(11, 14) + tokens(5, 8)).cached_tokens == 0);
    BOOST_TEST(admit_prompt(kv, tokens(1, 4) + tokens(15, 18)).cached_tokens == 4);
    BOOST_TEST(kv.index_entries() == 5U);
    BOOST_TEST(found(kv, tokens(1, 9)) == 8);
    BOOST_TEST(found(kv, tokens(11, 14) + tokens(5, 9)) == 8);
    BOOST_TEST(found(kv, tokens(5, 9)) == 0);
    BOOST_TEST(found(kv, tokens(5, 8) + tokens(1, 4) + Tokens{9}) == 0);
    BOOST_TEST(found(kv, tokens(1, 4) + tokens(11, 15)) == 4);
    const Admission d = admit_prompt(kv, tokens(1, 8));
    BOOST_TEST(d.cached_tokens == 7);
    BOOST_TEST(table_of(kv, d.sequence) == Ids({1, 6}), per_element());
    must(kv.release(a));
    must(kv.release(d.sequence));
    BOOST_TEST(found(kv, tokens(1, 9)) == 8);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

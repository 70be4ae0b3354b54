// SPDX-License-Identifier: Apache-2.0
// Where the prompts of a stress run come from.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <kvpane/invariants/stress_prompts.h>

#include "support/kv.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

using testing::Tokens;

LengthDistribution between(Length min, Length max) { return {LengthDistribution::Kind::uniform, min, max, 1, 0, {}}; }

// Prompts of their own have 5 tokens, new ones of a turn 2.
StressConfig with(const Sharing& sharing) {
    StressConfig config;
    config.manager = testing::plain(4, 16);
    config.most_sequences = 2;
    config.prompt = between(5, 5);
    config.chunk = between(2, 2);
    config.longest = 40;
    config.sharing = sharing;
    return config;
}

struct Source {
    explicit Source(const Sharing& sharing) : prompts(with(sharing), random) {}

    const Operation& draw() {
        prompts.draw(operation, random);
        return operation;
    }

    // A sequence that ends with this history.
    void lived(const Tokens& history) {
        prompts.born(0, history);
        prompts.ended(0, static_cast<Length>(history.size()));
    }

    Random random{testing::seed()};
    PromptSource prompts;
    Operation operation;
};

bool begins_with(const Tokens& tokens, const Tokens& beginning) {
    return tokens.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), tokens.begin());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stress_prompts)

BOOST_AUTO_TEST_CASE(with_nothing_shared_every_prompt_is_new_and_nothing_is_remembered) {
    Source source({});
    BOOST_TEST(!source.prompts.shares());
    std::set<Tokens> seen;
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(source.draw().tokens.size() == 5U);
        seen.insert(source.operation.tokens);
        source.lived(source.operation.tokens);
    }
    BOOST_TEST(seen.size() == 100U);
    BOOST_TEST((source.operation.scope == Scope{}));
    BOOST_TEST(source.operation.priority == 0);
    BOOST_TEST(source.prompts.planned(0, 0).empty());
}

BOOST_AUTO_TEST_CASE(shared_prompts_begin_with_one_of_the_prefixes_and_go_on_alone) {
    Source source({.count = 3, .length = between(10, 10), .zipf = 0, .shared_percent = 100});
    std::set<Tokens> prefixes, prompts;
    for (int i = 0; i < 100; ++i) {
        Tokens tokens = source.draw().tokens;
        BOOST_REQUIRE(tokens.size() == 15U);
        prompts.insert(tokens);
        tokens.resize(10);
        prefixes.insert(tokens);
    }
    BOOST_TEST(prefixes.size() == 3U);
    BOOST_TEST(prompts.size() == 100U);
}

BOOST_AUTO_TEST_CASE(the_percentages_say_where_prompts_come_from) {
    Source source({.count = 1, .length = between(10, 10), .shared_percent = 30});
    int shared = 0;
    for (int i = 0; i < 1000; ++i) {
        shared += source.draw().tokens.size() == 15 ? 1 : 0;
    }
    BOOST_TEST(shared > 230);
    BOOST_TEST(shared < 370);
}

BOOST_AUTO_TEST_CASE(a_history_comes_back_whole_and_mostly_with_new_tokens) {
    Source source({.returning_percent = 100});
    BOOST_TEST(source.draw().tokens.size() == 5U);  // there is none yet
    const Tokens history = testing::tokens(1, 8);
    source.lived(history);
    int with_new = 0, with_none = 0;
    for (int i = 0; i < 200; ++i) {
        const Tokens& tokens = source.draw().tokens;
        if (begins_with(tokens, history)) {
            ++(tokens.size() == 10 ? with_new : with_none);
            BOOST_TEST((tokens.size() == 10 || tokens.size() == 8));
        }
    }
    BOOST_TEST(with_new > with_none);
    BOOST_TEST(with_none > 0);
}

BOOST_AUTO_TEST_CASE(only_what_was_committed_comes_back) {
    Source source({.returning_percent = 100});
    source.prompts.born(0, testing::tokens(1, 8));
    source.prompts.cut(0, 6);
    source.prompts.grew(0, 6, Tokens{70, 71});
    source.prompts.ended(0, 7);
    bool found = false;
    for (int i = 0; i < 50; ++i) {
        found = found || begins_with(source.draw().tokens, {1, 2, 3, 4, 5, 6, 70});
        BOOST_TEST(!begins_with(source.operation.tokens, {1, 2, 3, 4, 5, 6, 70, 71}));
        BOOST_TEST(!begins_with(source.operation.tokens, {1, 2, 3, 4, 5, 6, 7}));
    }
    BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(histories_that_are_empty_or_too_long_do_not_come_back) {
    Source source({.returning_percent = 100});
    source.lived({});
    source.lived(testing::tokens(1, 41));
    for (int i = 0; i < 50; ++i) {
        BOOST_TEST(source.draw().tokens.size() == 5U);
    }
}

BOOST_AUTO_TEST_CASE(the_latest_histories_are_remembered) {
    Source source({.returning_percent = 100, .remembered = 2});
    for (const Token first : {100, 200, 300}) {
        source.lived(testing::tokens(first, first + 3));
    }
    source.prompts.born(0, testing::tokens(1, 1));  // nothing older under a name that was used before
    std::set<Token> first_tokens;
    for (int i = 0; i < 200; ++i) {
        if (source.draw().tokens.size() != 5) {
            first_tokens.insert(source.operation.tokens.front());
        }
    }
    BOOST_TEST((first_tokens == std::set<Token>{1, 200, 300}));
}

BOOST_AUTO_TEST_CASE(an_edited_history_differs_in_one_token) {
    for (const Token alphabet : {0, 2}) {
        Source source({.edited_percent = 100, .alphabet = alphabet});
        const Tokens history = {0, 1, 1, 0, 1, 0, 0};
        source.lived(history);
        std::set<std::size_t> places;
        for (int i = 0; i < 300; ++i) {
            const Tokens& tokens = source.draw().tokens;
            if (tokens.size() != 7) {
                continue;
            }
            const auto [differs, other] = std::ranges::mismatch(tokens, history);
            BOOST_REQUIRE((differs != tokens.end()));
            BOOST_TEST(std::equal(differs + 1, tokens.end(), other + 1));
            places.insert(static_cast<std::size_t>(differs - tokens.begin()));
        }
        BOOST_TEST(places.size() == 7U);
    }
}

BOOST_AUTO_TEST_CASE(tenants_differ_in_one_typed_part_and_priorities_stay_in_their_range) {
    Source source({.tenants = 7, .priorities = 3, .priority_steps = 2});
    std::set<Scope> scopes;
    std::set<std::int64_t> priorities;
    std::set<std::uint64_t> lasting;
    for (int i = 0; i < 300; ++i) {
        scopes.insert(source.draw().scope);
        priorities.insert(source.operation.priority);
        lasting.insert(source.operation.priority_steps);
    }
    BOOST_TEST(scopes.size() == 7U);
    BOOST_TEST((priorities == std::set<std::int64_t>{0, 1, 2}));
    BOOST_TEST((lasting == std::set<std::uint64_t>{0, 1, 2}));
    for (const Scope& scope : scopes) {
        const int parts = (scope.model.empty() ? 0 : 1) + (scope.tenant.empty() ? 0 : 1) +
                          (scope.lora.empty() ? 0 : 1) + (scope.salt.empty() ? 0 : 1) + (scope.lora_id == 0 ? 0 : 1);
        BOOST_TEST(parts == (scope == Scope{} ? 0 : 1));
    }
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_prompt_is_planned_until_it_is_cut_off) {
    Source source({.returning_percent = 1});
    source.prompts.born(1, testing::tokens(1, 8));
    const auto planned = [&](Name name, Length from) {
        const auto span = source.prompts.planned(name, from);
        return Tokens(span.begin(), span.end());
    };
    BOOST_TEST(planned(1, 6) == (Tokens{7, 8}), boost::test_tools::per_element());
    source.prompts.forked(0, 1, 6);
    BOOST_TEST(planned(0, 6).empty());
    source.prompts.grew(1, 6, Tokens{7, 8, 9});
    BOOST_TEST(planned(1, 6) == (Tokens{7, 8, 9}), boost::test_tools::per_element());
    source.prompts.cut(1, 7);
    BOOST_TEST(planned(1, 6) == (Tokens{7}), boost::test_tools::per_element());
    BOOST_TEST(planned(1, 7).empty());
}

BOOST_AUTO_TEST_CASE(a_picture_lies_within_its_prompt_and_comes_back_with_it) {
    Source source({.returning_percent = 50, .pictures_percent = 100});
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const Operation prompt = source.draw();
        BOOST_TEST_REQUIRE(prompt.extra.size() == 1U);
        const ExternalContent& picture = prompt.extra.front();
        BOOST_TEST(picture.at >= 0);
        BOOST_TEST(picture.count >= 1);
        BOOST_TEST(picture.at + picture.count <= static_cast<Length>(prompt.tokens.size()));
        seen.insert(picture.id);
        source.prompts.born(0, prompt.tokens);
        source.prompts.ended(0, picture.at + 1);  // cuts it short
    }
    BOOST_TEST((seen == std::set<std::string>{"0", "1", "2"}));
}

BOOST_AUTO_TEST_CASE(a_small_alphabet_repeats_its_tokens) {
    Source source({.alphabet = 3});
    std::set<Token> seen;
    for (int i = 0; i < 50; ++i) {
        const Tokens& tokens = source.draw().tokens;
        seen.insert(tokens.begin(), tokens.end());
    }
    BOOST_TEST((seen == std::set<Token>{0, 1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

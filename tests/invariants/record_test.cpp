// SPDX-License-Identifier: Apache-2.0
// What the judge knows a history by: a wrong cell must never look like the right one.
#include <boost/test/unit_test.hpp>

#include <set>
#include <vector>

#include <kvpane/invariants/record.h>

namespace kvpane::invariants {

namespace {

std::uint64_t chain(std::uint32_t scope, const std::vector<Token>& tokens,
                    const std::vector<ExternalContent>& extra = {}) {
    return chains_of(scope, tokens, extra).back();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(record)

BOOST_AUTO_TEST_CASE(scope_token_position_and_content_cannot_stand_for_one_another) {
    std::set<std::uint64_t> chains;
    std::size_t histories = 0;
    for (std::uint32_t scope = 0; scope < 6; ++scope) {
        for (Token first = 0; first < 6; ++first) {
            chains.insert(chain(scope, {first}));
            chains.insert(chain(scope, {first}, {{0, 1, "image"}}));
            histories += 2;
            for (Token second = 0; second < 6; ++second) {
                chains.insert(chain(scope, {first, second}));
                chains.insert(chain(scope, {first, second}, {{0, 2, "image"}}));
                chains.insert(chain(scope, {first, second}, {{1, 1, "image"}}));
                histories += 3;
            }
        }
    }
    BOOST_TEST(chains.size() == histories);
}

BOOST_AUTO_TEST_CASE(equal_histories_have_equal_chains_however_they_came_about) {
    Record record;
    start(record, 0, {}, 3, {});
    for (const Token token : {5, 6, 7}) {
        add_token(record, token);
    }
    cut(record, 1);
    add_token(record, 6);
    BOOST_TEST(record.history.back().chain == chain(3, {5, 6}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants

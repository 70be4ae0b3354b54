// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <functional>
#include <set>
#include <vector>

namespace kvpane::testing {

BOOST_AUTO_TEST_SUITE(state_digest)

BOOST_AUTO_TEST_CASE(equal_calls_give_equal_digests_at_every_step) {
    Config config = windowed(4, 16, 6, 1);
    config.prefix_cache.enabled = true;
    Manager one(config);
    Manager two(config);
    const std::vector<std::function<void(Manager&, std::vector<SequenceHandle>&)>> calls{
        [](Manager& kv, auto& known) { known.push_back(admit(kv, 9)); },
        [](Manager& kv, auto& known) { known.push_back(must(kv.fork(known[0]))); },
        [](Manager& kv, auto& known) { must(reserve(kv, known[0], 3)); },
        [](Manager& kv, auto& known) { commit(kv, known[0], 2); },
        [](Manager& kv, auto& known) { must(kv.cancel(known[0])); },
        [](Manager& kv, auto&) { must(kv.step_begin(StepId{3})); },
        [](Manager& kv, auto& known) { append(kv, known[1], 8); },
        [](Manager& kv, auto& known) { must(kv.truncate(known[1], 16)); },
        [](Manager& kv, auto& known) { must(kv.release(known[0])); },
        [](Manager& kv, auto&) { must(kv.step_end(StepId{3})); },
    };
    std::vector<SequenceHandle> of_one;
    std::vector<SequenceHandle> of_two;
    std::set<std::uint64_t> seen{one.digest()};
    for (const auto& call : calls) {
        call(one, of_one);
        call(two, of_two);
        BOOST_TEST(one.digest() == two.digest());
        BOOST_TEST(of_one == of_two);
        BOOST_TEST(seen.insert(one.digest()).second);  // and each of these calls changes the state
    }
}

BOOST_AUTO_TEST_CASE(an_assigned_manager_is_in_the_same_state_and_outlives_the_other) {
    Config config = windowed(4, 16, 6, 1);
    config.prefix_cache.enabled = true;
    const std::string tenant(40, 't');
    const std::string image(40, 'i');
    const std::vector<ExternalContent> extra{{1, 2, "x"}, {5, 2, image}};
    const Tokens prompt = some_tokens(9);
    const Prompt asked{.tokens = prompt, .scope = {.tenant = tenant}, .extra = extra};
    Manager copy(config);
    append(copy, admit(copy, 30), 5);  // what it was is forgotten
    std::vector<std::int32_t> row(20, -1);
    SequenceHandle a;
    SequenceHandle b;
    {
        Manager kv(config);
        a = must(kv.admit(asked)).sequence;
        b = must(kv.fork(a));
        must(kv.bind_row(a, first_group, row));
        copy.assign(kv);
        BOOST_TEST(copy.digest() == kv.digest());
        const CacheEvent event = copy.index()->events().read(1);
        BOOST_TEST(event.scope.tenant == tenant);
        append(kv, a, 9);
    }
    row.assign(20, -1);
    BOOST_TEST(must(copy.length(a)) == 9);
    append(copy, a, 9);
    must(copy.release(b));
    BOOST_TEST(row[0] == -1);  // the row was the other one's
    BOOST_TEST(must(copy.probe(asked)) == 8);
    BOOST_TEST(copy.sequences() == 1U);
}

BOOST_AUTO_TEST_CASE(the_digest_sees_what_decides_the_future) {
    const auto digest_after = [](auto change) {
        Manager kv(plain(4, 8));
        const SequenceHandle a = admit(kv, 6);
        const SequenceHandle b = admit(kv, 6);
        change(kv, a, b);
        return kv.digest();
    };
    std::set<std::uint64_t> seen;
    const auto differs = [&](std::uint64_t digest) { BOOST_TEST(seen.insert(digest).second); };
    differs(digest_after([](Manager&, auto, auto) {}));
    differs(digest_after([](Manager& kv, auto a, auto) { append(kv, a, 1); }));
    differs(digest_after([](Manager& kv, auto, auto b) { append(kv, b, 1); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(reserve(kv, a, 1)); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(reserve(kv, a, 2)); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(kv.truncate(a, 5)); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(kv.fork(a)); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(kv.fork(a, 4)); }));
    differs(digest_after([](Manager& kv, auto a, auto) { must(kv.release(a)); }));
    differs(digest_after([](Manager& kv, auto, auto b) { must(kv.release(b)); }));
    differs(digest_after([](Manager& kv, auto a, auto b) { must(kv.release(a)), must(kv.release(b)); }));
    differs(digest_after([](Manager& kv, auto a, auto b) { must(kv.release(b)), must(kv.release(a)); }));
    differs(digest_after([](Manager& kv, auto, auto) { must(kv.step_begin(StepId{1})); }));
    differs(digest_after([](Manager& kv, auto, auto) { must(kv.step_begin(StepId{2})); }));
    differs(digest_after([](Manager& kv, auto, auto) { admit_empty(kv); }));
}

BOOST_AUTO_TEST_CASE(questions_and_exports_do_not_change_the_digest) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 6);
    const std::uint64_t before = kv.digest();
    table_of(kv, a);
    queue_of(kv);
    must(kv.plan_prompt(100, 3));
    BOOST_TEST(kv.sequences() == 1U);
    BOOST_TEST(kv.digest() == before);
}

BOOST_AUTO_TEST_CASE(statistics_are_not_part_of_the_digest) {
    Manager kv(plain(4, 2));
    admit(kv, 6);
    const std::uint64_t before = kv.digest();
    BOOST_TEST(!kv.admit({.tokens = some_tokens(1)}).has_value());
    BOOST_TEST(kv.statistics().refused_later == 1U);
    BOOST_TEST(kv.digest() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

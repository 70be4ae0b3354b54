// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

namespace kvpane::testing {

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(a_new_manager_has_counted_nothing) {
    const Manager kv(plain(4, 8));
    const Statistics& all = kv.statistics();
    for (const std::uint64_t total :
         {all.admitted, all.released, all.forks, all.truncations, all.committed_tokens, all.blocks_taken, all.copies,
          all.copied_cells, all.refused_later, all.refused_never, all.queried_tokens, all.hit_tokens,
          all.evicted_blocks, all.preempted}) {
        BOOST_TEST(total == 0U);
    }
}

BOOST_AUTO_TEST_CASE(each_total_counts_what_its_name_says) {
    Manager kv(plain(4, 8));
    const Statistics& total = kv.statistics();
    const SequenceHandle a = admit(kv, 6);
    BOOST_TEST(total.admitted == 1U);
    BOOST_TEST(total.committed_tokens == 6U);
    BOOST_TEST(total.blocks_taken == 2U);

    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST(total.forks == 1U);
    BOOST_TEST(total.admitted == 1U);

    must(kv.append_batch(std::array{a, b}, some_tokens(2)));
    BOOST_TEST(total.copies == 1U);
    BOOST_TEST(total.copied_cells == 2U);
    BOOST_TEST(total.blocks_taken == 3U);
    BOOST_TEST(total.committed_tokens == 8U);

    must(reserve(kv, a, 9));
    BOOST_TEST(total.committed_tokens == 8U);
    BOOST_TEST(total.blocks_taken == 5U);
    commit(kv, a, 2);
    BOOST_TEST(total.committed_tokens == 10U);
    must(kv.cancel(a));

    must(kv.truncate(a, 3));
    BOOST_TEST(total.truncations == 1U);
    must(kv.release(a));
    must(kv.release(b));
    BOOST_TEST(total.released == 2U);
}

BOOST_AUTO_TEST_CASE(refusals_are_counted_by_their_kind_and_nothing_else_moves) {
    Manager kv(plain(4, 4));
    const Statistics& total = kv.statistics();
    const SequenceHandle a = admit(kv, 8);
    const SequenceHandle b = admit(kv, 8);
    BOOST_TEST(!kv.append(a, some_tokens(1)).has_value());
    BOOST_TEST(!kv.admit({.tokens = some_tokens(1)}).has_value());
    BOOST_TEST(total.refused_later == 2U);
    BOOST_TEST(!kv.append(a, some_tokens(9)).has_value());
    BOOST_TEST(!kv.admit({.tokens = some_tokens(17)}).has_value());
    BOOST_TEST(!kv.append_batch(std::array{a, b}, some_tokens(2)).has_value());
    BOOST_TEST(total.refused_never == 3U);
    BOOST_TEST(!kv.append(a, {}).has_value());
    BOOST_TEST(!kv.release(SequenceHandle{}).has_value());
    BOOST_TEST(total.refused_later == 2U);
    BOOST_TEST(total.refused_never == 3U);
    BOOST_TEST(total.admitted == 2U);
    BOOST_TEST(total.committed_tokens == 16U);
    BOOST_TEST(total.blocks_taken == 4U);
}

BOOST_AUTO_TEST_CASE(only_admissions_that_may_hit_and_succeed_count_as_queries) {
    Config config = plain(4, 4);
    Manager off(config);
    admit(off, 6);
    BOOST_TEST(off.statistics().queried_tokens == 0U);
    config.prefix_cache.enabled = true;
    Manager on(config);
    admit(on, 6);
    BOOST_TEST(on.statistics().queried_tokens == 6U);
    BOOST_TEST(!on.admit({.tokens = tokens(100, 111)}).has_value());
    BOOST_TEST(on.statistics().queried_tokens == 6U);
    BOOST_TEST(on.statistics().hit_tokens == 0U);
    admit(on, 8);
    BOOST_TEST(on.statistics().queried_tokens == 14U);
    BOOST_TEST(on.statistics().hit_tokens == 4U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

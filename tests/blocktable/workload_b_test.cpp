// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"
#include "support/recorded_workloads.h"

namespace kvpane::testing {

BOOST_AUTO_TEST_SUITE(workload_b)

BOOST_AUTO_TEST_CASE(decoding_256_sequences_gives_the_recorded_tables_and_free_queue_with_the_cache_off_or_on) {
    for (const bool cache : {false, true}) {
        DecodeWorkload b(cache);
        b.decode();
        BOOST_TEST(b.kv.statistics().committed_tokens == 256U * 1536U);
        BOOST_TEST(b.kv.pool().live_blocks() == DecodeWorkload::used);
        BOOST_TEST(b.hash_of_tables() == DecodeWorkload::tables);
        b.release();
        BOOST_TEST(fnv(queue_of(b.kv)) == DecodeWorkload::queue);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing

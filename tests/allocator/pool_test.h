// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <vector>

#include "support/kv.h"

// Short words for the tests of the block pool.
namespace kvpane::testing {

inline Ids take(BlockPool& pool, int count) {
    Ids out;
    for (int i = 0; i < count; ++i) {
        out.push_back(to_index(pool.take().block));
    }
    return out;
}

// Gives back pieces of block tables as one batch, each deepest first.
inline void give_back(BlockPool& pool, const std::vector<Ids>& pieces) {
    BlockPool::Batch batch;
    for (const Ids& piece : pieces) {
        std::vector<BlockId> blocks;
        for (const std::uint32_t id : piece) {
            blocks.push_back(BlockId{id});
        }
        pool.give_back(batch, blocks);
    }
}

inline void give_back(BlockPool& pool, const Ids& blocks) { give_back(pool, std::vector<Ids>{blocks}); }

inline std::uint64_t digest_of(const BlockPool& pool) {
    Digest digest;
    pool.add_to(digest);
    return digest.value();
}

// Whether the counters agree with each block's state, the references and the queue.
inline void expect_conservation(const BlockPool& pool) {
    Partition counted;
    Ids idle;
    for (std::uint32_t id = 1; id <= pool.blocks(); ++id) {
        const BlockId block{id};
        switch (pool.state(block)) {
            case BlockState::free:
                ++counted.free;
                idle.push_back(id);
                BOOST_TEST(pool.content(block) == no_content);
                break;
            case BlockState::cached:
                ++counted.cached;
                idle.push_back(id);
                BOOST_TEST(pool.content(block) != no_content);
                break;
            case BlockState::live: ++counted.live; break;
            case BlockState::fenced: ++counted.fenced; break;
        }
        BOOST_TEST((pool.refs(block) > 0) == (pool.state(block) == BlockState::live));
    }
    BOOST_TEST(partition_of(pool) == counted);
    BOOST_TEST(counted.free + counted.cached + counted.live + counted.fenced == pool.blocks());
    BOOST_TEST(pool.idle_blocks() == counted.free + counted.cached);
    Ids queue = queue_of(pool);
    std::sort(queue.begin(), queue.end());
    BOOST_TEST(queue == idle, boost::test_tools::per_element());
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <kvpane/blocktable/manager.h>

#include "support/printing.h"
#include "support/tables.h"

// Short words for what tests of the core say all the time.
namespace kvpane::testing {

// The tokens first, first + 1, ..., last.
inline Tokens tokens(Token first, Token last) {
    Tokens out;
    for (Token token = first; token <= last; ++token) {
        out.push_back(token);
    }
    return out;
}

// `count` tokens; which ones does not matter.
inline Tokens some_tokens(Length count) { return Tokens(static_cast<std::size_t>(count), Token{7}); }

// One group of full attention, prefix cache off: what most tests start from.
inline Config plain(std::uint32_t block_size, std::int64_t blocks) {
    Config config;
    config.block_size = block_size;
    config.blocks = blocks;
    config.prefix_cache.enabled = false;
    return config;
}

// The same with one window.
inline Config windowed(std::uint32_t block_size, std::int64_t blocks, Length window, Length sinks = 0) {
    Config config = plain(block_size, blocks);
    config.groups = {GroupConfig{"swa", window, sinks}};
    return config;
}

// The reference counts of the held blocks, in table order.
inline Ids refs_of(const Manager& kv, SequenceHandle sequence, GroupId group = first_group) {
    Ids out;
    for (const std::uint32_t id : table_of(kv, sequence, group)) {
        if (id != 0) {
            out.push_back(kv.pool().refs(BlockId{id}));
        }
    }
    return out;
}

inline Length first_resident(const Manager& kv, SequenceHandle sequence, GroupId group = first_group) {
    return kv.table(sequence, group).value().first_resident;
}

inline Slots slots_of(const Step& step) { return {step.slots.begin(), step.slots.end()}; }

inline Slots slots_of(const Step& step, GroupId group) {
    const auto slots = step.slots_of(group);
    return {slots.begin(), slots.end()};
}

inline std::vector<BlockCopy> copies_of(const Step& step) { return {step.copies.begin(), step.copies.end()}; }

// What an operation that must succeed gave.
template <class T>
T must(expected<T> result) {
    BOOST_TEST_REQUIRE(result.has_value());
    return *result;
}

inline void must(const expected<void>& result) { BOOST_TEST_REQUIRE(result.has_value()); }

// A new sequence that holds `count` tokens.
inline SequenceHandle admit(Manager& kv, Length count) {
    const Tokens prompt = some_tokens(count);
    return must(kv.admit({.tokens = prompt})).sequence;
}

// A new sequence that holds nothing.
inline SequenceHandle admit_empty(Manager& kv) {
    const Tokens prompt = some_tokens(1);
    return must(kv.admit({.tokens = prompt, .compute = 0})).sequence;
}

inline Step append(Manager& kv, SequenceHandle sequence, Length count) {
    return must(kv.append(sequence, some_tokens(count)));
}

inline void commit(Manager& kv, SequenceHandle sequence, Length count) {
    must(kv.commit(sequence, some_tokens(count)));
}

inline expected<Step> reserve(Manager& kv, SequenceHandle sequence, Length cells) {
    const Reservation one{sequence, cells};
    return kv.reserve(std::span(&one, 1));
}

// The call must fail with `error` and leave no trace.
template <class Call>
void expect_refusal(Manager& kv, Error error, Call&& call) {
    const std::uint64_t before = kv.digest();
    const auto result = std::forward<Call>(call)();
    BOOST_TEST_REQUIRE(!result.has_value());
    BOOST_TEST(result.error() == error);
    BOOST_TEST(kv.digest() == before);
}

// The partition of the pool, in the order in which the scenario format lists it.
struct Partition {
    std::uint32_t free = 0;
    std::uint32_t cached = 0;
    std::uint32_t live = 0;
    std::uint32_t fenced = 0;

    friend bool operator==(const Partition&, const Partition&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Partition& p) {
        return out << "{ free = " << p.free << ", cached = " << p.cached << ", live = " << p.live
                   << ", fenced = " << p.fenced << " }";
    }
};

inline Partition partition_of(const BlockPool& pool) {
    return {pool.free_blocks(), pool.cached_blocks(), pool.live_blocks(), pool.fenced_blocks()};
}

inline Partition partition_of(const Manager& kv) { return partition_of(kv.pool()); }

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "support/kv.h"

// Short words for the tests of the prefix cache.
namespace kvpane::testing {

// One group of full attention, prefix cache on, whole blocks.
inline Config caching(std::uint32_t block_size, std::int64_t blocks) {
    Config config = plain(block_size, blocks);
    config.prefix_cache.enabled = true;
    return config;
}

// The same, to the token.
inline Config caching_by_token(std::uint32_t block_size, std::int64_t blocks) {
    Config config = caching(block_size, blocks);
    config.prefix_cache.granularity = Granularity::token;
    return config;
}

inline Tokens operator+(Tokens first, const Tokens& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline Admission admit_prompt(Manager& kv, const Tokens& prompt, const Scope& scope = {}, std::int64_t priority = 0) {
    return must(kv.admit({.tokens = prompt, .scope = scope, .priority = priority}));
}

// Computes a prompt and leaves it to the cache.
inline void leave(Manager& kv, const Tokens& prompt, const Scope& scope = {}, std::int64_t priority = 0) {
    must(kv.release(admit_prompt(kv, prompt, scope, priority).sequence));
}

inline Step feed(Manager& kv, SequenceHandle sequence, const Tokens& more) { return must(kv.append(sequence, more)); }

inline std::uint64_t events(const Manager& kv) {
    const CacheEvents::Totals totals = kv.cache_totals();
    return totals.stored + totals.removed + totals.cleared;
}

// How much of the prompt would be found; asking changes nothing.
inline Length found(Manager& kv, const Tokens& prompt, const Scope& scope = {},
                    const std::vector<ExternalContent>& extra = {}) {
    const std::uint64_t digest = kv.digest();
    const Ids queue = queue_of(kv);
    const std::uint64_t emitted = events(kv);
    const Length cached = must(kv.probe({.tokens = prompt, .scope = scope, .extra = extra}));
    BOOST_TEST(kv.digest() == digest);
    BOOST_TEST(queue_of(kv) == queue);
    BOOST_TEST(events(kv) == emitted);
    return cached;
}

}  // namespace kvpane::testing

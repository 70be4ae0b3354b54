// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/allocator/digest.h>

#include "support/tables.h"

// What the recorded workloads are made of.
namespace kvpane::testing {

// A linear congruential generator: x <- x * 6364136223846793005 + 1442695040888963407 mod 2^64.
class Lcg {
public:
    explicit Lcg(std::uint64_t seed) : x_(seed) {}
    KVPANE_WRAPS std::uint64_t below(std::uint64_t n) {
        x_ = x_ * 6364136223846793005U + 1442695040888963407U;
        return (x_ >> 33U) % n;
    }

private:
    std::uint64_t x_;
};

// tokens(s, n): n draws below 128000, from the generator that starts at s.
inline Tokens drawn_tokens(std::uint64_t s, Length count) {
    Lcg lcg(s);
    Tokens out;
    for (Length i = 0; i < count; ++i) {
        out.push_back(static_cast<Token>(lcg.below(128'000)));
    }
    return out;
}

// FNV-1a over block ids.
class Fnv {
public:
    KVPANE_WRAPS void add(std::uint32_t id) { hash_ = (hash_ ^ id) * 0x100000001b3U; }
    void add(const Ids& ids) {
        for (const std::uint32_t id : ids) {
            add(id);
        }
    }
    std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325U;
};

inline std::uint64_t fnv(const Ids& ids) {
    Fnv hash;
    hash.add(ids);
    return hash.value();
}

// A pool of `p` blocks with the null block, block size 16, prefix cache on; windows release when cells are reserved.
inline Config workload(std::int64_t p) {
    Config config;
    config.block_size = 16;
    config.blocks = p - 1;
    config.window_release = WindowRelease::reserve;
    return config;
}

}  // namespace kvpane::testing

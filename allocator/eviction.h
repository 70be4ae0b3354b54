// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace kvpane {

// What keeps an idle cached block from being taken: lower ranks go first, within one rank the longest idle.
struct Rank {
    std::int64_t priority = 0;
    std::uint32_t frequency = 0;

    friend auto operator<=>(const Rank&, const Rank&) = default;
};

// Which idle cached block is taken first: the interface of eviction policies. A policy only ranks blocks; the pool keeps
// those of one rank in the order in which they became idle, the deepest of a sequence first. Each different rank costs
// a list for good, and taking a block looks at the lists in order: a policy should use a handful of ranks.
class Ranking {
public:
    Ranking() = default;
    Ranking(const Ranking&) = delete;
    Ranking& operator=(const Ranking&) = delete;
    virtual ~Ranking() = default;

    // Of a block that enters the index for a request of this priority.
    virtual Rank inserted(std::int64_t priority) const noexcept = 0;

    // Of a block that such a request hits, or copies from.
    virtual Rank hit(Rank before, std::int64_t priority) const noexcept = 0;
};

// The lowest priority first, then the longest idle.
class LruRanking final : public Ranking {
public:
    Rank inserted(std::int64_t priority) const noexcept override { return {priority, 0}; }
    Rank hit(Rank before, std::int64_t priority) const noexcept override {
        return {std::max(before.priority, priority), 0};
    }
};

// The lowest priority first, then the fewest uses since it entered the index, then the longest idle.
class LfuRanking final : public Ranking {
public:
    Rank inserted(std::int64_t priority) const noexcept override { return {priority, 1}; }
    Rank hit(Rank before, std::int64_t priority) const noexcept override {
        return {std::max(before.priority, priority), before.frequency + 1};
    }
};

}  // namespace kvpane

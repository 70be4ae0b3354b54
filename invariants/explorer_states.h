// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/explorer_world.h>

namespace kvpane::invariants::explorer {

// The names of all states that were reached, shared by the threads: 64 sets, each behind a lock of its own.
// COST expected O(1); 32 to 64 bytes a state.
class StateSet {
public:
    StateSet();

    // Whether it is new.
    bool insert(const Fingerprint& state);
    std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    // Of all states, whatever the order in which they came.
    std::uint64_t digest() const;

private:
    // Open addressing, linear probing; a power of two, at most half full. {0, 0} is an empty place.
    struct alignas(64) Shard {
        std::mutex lock;
        std::vector<Fingerprint> places;
        std::size_t used = 0;
    };
    static void grow(Shard& shard);

    std::array<Shard, 64> shards_;
    std::atomic<std::int64_t> size_{0};
};

// How each state was reached first. A state is a number, in the order of discovery; 0 is the empty Manager.
struct Origin {
    std::uint32_t parent = 0;
    Move move;
};
static_assert(sizeof(Origin) == 12);

// The worlds on the way to the last state that was asked for: states that come one after the other share most of it, so
// that a replay costs one operation or two, not the depth.
class Path {
public:
    Path(const ExploreConfig& config, const Setting& setting, const std::vector<Origin>& origins);

    // The world of a state; valid until the next call. REQUIRES its steps were taken without a violation.
    World& at(std::uint32_t state);

    World& root() { return *worlds_.front(); }

private:
    const ExploreConfig& config_;
    const Setting& setting_;
    const std::vector<Origin>& origins_;
    std::vector<std::unique_ptr<World>> worlds_;  // by depth
    std::vector<std::uint32_t> states_;           // [depth] whose worlds these are
    std::vector<std::uint32_t> way_;              // scratch
};

// Behind an operation that succeeded: the fault of a test, if any, then World::follow().
Found settle(World& world, const Move& move, const Result& result, const ExploreConfig& config, const Setting& setting);

}  // namespace kvpane::invariants::explorer

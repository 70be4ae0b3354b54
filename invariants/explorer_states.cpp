// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_states.h>

#include <algorithm>

#include <kvpane/allocator/digest.h>

namespace kvpane::invariants::explorer {

StateSet::StateSet() {
    for (Shard& shard : shards_) {
        shard.places.resize(1024);
    }
}

bool StateSet::insert(const Fingerprint& state) {
    Shard& shard = shards_[state.high >> 58U];
    const std::scoped_lock lock(shard.lock);
    if (2 * (shard.used + 1) > shard.places.size()) {
        grow(shard);
    }
    const std::size_t mask = shard.places.size() - 1;
    std::size_t at = state.low & mask;
    for (; shard.places[at] != Fingerprint{}; at = (at + 1) & mask) {
        if (shard.places[at] == state) {
            return false;
        }
    }
    shard.places[at] = state;
    ++shard.used;
    size_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void StateSet::grow(Shard& shard) {
    std::vector<Fingerprint> old(2 * shard.places.size());
    old.swap(shard.places);
    const std::size_t mask = shard.places.size() - 1;
    for (const Fingerprint& state : old) {
        if (state != Fingerprint{}) {
            std::size_t at = state.low & mask;
            while (shard.places[at] != Fingerprint{}) {
                at = (at + 1) & mask;
            }
            shard.places[at] = state;
        }
    }
}

KVPANE_WRAPS std::uint64_t StateSet::digest() const {
    std::uint64_t sum = 0;
    for (const Shard& shard : shards_) {
        for (const Fingerprint& state : shard.places) {
            sum += state.high ^ state.low * 0x9e3779b97f4a7c15U;
        }
    }
    return sum;
}

Path::Path(const ExploreConfig& config, const Setting& setting, const std::vector<Origin>& origins)
    : config_(config), setting_(setting), origins_(origins) {
    worlds_.push_back(std::make_unique<World>(config, setting));
    states_.push_back(0);
}

World& Path::at(std::uint32_t state) {
    way_.clear();
    for (; state != 0; state = origins_[state].parent) {
        way_.push_back(state);
    }
    way_.push_back(0);
    std::reverse(way_.begin(), way_.end());
    const auto [differ, on_way] = std::mismatch(states_.begin(), states_.end(), way_.begin(), way_.end());
    std::size_t depth = static_cast<std::size_t>(on_way - way_.begin());
    states_ = way_;
    for (; depth < way_.size(); ++depth) {
        if (depth == worlds_.size()) {
            worlds_.push_back(std::make_unique<World>(config_, setting_));
        }
        World& world = *worlds_[depth];
        world.assign(*worlds_[depth - 1]);
        const Move& move = origins_[way_[depth]].move;
        settle(world, move, world.apply(move), config_, setting_);
    }
    return *worlds_[way_.size() - 1];
}

Found settle(World& world, const Move& move, const Result& result, const ExploreConfig& config,
             const Setting& setting) {
    if (config.fault) {
        config.fault(world.manager(), to_operation(move, setting));
    }
    return world.follow(move, result);
}

}  // namespace kvpane::invariants::explorer

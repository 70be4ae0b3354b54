// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/allocator/block_pool.h>
#include <kvpane/allocator/prefix_index.h>

#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"
#include "support/workloads.h"

// Workload A: a ring of allocations of 64 blocks; each operation gives the oldest one back, deepest block first, and
// takes 64 blocks. The pool and the index are called as the Manager calls them.
namespace kvpane::bench {

namespace {

using testing::Fnv;

constexpr std::size_t taken_at_once = 64;
constexpr std::uint32_t block_size = 16;

enum class Mode { off, without_entries, evicting };

struct Size {
    std::uint32_t blocks;
    std::size_t ring;
    std::size_t operations;  // timed

    double units() const { return static_cast<double>(operations * taken_at_once); }
};

constexpr Size recorded{65'536, 256, 3200};

// Half of the pool is alive.
constexpr Size scaled(std::uint32_t blocks) { return {blocks, blocks / (2 * taken_at_once), 3200}; }

// Operations before the clock starts: when entries are evicted, until there are no clean blocks left.
constexpr std::size_t warm_up(const Size& size, Mode mode) {
    return mode != Mode::evicting ? 0 : std::max<std::size_t>(1024, size.blocks / taken_at_once);
}

class Churn {
public:
    Churn(const Size& size, Mode mode)
        : pool_(size.blocks, mode == Mode::off ? IdleOrder::all_to_back : IdleOrder::contentless_to_front), mode_(mode),
          ring_(size.ring) {
        if (mode == Mode::evicting) {
            index_.emplace(block_size, size.blocks, 1, PrefixIndexOptions{});
            root_ = index_->tree().use_root({});
        }
        std::ranges::for_each(ring_, [&](Allocation& allocation) { take(allocation); });
        run(warm_up(size, mode));
    }

    void run(std::size_t operations) {
        for (; operations > 0; --operations, at_ = (at_ + 1) % ring_.size()) {
            BlockPool::Batch batch;
            pool_.give_back(batch, ring_[at_]);
            take(ring_[at_]);
        }
    }

    // Of what is alive.
    std::uint64_t hash() const {
        Fnv hash;
        for (const Allocation& allocation : ring_) {
            std::ranges::for_each(allocation, [&](BlockId block) { hash.add(to_index(block)); });
        }
        return hash.value();
    }

private:
    using Allocation = std::array<BlockId, taken_at_once>;

    void take(Allocation& allocation) {
        ContentId node = root_;
        if (index_) {
            index_->tree().use(node);
            index_->make_room(taken_at_once);
        }
        for (BlockId& block : allocation) {
            const BlockPool::Taken taken = pool_.take();
            block = taken.block;
            if (taken.evicted != no_content) {
                index_->withdraw(taken.evicted, block);
            }
            if (mode_ == Mode::evicting) {
                name(block, node);
            }
        }
        if (index_) {
            index_->tree().drop(node);
        }
    }

    // The block holds tokens that nobody else has, behind those of `node`.
    void name(BlockId block, ContentId& node) {
        PrefixTree& tree = index_->tree();
        ++content_.front();
        const ContentId child = tree.use_child(node, {content_});
        tree.drop(node);
        index_->publish(child, GroupId{0}, block);
        pool_.set_content(block, child, {});
        node = child;
    }

    BlockPool pool_;
    std::optional<PrefixIndex> index_;
    ContentId root_ = no_content;
    std::array<Token, block_size> content_{};
    Mode mode_;
    std::vector<Allocation> ring_;
    std::size_t at_ = 0;
};

// The same with a queue of ids: what must come out.
std::uint64_t modelled(const Size& size, Mode mode) {
    std::deque<std::uint32_t> queue;
    for (std::uint32_t id = 1; id <= size.blocks; ++id) {
        queue.push_back(id);
    }
    std::vector<std::array<std::uint32_t, taken_at_once>> ring(size.ring);
    const auto take = [&](auto& allocation) {
        std::ranges::copy_n(queue.begin(), taken_at_once, allocation.begin());
        queue.erase(queue.begin(), queue.begin() + taken_at_once);
    };
    std::ranges::for_each(ring, take);
    for (std::size_t i = 0; i < warm_up(size, mode) + size.operations; ++i) {
        auto& allocation = ring[i % size.ring];
        if (mode == Mode::without_entries) {
            queue.insert(queue.begin(), allocation.rbegin(), allocation.rend());
        } else {
            queue.insert(queue.end(), allocation.rbegin(), allocation.rend());
        }
        take(allocation);
    }
    Fnv hash;
    for (const auto& allocation : ring) {
        std::ranges::for_each(allocation, [&](std::uint32_t id) { hash.add(id); });
    }
    return hash.value();
}

Sample ours(const Size& size, Mode mode, std::uint64_t expected) {
    Churn churn(size, mode);
    const double spent = time([&] { churn.run(size.operations); });
    return {spent, size.units(), {{"blocks", churn.hash(), expected}}};
}

// A stack of ids in place of the queue.
Sample least(const Size& size) {
    IdStack stack(size.blocks);
    std::vector<std::array<std::uint32_t, taken_at_once>> ring(size.ring);
    const auto take = [&](auto& allocation) { std::ranges::generate(allocation, [&] { return stack.pop(); }); };
    std::ranges::for_each(ring, take);
    const double spent = time([&] {
        for (std::size_t i = 0, at = 0; i < size.operations; ++i, at = (at + 1) % size.ring) {
            std::for_each(ring[at].rbegin(), ring[at].rend(), [&](std::uint32_t id) { stack.push(id); });
            take(ring[at]);
        }
        keep(ring.data());
    });
    return {spent, size.units()};
}

}  // namespace

void churn(Bench& bench) {
    struct Variant {
        const char* name;
        Mode mode;
        double goal;
    };
    for (const auto& [name, mode, goal] : {Variant{"cache off", Mode::off, 4},
                                           {"cache on, no entries", Mode::without_entries, 4},
                                           {"cache on, evicting", Mode::evicting, 8}}) {
        const std::uint64_t expected = modelled(recorded, mode);
        bench.measure(
            {.workload = "A", .variant = name, .unit = "block", .goal = goal},
            [&, m = mode] { return ours(recorded, m, expected); }, [] { return least(recorded); });
    }
}

// The floor is the smallest pool: the ratio says how much dearer the same operation is in a larger one.
void churn_at_scale(Bench& bench) {
    constexpr std::uint32_t smallest = 10'000;
    for (const std::uint32_t blocks : {1'000'000U, 10'000'000U}) {
        if (blocks > 1'000'000 && !bench.large()) {
            continue;
        }
        for (const Mode mode : {Mode::off, Mode::evicting}) {
            const std::string name = std::to_string(blocks) + (mode == Mode::off ? ", cache off" : ", evicting");
            const std::uint64_t expected = modelled(scaled(blocks), mode);
            const std::uint64_t expected_small = modelled(scaled(smallest), mode);
            bench.measure(
                {.workload = "A-scale", .variant = name, .unit = "block", .goal = 3},
                [&] { return ours(scaled(blocks), mode, expected); },
                [&] { return ours(scaled(smallest), mode, expected_small); });
        }
    }
}

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/decoding.h"

#include <algorithm>
#include <array>

#include "support/recorded_workloads.h"

namespace kvpane::bench {

using testing::drawn_tokens;
using testing::granted;

namespace {

constexpr Length block_size = 16;

Config config_of(const Decoding::Shape& shape) {
    Config config = testing::workload(shape.blocks + 1);
    config.prefix_cache.enabled = shape.cache;
    return config;
}

// Prompts that leave `blocks` cached blocks behind, 2048 at most each.
void leave_cached(Manager& kv, Length blocks) {
    for (std::uint64_t seed = 2'000'000; blocks > 0; ++seed) {
        const Length now = std::min<Length>(blocks, 2048);
        const auto tokens = drawn_tokens(seed, now * block_size);
        granted(kv.release(granted(kv.admit({.tokens = tokens})).sequence));
        blocks -= now;
    }
}

// 64 sequences hold everything, and one that the dice name gives back its last block.
void scatter_once(Manager& kv, testing::Lcg& dice) {
    constexpr std::uint64_t holders = 64;
    struct Holder {
        SequenceHandle sequence;
        Length length;
    };
    std::vector<Holder> left;
    for (std::uint64_t i = 0; i < holders; ++i) {
        const Length length = kv.config().blocks / Length{holders} * block_size;
        const auto tokens = drawn_tokens(1'000'000 + i, length);
        left.push_back({granted(kv.admit({.tokens = tokens})).sequence, length});
    }
    while (!left.empty()) {
        Holder& holder = left[dice.below(left.size())];
        holder.length -= block_size;
        granted(kv.truncate(holder.sequence, holder.length));
        if (holder.length == 0) {
            granted(kv.release(holder.sequence));
            std::swap(holder, left.back());
            left.pop_back();
        }
    }
    kv.reset_cache();
}

}  // namespace

// Once leaves runs of neighbours, 1/64 of the pool apart, so that they meet in the same sets of a cache. The second time
// takes them apart.
void scatter(Manager& kv) {
    testing::Lcg dice(3);
    scatter_once(kv, dice);
    scatter_once(kv, dice);
}

Decoding::Decoding(const Shape& shape)
    : kv(config_of(shape)), begin_(shape.blocks_each * block_size), tokens_(shape.sequences, Token{7}) {
    scatter(kv);
    leave_cached(kv, shape.idle_cached);
    for (std::size_t i = 0; i < shape.sequences; ++i) {
        const auto prompt = drawn_tokens(i, begin_);
        sequences_.push_back(granted(kv.admit({.tokens = prompt})).sequence);
    }
}

Step Decoding::step() { return granted(kv.append_batch(sequences_, tokens_)); }

Sample Decoding::run(Calls calls) {
    const std::size_t tokens = sequences_.size() * std::size_t{steps};
    const std::size_t repetitions = std::max<std::size_t>(1, 65'536 / tokens);
    Sample sample{0, static_cast<double>(repetitions * tokens)};
    for (std::size_t i = 0; i < repetitions; ++i) {
        Step last;
        const auto run_steps = [&](auto do_step) {
            sample.nanoseconds += time([&] {
                for (Length done = 0; done < steps; ++done) {
                    do_step();
                }
            });
        };
        if (calls == Calls::one_for_all) {
            run_steps([&] { last = step(); });
        } else {
            run_steps([&] { std::ranges::for_each(sequences_, [&](auto s) { testing::append_one(kv, s, 7); }); });
        }
        if (std::ranges::all_of(sample.checks, &Check::holds)) {
            sample.checks = checks(calls == Calls::one_for_all ? &last : nullptr);
        }
        rewind();
    }
    return sample;
}

// What the steps indexed is taken out again, so that every round finds the same cache.
void Decoding::rewind() {
    std::array<Length, steps / block_size> grown;
    std::ranges::generate(grown, [entry = begin_ / block_size]() mutable { return entry++; });
    for (const SequenceHandle sequence : sequences_) {
        const Length held = Length{granted(kv.table(sequence, GroupId{0})).size} - begin_ / block_size;
        granted(kv.uncache(sequence, std::span(grown).first(static_cast<std::size_t>(held))));
        granted(kv.truncate(sequence, begin_));
    }
}

// Of the last step's slots, if they are there, and of the blocks that are held.
std::vector<Check> Decoding::checks(const Step* last) const {
    std::vector<Check> out;
    if (last != nullptr) {
        testing::Fnv handed_out;
        testing::Fnv expected;
        for (std::size_t i = 0; i < sequences_.size(); ++i) {
            const Length position = granted(kv.length(sequences_[i])) - 1;
            const TableView table = granted(kv.table(sequences_[i], GroupId{0}));
            const BlockId block = table[static_cast<std::size_t>(position / block_size)];
            handed_out.add(static_cast<std::uint32_t>(last->slots[i]));
            expected.add(static_cast<std::uint32_t>(to_index(block) * block_size + position % block_size));
        }
        out.push_back({"slots", handed_out.value(), expected.value()});
    }
    const auto blocks_each = static_cast<std::uint64_t>((begin_ + steps) / block_size);
    out.push_back({"used", kv.pool().live_blocks(), sequences_.size() * blocks_each});
    return out;
}

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/block_table.h>
#include <kvpane/blocktable/config.h>

namespace kvpane {

struct Sequence {
    Length length = 0;          // committed tokens
    Length reserved = 0;        // cells handed out behind them
    Length own_from = 0;        // what lies before it was hit or inherited, what follows it filled itself
    std::int64_t priority = 0;  // of the blocks that it publishes
    std::uint64_t priority_steps = 0;
    std::uint64_t batch_mark = 0;  // the last batch that named it; finds a sequence that stands twice in one
    std::uint32_t generation = 0;  // odd while alive; a slot that is used again gets a new one
    bool alive() const noexcept { return generation % 2 == 1; }
};

// The living sequences and their block tables, in slots that are used again, last ended first. A table keeps its
// capacity, so that sequences of usual length come and go without the heap.
class Sequences {
public:
    explicit Sequences(const Config& config);

    // Becomes what `other` is; rows stay bound to `other` alone.
    void assign(const Sequences& other);

    // The slot that create() takes. Makes it when there is none: only beyond Config::expected_sequences.
    std::uint32_t next();

    // Brings the slot that next() named to life. REQUIRES a call of next() before.
    std::uint32_t create() noexcept;

    // REQUIRES the tables hold no block any more (the Manager gives them back).
    void destroy(std::uint32_t index) noexcept;

    // The sequence behind a handle, nullptr for a stale or foreign one.
    const Sequence* find(SequenceHandle handle) const noexcept {
        if (handle.instance != instance_ || handle.index >= sequences_.size()) {
            return nullptr;
        }
        const Sequence& sequence = sequences_[handle.index];
        return sequence.alive() && sequence.generation == handle.generation ? &sequence : nullptr;
    }
    SequenceHandle handle(std::uint32_t index) const noexcept;

    Sequence& operator[](std::uint32_t index) noexcept { return sequences_[index]; }
    const Sequence& operator[](std::uint32_t index) const noexcept { return sequences_[index]; }

    BlockTable& table(std::uint32_t index, GroupId group) noexcept {
        return tables_[std::size_t{index} * groups_ + to_index(group)];
    }
    const BlockTable& table(std::uint32_t index, GroupId group) const noexcept {
        return tables_[std::size_t{index} * groups_ + to_index(group)];
    }

    std::uint32_t alive() const noexcept { return alive_; }
    std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(sequences_.size()); }
    std::uint32_t groups() const noexcept { return groups_; }

    void add_to(Digest& digest) const noexcept;

private:
    friend struct Tamper;

    void add_slot();

    std::vector<Sequence> sequences_;         // [slots]
    std::vector<BlockTable> tables_;          // [slots, groups]
    std::vector<std::uint32_t> free_slots_;   // a stack
    std::vector<std::uint32_t> sink_blocks_;  // [groups]
    std::size_t expected_entries_;
    std::uint32_t groups_;
    std::uint32_t instance_;
    std::uint32_t alive_ = 0;
};

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/sequences.h>

#include <algorithm>
#include <iterator>

namespace kvpane {

Sequences::Sequences(const Config& config)
    : expected_entries_(static_cast<std::size_t>(BlockShape(config.block_size).blocks_for(config.expected_length))),
      groups_(static_cast<std::uint32_t>(config.groups.size())), instance_(config.instance) {
    const BlockShape shape(config.block_size);
    for (const GroupConfig& group : config.groups) {
        sink_blocks_.push_back(static_cast<std::uint32_t>(shape.blocks_for(group.sinks)));
    }
    sequences_.reserve(config.expected_sequences);
    tables_.reserve(std::size_t{config.expected_sequences} * groups_);
    free_slots_.reserve(config.expected_sequences);
    for (std::uint32_t i = 0; i < config.expected_sequences; ++i) {
        add_slot();
    }
    // A stack: the slots are handed out in ascending order at first.
    for (std::uint32_t i = config.expected_sequences; i > 0; --i) {
        free_slots_.push_back(i - 1);
    }
}

void Sequences::assign(const Sequences& other) {
    sequences_ = other.sequences_;
    tables_ = other.tables_;
    std::ranges::for_each(tables_, [](BlockTable& table) { table.row() = {}; });
    free_slots_.reserve(sequences_.capacity());  // so that destroy() never allocates
    free_slots_ = other.free_slots_;
    alive_ = other.alive_;
}

// All memory first, so that an allocation that fails leaves everything as it was.
void Sequences::add_slot() {
    const std::size_t slots = sequences_.size() + 1;
    if (slots > sequences_.capacity()) {
        sequences_.reserve(2 * slots);
    }
    if (slots * groups_ > tables_.capacity()) {
        tables_.reserve(2 * slots * groups_);
    }
    free_slots_.reserve(sequences_.capacity());  // so that destroy() never allocates
    std::vector<BlockTable> tables;
    for (const std::uint32_t sink_blocks : sink_blocks_) {
        tables.emplace_back(sink_blocks).reserve(expected_entries_);
    }
    std::ranges::move(tables, std::back_inserter(tables_));
    sequences_.emplace_back();
}

std::uint32_t Sequences::next() {
    if (free_slots_.empty()) {
        add_slot();
        free_slots_.push_back(static_cast<std::uint32_t>(sequences_.size() - 1));
    }
    return free_slots_.back();
}

std::uint32_t Sequences::create() noexcept {
    const std::uint32_t index = free_slots_.back();
    free_slots_.pop_back();
    ++sequences_[index].generation;
    ++alive_;
    return index;
}

void Sequences::destroy(std::uint32_t index) noexcept {
    for (std::uint32_t group = 0; group < groups_; ++group) {
        table(index, GroupId{group}).clear();
    }
    Sequence& sequence = sequences_[index];
    sequence.length = 0;
    sequence.reserved = 0;
    ++sequence.generation;
    free_slots_.push_back(index);
    --alive_;
}

SequenceHandle Sequences::handle(std::uint32_t index) const noexcept {
    return {index, sequences_[index].generation, instance_};
}

void Sequences::add_to(Digest& digest) const noexcept {
    digest.add(alive_);
    // Slots that were never used decide nothing: they are handed out in ascending order whenever they are made.
    for (const std::uint32_t slot : free_slots_) {
        if (sequences_[slot].generation != 0) {
            digest.add(slot);
        }
    }
    for (std::uint32_t index = 0; index < sequences_.size(); ++index) {
        const Sequence& sequence = sequences_[index];
        if (sequence.generation != 0) {
            digest.add((std::uint64_t{index} << 32U) | sequence.generation);
        }
        if (!sequence.alive()) {
            continue;
        }
        digest.add(static_cast<std::uint64_t>(sequence.length));
        digest.add(static_cast<std::uint64_t>(sequence.reserved));
        digest.add(static_cast<std::uint64_t>(sequence.own_from));
        digest.add(static_cast<std::uint64_t>(sequence.priority));
        for (std::uint32_t group = 0; group < groups_; ++group) {
            table(index, GroupId{group}).add_to(digest);
        }
    }
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/driver.h>
#include <kvpane/invariants/judge.h>

namespace kvpane {

// Breaks states on purpose, to see them caught. The friend of everything that keeps state, and only in tests.
struct Tamper {
    // --- pool -------------------------------------------------------------------------------------------------------

    static BlockPool& pool(Manager& kv) { return kv.pool_; }
    static std::uint32_t& free_counter(Manager& kv) { return kv.pool_.free_; }
    static std::uint32_t& fenced_counter(Manager& kv) { return kv.pool_.fenced_; }
    static std::uint32_t& refs(Manager& kv, BlockId block) { return kv.pool_.at(block).refs; }
    static ContentId& content(Manager& kv, BlockId block) { return kv.pool_.at(block).content; }
    static BlockId& next(Manager& kv, BlockId block) { return kv.pool_.at(block).next; }
    static std::uint64_t& idle_since(Manager& kv, BlockId block) { return kv.pool_.idle_since_[to_index(block)]; }
    static BlockId fence_sentinel(Manager& kv) { return kv.pool_.fence_; }
    static std::uint32_t& pins(Manager& kv, BlockId block) { return kv.pool_.pins_[to_index(block)]; }
    static std::uint32_t& pinned_counter(Manager& kv) { return kv.pool_.pinned_; }

    // --- what the cache knows ---------------------------------------------------------------------------------------

    static Token& token(Manager& kv, ContentId node, std::size_t offset) {
        PrefixTree& tree = kv.index_->tree_;
        return tree.tokens_[static_cast<std::size_t>(node) * tree.block_size_ + offset];
    }
    static std::uint32_t& length(Manager& kv, ContentId node) { return record(kv, node).length; }
    static ContentId& parent(Manager& kv, ContentId node) { return record(kv, node).parent; }
    static kvpane::Scope& scope(Manager& kv, ContentId node) {
        return kv.index_->tree_.scopes_[record(kv, record(kv, node).root).label].view;
    }
    static ContentMark& mark(Manager& kv, ContentId node) {
        return kv.index_->tree_.marks_[record(kv, node).label].marks.front();
    }
    static GroupId& group(Manager& kv, BlockId block) { return kv.index_->links_[to_index(block)].group; }
    static std::uint32_t& entries(Manager& kv) { return kv.index_->entries_; }

    // The index does not find the copies of a content any more.
    static void lose(Manager& kv, ContentId node, GroupId group = GroupId{0}) {
        PrefixIndex& index = *kv.index_;
        index.lists_[index.list(node, group)] = {};
    }

    // As the Manager does it.
    static void withdraw(Manager& kv, BlockId block) { kv.withdraw(block); }

    // --- its events -------------------------------------------------------------------------------------------------

    static CacheEvents& events(Manager& kv) { return kv.index_->events_; }
    static CacheEvent& event(Manager& kv, std::uint64_t number) { return events(kv).events_[events(kv).slot(number)]; }
    static Token& event_token(Manager& kv, std::uint64_t number, std::size_t offset) {
        CacheEvents& events = kv.index_->events_;
        return events.tokens_[events.slot(number) * events.block_size_ + offset];
    }

    // The event was never emitted; those behind it move up.
    static void lose_event(Manager& kv, std::uint64_t number) {
        CacheEvents& events = kv.index_->events_;
        for (std::uint64_t at = number; at + 1 < events.next_; ++at) {
            events.events_[events.slot(at)] = events.events_[events.slot(at + 1)];
            events.events_[events.slot(at)].number = at;
        }
        --events.next_;
        --events.held_;
    }

    // --- tables -----------------------------------------------------------------------------------------------------

    static BlockTable& table(Manager& kv, SequenceHandle sequence, GroupId group = GroupId{0}) {
        return kv.sequences_.table(sequence.index, group);
    }
    static BlockId& entry(BlockTable& table, std::uint32_t entry) { return table.blocks_[entry]; }
    static std::uint32_t& first(BlockTable& table) { return table.first_; }
    static Length& missing_below(BlockTable& table) { return table.missing_below_; }
    static Length& length(Manager& kv, SequenceHandle sequence) { return kv.sequences_[sequence.index].length; }

    // The table names `block` instead, and all reference counts say so.
    static void exchange(Manager& kv, BlockTable& table, std::uint32_t index, BlockId block) {
        BlockPool::Batch batch;
        kv.pool_.share(block);
        kv.pool_.give_back(batch, std::exchange(entry(table, index), block));
    }

    // --- the judge --------------------------------------------------------------------------------------------------

    static Manager& manager(invariants::CheckedManager& checked) { return checked.driver_->manager(); }
    static Manager& twin(invariants::CheckedManager& checked) { return checked.judge_->twin_->manager(); }
    static invariants::ShadowCells& shadow(invariants::CheckedManager& checked) { return checked.judge_->follower_.shadow(); }

    // Another engine plays on real cells from now on.
    static void play_on(invariants::CheckedManager& checked, std::unique_ptr<invariants::Payload> payload) {
        checked.judge_->follower_.play_on(std::move(payload));
    }

    // CheckedManager::apply, with a fault between the plan and the operation, and one between it and the checks; that
    // one may change the outcome.
    template <class Before, class Behind>
    static invariants::Outcome apply(invariants::CheckedManager& checked, const invariants::Operation& operation,
                                     Before fault_before, Behind fault_behind) {
        ++checked.operations_;
        const invariants::Depth depth = checked.depth_now(false);
        checked.prepare(operation, depth);
        fault_before();
        invariants::Outcome outcome = checked.driver_->apply(operation);
        if constexpr (std::is_invocable_v<Behind, invariants::Outcome&>) {
            fault_behind(outcome);
        } else {
            fault_behind();
        }
        checked.conclude(operation, outcome, depth);
        return outcome;
    }

private:
    static PrefixTree::Node& record(Manager& kv, ContentId node) {
        return kv.index_->tree_.nodes_[static_cast<std::size_t>(node)];
    }
};

}  // namespace kvpane

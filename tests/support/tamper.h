// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
    static invariants::ShadowCells& shadow(invariants::CheckedManager& checked) { return checked.judge_->shadow_; }

    // CheckedManager::apply, with a fault between the plan and the operation, and one between it and the checks.
    template <class Before, class Behind>
    static invariants::Outcome apply(invariants::CheckedManager& checked, const invariants::Operation& operation,
                                     Before fault_before, Behind fault_behind) {
        ++checked.operations_;
        const invariants::Depth depth = checked.depth_now(false);
        checked.prepare(operation, depth);
        fault_before();
        invariants::Outcome outcome = checked.driver_->apply(operation);
        fault_behind();
        checked.conclude(operation, outcome, depth);
        return outcome;
    }
};

}  // namespace kvpane

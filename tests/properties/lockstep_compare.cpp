// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <kvpane/blocktable/exports.h>

#include "properties/lockstep.h"
#include "properties/lockstep_check.h"

namespace kvpane::testing {

void Lockstep::check(bool holds, const std::string& what) const {
    if (!holds) {
        throw Disagreement(now_ + ": " + what);
    }
}

// --- answers --------------------------------------------------------------------------------------------------------

void Lockstep::check_step(const expected<Step>& got, const Answer& answer) {
    check_error(got, answer);
    if (!got.has_value()) {
        return;
    }
    check_equal(got->cells, answer.cells, "cells");
    check_equal(got->blocks_taken, answer.taken, "blocks taken");
    for (std::uint32_t group = 0; group < model_.groups(); ++group) {
        check_equal(got->slots_of(GroupId{group}), answer.slots[group], "slots of group " + std::to_string(group));
    }
    std::vector<BlockCopy> copies;
    for (const ModelCopy& copy : answer.copies) {
        copies.push_back({GroupId{copy.group}, BlockId{copy.source}, BlockId{copy.destination},
                          static_cast<std::uint32_t>(copy.cells)});
        reached_["idle sources"] += model_.refs(copy.source) == 0 ? 1U : 0U;
    }
    check_equal(got->copies, copies, "copies");
    for (const BlockCopy& copy : copies) {
        check(std::ranges::none_of(copies, [&](const BlockCopy& other) { return other.destination == copy.source; }),
              "no copy of a step reads what another one writes");
    }
    reached_["copies"] += copies.size();
}

void Lockstep::check_plan(const expected<Plan>& got, const Plan& plan) {
    check(got.has_value(), "a plan is not an error");
    check_equal(got->verdict, plan.verdict, "verdict");
    if (plan.blocks_needed != Model::not_said) {
        check_equal(got->blocks_needed, plan.blocks_needed, "blocks_needed");
        check_equal(got->copies, plan.copies, "copies planned");
    }
}

// --- the state ------------------------------------------------------------------------------------------------------

void Lockstep::compare_all() {
    compare_pool();
    compare_totals();
    if (config_.prefix_cache.enabled) {
        compare_contents();
        compare_events();
    }
    check_equal(kv_.sequences(), model_.sequences().size(), "sequences alive");
    bool hole = false;
    bool missing = false;
    for (const auto& [name, sequence] : model_.sequences()) {
        check_equal(kv_.length(handles_.at(name)).value(), sequence.length(), "length");
        check_equal(kv_.reserved(handles_.at(name)).value(), sequence.reserved, "reserved");
        for (std::uint32_t group = 0; group < model_.groups(); ++group) {
            compare_table(name, group);
            compare_slots(name, group);
            const ModelTable& table = sequence.tables[group];
            const auto held = std::ranges::count_if(table.ids, [](auto id) { return id != 0; });
            hole = hole || held != std::ranges::ssize(table.ids);
            missing = missing || model_.first_resident(name, group) % config_.block_size != 0;
        }
    }
    reached_["holes"] += hole ? 1U : 0U;                  // operations after which some table had a hole
    reached_["missing cells"] += missing ? 1U : 0U;       // a block was held whose first cells were gone
    reached_["fenced"] += model_.fenced() > 0 ? 1U : 0U;  // a block waited for a step
    for (std::uint32_t group = 0; group < model_.groups(); ++group) {
        compare_csr(group);
        compare_padded(group);
    }
    for (auto& [key, row] : rows_) {
        compare_row(key.first, key.second, row);
    }
    check_equal(twin_.digest(), kv_.digest(), "digest after equal calls");
}

void Lockstep::compare_pool() {
    const BlockPool& pool = kv_.pool();
    std::vector<std::uint32_t> queue;
    for (BlockId block = pool.next_idle(null_block); block != null_block; block = pool.next_idle(block)) {
        queue.push_back(to_index(block));
        check(queue.size() <= pool.blocks(), "the free queue does not end");
    }
    check_equal(queue, model_.queue(), "free queue");
    check_equal(pool.cached_blocks(), model_.cached(), "cached blocks");
    check_equal(pool.pinned_blocks(), model_.pinned(), "pinned blocks");
    check_equal(pool.free_blocks() + pool.cached_blocks() + pool.live_blocks() + pool.fenced_blocks(), pool.blocks(),
                "the partition of the pool");
    check_equal(pool.fenced_blocks(), model_.fenced(), "fenced blocks");
    check_equal(pool.live_blocks(), model_.live(), "live blocks");
    for (std::uint32_t block = 1; block <= pool.blocks(); ++block) {
        const std::uint32_t refs = model_.refs(block);
        check_equal(pool.refs(BlockId{block}), refs, "references to block " + std::to_string(block));
        check((pool.state(BlockId{block}) == BlockState::live) == (refs > 0), "a block is live when it is referenced");
    }
}

void Lockstep::compare_table(Name name, std::uint32_t group) {
    const std::string where = "of sequence " + std::to_string(name) + ", group " + std::to_string(group);
    const TableView view = kv_.table(handles_.at(name), GroupId{group}).value();
    std::vector<std::uint32_t> ids;
    for (std::size_t entry = 0; entry < view.size; ++entry) {
        ids.push_back(to_index(view[entry]));
    }
    const ModelTable& table = model_.sequences().at(name).tables[group];
    check_equal(ids, table.ids, "table " + where);
    const auto held = std::ranges::count_if(ids, [](auto id) { return id != 0; });
    check_equal(static_cast<std::ptrdiff_t>(view.held()), held, "blocks held " + where);
    check_equal(view.first_resident, model_.first_resident(name, group), "first_resident " + where);
}

void Lockstep::compare_slots(Name name, std::uint32_t group) {
    const ModelSequence& sequence = model_.sequences().at(name);
    const ModelTable& table = sequence.tables[group];
    for (Length position = 0; position <= sequence.covered(); ++position) {
        std::array<Slot, 1> slot{-1};
        const auto got = export_slots(kv_, handles_.at(name), GroupId{group}, position, std::span<Slot>(slot));
        const bool held = table.cells.contains(position);
        check_equal(
            got.has_value(), held,
            "whether position " + std::to_string(position) + " of group " + std::to_string(group) + " has a slot");
        if (held) {
            const Length entry = position / config_.block_size;
            const Slot wanted =
                Slot{table.ids[static_cast<std::size_t>(entry)]} * config_.block_size + position % config_.block_size;
            check_equal(slot[0], wanted, "slot of position " + std::to_string(position));
        }
    }
}

void Lockstep::compare_csr(std::uint32_t group) {
    std::vector<SequenceHandle> handles;
    std::vector<std::int32_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<std::int32_t> last;
    std::vector<std::int64_t> first;
    for (const auto& [name, sequence] : model_.sequences()) {
        handles.push_back(handles_.at(name));
        const auto& ids = sequence.tables[group].ids;
        std::int32_t in_last = 0;  // of the last block listed
        for (std::size_t entry = 0; entry < ids.size(); ++entry) {
            if (ids[entry] != 0) {
                const Length begin = static_cast<Length>(entry) * config_.block_size;
                indices.push_back(static_cast<std::int32_t>(ids[entry]));
                in_last = static_cast<std::int32_t>(std::min<Length>(config_.block_size, sequence.covered() - begin));
            }
        }
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
        last.push_back(in_last);
        first.push_back(model_.first_resident(name, group));
    }
    std::vector<std::int32_t> got_indptr(indptr.size());
    std::vector<std::int32_t> got_indices(indices.size());
    std::vector<std::int32_t> got_last(last.size());
    std::vector<std::int64_t> got_first(first.size());
    check_equal(csr_entries(kv_, handles, GroupId{group}).value(), std::ssize(indices), "csr entries");
    const CsrArrays out{got_indptr, got_indices, got_last, got_first};
    check_equal(export_csr(kv_, handles, GroupId{group}, out).value(), std::ssize(indices), "csr entries written");
    check_equal(got_indptr, indptr, "csr indptr");
    check_equal(got_indices, indices, "csr indices");
    check_equal(got_last, last, "csr last_page_len");
    check_equal(got_first, first, "csr first_position");
}

void Lockstep::compare_padded(std::uint32_t group) {
    std::size_t width = 1;
    for (const auto& [name, sequence] : model_.sequences()) {
        width = std::max(width, sequence.tables[group].ids.size());
    }
    std::vector<SequenceHandle> handles;
    std::vector<std::int32_t> wanted;
    for (const auto& [name, sequence] : model_.sequences()) {
        handles.push_back(handles_.at(name));
        const auto& ids = sequence.tables[group].ids;
        for (std::size_t entry = 0; entry < width; ++entry) {
            wanted.push_back(entry < ids.size() ? static_cast<std::int32_t>(ids[entry]) : 0);
        }
    }
    std::vector<std::int32_t> got(wanted.size(), -1);
    check(export_padded(kv_, handles, GroupId{group}, width, got).has_value(), "export_padded");
    check_equal(got, wanted, "padded tables");
}

void Lockstep::compare_row(Name name, std::uint32_t group, Row& row) {
    const auto& ids = model_.sequences().at(name).tables[group].ids;
    std::vector<std::int32_t> wanted(row.ids.size(), 0);
    std::ranges::copy(ids, wanted.begin());
    check_equal(row.ids, wanted, "bound row");
    check_equal(row.of_twin, wanted, "bound row of the twin");
    const RowChange change = kv_.take_row_change(handles_.at(name), GroupId{group}).value();
    check(change.begin <= change.end && change.end <= row.ids.size(), "a row change lies in the row");
    for (std::uint32_t entry = change.begin; entry < change.end; ++entry) {
        row.before[entry] = row.ids[entry];
    }
    check_equal(row.before, row.ids, "a copy that follows only the changed entries");
    const RowChange again = kv_.take_row_change(handles_.at(name), GroupId{group}).value();
    check(again.begin == again.end, "a taken change starts a new list");
}

// --- wrong calls ----------------------------------------------------------------------------------------------------

void Lockstep::apply_wrong_handle(const Op& op) {
    SequenceHandle handle{};
    if (op.which % 3 == 0 && !ended_.empty()) {
        handle = ended_[static_cast<std::size_t>(op.who) % ended_.size()];
    } else if (op.which % 3 == 1 && !handles_.empty()) {
        handle = handles_.at(*pick(op.who));
        handle.instance += 1;
    }
    const std::vector<Token> token{1};
    const std::vector<Reservation> asked{{handle, 1}};
    const std::vector<SequenceHandle> handles{handle};
    const Error error = Error::unknown_sequence;
    switch (op.much % 8) {
        case 0: return check_error(both([&](Manager& kv) { return kv.reserve(asked); }), error);
        case 1: return check_error(both([&](Manager& kv) { return kv.commit(handle, token); }), error);
        case 2: return check_error(both([&](Manager& kv) { return kv.cancel(handle); }), error);
        case 3: return check_error(both([&](Manager& kv) { return kv.append(handle, token); }), error);
        case 4: return check_error(both([&](Manager& kv) { return kv.append_batch(handles, token); }), error);
        case 5: return check_error(both([&](Manager& kv) { return kv.fork(handle); }), error);
        case 6: return check_error(both([&](Manager& kv) { return kv.truncate(handle, 0); }), error);
        default: return check_error(both([&](Manager& kv) { return kv.release(handle); }), error);
    }
}

void Lockstep::apply_wrong_argument(Name name, const Op& op) {
    const SequenceHandle handle = handles_.at(name);
    const ModelSequence& sequence = model_.sequences().at(name);
    const std::vector<Token> negative{-1};
    const std::vector<Reservation> twice{{handle, 1}, {handle, 1}};
    const std::vector<Reservation> nothing{{handle, 0}};
    const Length beyond = sequence.length() + 1;
    const Error error = Error::invalid_argument;
    const auto admit_with = [&](const Prompt& prompt) {
        check_error(both([&](Manager& kv) { return kv.admit(prompt); }), error);
    };
    switch (op.much % 8) {
        case 0: return check_error(both([&](Manager& kv) { return kv.reserve(twice); }), error);
        case 1: return check_error(both([&](Manager& kv) { return kv.reserve(nothing); }), error);
        case 2: return admit_with({.tokens = {}});
        case 3: return admit_with({.tokens = negative});
        case 4: return check_error(both([&](Manager& kv) { return kv.truncate(handle, beyond); }), error);
        case 5: return check_error(both([&](Manager& kv) { return kv.truncate(handle, -1); }), error);
        default: break;
    }
    if (sequence.reserved == 0) {
        check_error(both([&](Manager& kv) { return kv.append(handle, negative); }), error);
        check_error(both([&](Manager& kv) { return kv.fork(handle, beyond); }), error);
    } else {
        check_error(both([&](Manager& kv) { return kv.commit(handle, negative); }), error);
    }
}

}  // namespace kvpane::testing

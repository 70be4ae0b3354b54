// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/manager.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <kvpane/allocator/promise.h>
#include <kvpane/blocktable/window.h>

namespace kvpane {

namespace {

Config valid(Config config) {
    if (const auto problem = validate(config)) {
        throw std::invalid_argument("kvpane::Config: " + *problem);
    }
    return config;
}

bool any_negative(std::span<const Token> tokens) noexcept {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

}  // namespace

Manager::Manager(Config config)
    : config_(valid(std::move(config))), shape_(config_.block_size),
      pool_(static_cast<std::uint32_t>(config_.blocks),
            config_.prefix_cache.enabled ? IdleOrder::contentless_to_front : IdleOrder::all_to_back),
      sequences_(config_), planner_(config_, shape_, pool_, sequences_) {
    const PrefixCacheConfig& cache = config_.prefix_cache;
    if (cache.enabled) {
        index_.emplace(config_.block_size, pool_.blocks(), groups(),
                       PrefixIndexOptions{.by_token = cache.granularity == Granularity::token,
                                          .constant_hash = cache.constant_hash,
                                          .events = cache.kept_events});
        histories_.emplace(shape_, index_->tree());
        search_.emplace(config_, shape_, *index_);
        due_.resize(pool_.blocks() + std::size_t{1});
        static const LruRanking lru;
        static const LfuRanking lfu;
        ranking_ = cache.ranking;
        if (ranking_ == nullptr) {
            ranking_ = cache.policy == EvictionPolicy::lfu ? static_cast<const Ranking*>(&lfu) : &lru;
        }
        for (std::uint32_t slot = 0; slot < config_.expected_sequences; ++slot) {
            histories_->make_slot(slot);
        }
    }
}

void Manager::assign(const Manager& other) {
    promise(pool_.blocks() == other.pool_.blocks() && groups() == other.groups() &&
                config_.block_size == other.config_.block_size && index_.has_value() == other.index_.has_value(),
            "A2", "a Manager was assigned another one with a different configuration");
    if (this == &other) {
        return;
    }
    begin_call();
    pool_ = other.pool_;
    sequences_.assign(other.sequences_);
    if (index_) {
        index_ = other.index_;
        histories_->assign(*other.histories_);
    }
    statistics_ = other.statistics_;
    batch_mark_ = other.batch_mark_;
    expiries_ = other.expiries_;
    due_ = other.due_;
    steps_ended_ = other.steps_ended_;
}

// --- operations -----------------------------------------------------------------------------------------------------

expected<Step> Manager::do_reserve(std::span<const Reservation> batch) {
    begin_call();
    if (const auto asked = ask(batch); !asked) {
        return unexpected(asked.error());
    }
    if (const auto taken = take_what_was_asked(); !taken) {
        return unexpected(taken.error());
    }
    end_call();
    return step();
}

expected<void> Manager::do_commit(SequenceHandle sequence, std::span<const Token> tokens) {
    const Sequence* found = find(sequence);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (any_negative(tokens)) {
        return unexpected(Error::invalid_argument);
    }
    const auto cells = static_cast<Length>(tokens.size());
    if (cells > found->reserved) {
        return unexpected(Error::not_reserved);
    }
    if (cells > 0) {
        make_room_to_commit(sequence.index, cells);
        commit_cells(sequence.index, tokens);
    }
    return {};
}

expected<void> Manager::do_cancel(SequenceHandle sequence) {
    Sequence* found = find(sequence);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (found->reserved > 0) {
        shrink(sequence.index, found->length);
    }
    return {};
}

expected<Step> Manager::do_append(SequenceHandle sequence, std::span<const Token> tokens) {
    const Sequence* found = find(sequence);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (tokens.empty() || any_negative(tokens)) {
        return unexpected(Error::invalid_argument);
    }
    if (found->reserved > 0) {
        return unexpected(Error::busy);
    }
    begin_call();
    planner_.ask(sequence.index, static_cast<Length>(tokens.size()));
    make_room_to_commit(sequence.index, static_cast<Length>(tokens.size()));
    if (const auto taken = take_what_was_asked(); !taken) {
        return unexpected(taken.error());
    }
    commit_cells(sequence.index, tokens);
    end_call();
    return step();
}

expected<Step> Manager::do_append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens) {
    begin_call();
    bool is_busy = false;
    for (const SequenceHandle& sequence : sequences) {
        if (const auto asked = ask(sequence, 1); !asked) {
            return unexpected(asked.error());
        }
        is_busy = is_busy || sequences_[sequence.index].reserved > 0;
    }
    if (sequences.empty() || sequences.size() != tokens.size() || any_negative(tokens)) {
        return unexpected(Error::invalid_argument);
    }
    if (is_busy) {
        return unexpected(Error::busy);
    }
    if (index_) {
        index_->make_room(sequences.size());
        make_room_for_expiries(sequences.size() * groups());
        for (const SequenceHandle& sequence : sequences) {
            histories_->make_room(sequence.index, sequences.size());
        }
    }
    if (const auto taken = take_what_was_asked(); !taken) {
        return unexpected(taken.error());
    }
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        commit_cells(sequences[i].index, tokens.subspan(i, 1));
    }
    end_call();
    return step();
}

expected<SequenceHandle> Manager::do_fork(SequenceHandle parent, std::optional<Length> at) {
    const Sequence* found = find(parent);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    const Length length = at.value_or(found->length);
    if (length < 0 || length > found->length) {
        return unexpected(Error::invalid_argument);
    }
    if (found->reserved > 0) {
        return unexpected(Error::busy);
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const Length seen = need(length, config_.groups[group].window);
        if (!sequences_.table(parent.index, GroupId{group}).holds_cells(shape_, seen, length)) {
            return unexpected(Error::window_evicted);
        }
    }
    const Length parent_length = found->length;
    const std::uint32_t child = sequences_.next();  // may move the sequences: `found` is gone
    for (std::uint32_t group = 0; group < groups(); ++group) {
        sequences_.table(child, GroupId{group}).reserve(static_cast<std::size_t>(shape_.blocks_for(length)));
    }
    if (index_) {
        histories_->make_slot(child);
        histories_->fork(parent.index, parent_length, child, length);
    }
    sequences_.create();
    sequences_[child].length = sequences_[child].own_from = length;
    sequences_[child].priority = sequences_[parent.index].priority;
    sequences_[child].priority_steps = sequences_[parent.index].priority_steps;
    for (std::uint32_t group = 0; group < groups(); ++group) {
        BlockTable& table = sequences_.table(child, GroupId{group});
        table.assign_prefix(sequences_.table(parent.index, GroupId{group}), shape_, length);
        pool_.share(table.sink_part());
        pool_.share(table.run_part());
    }
    ++statistics_.forks;
    return sequences_.handle(child);
}

expected<void> Manager::do_truncate(SequenceHandle sequence, Length length) {
    const Sequence* found = find(sequence);
    if (found == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (length < 0 || length > found->length) {
        return unexpected(Error::invalid_argument);
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const Length seen = need(length, config_.groups[group].window);
        if (!sequences_.table(sequence.index, GroupId{group}).holds_cells(shape_, seen, length)) {
            return unexpected(Error::window_evicted);
        }
    }
    if (index_) {
        histories_->rewind(sequence.index, found->length, length);
    }
    shrink(sequence.index, length);
    sequences_[sequence.index].own_from = std::min(sequences_[sequence.index].own_from, length);
    ++statistics_.truncations;
    return {};
}

expected<void> Manager::do_release(SequenceHandle sequence, bool keep_cached) {
    if (find(sequence) == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (index_) {
        keep_cached ? publish_tail(sequence.index) : forget(sequence.index);
        histories_->end(sequence.index);
    }
    shrink(sequence.index, 0);
    sequences_.destroy(sequence.index);
    ++statistics_.released;
    return {};
}

expected<void> Manager::do_step_end(StepId step) {
    make_room_to_expire();
    auto ended = pool_.step_end(step);
    if (ended && index_) {
        ++steps_ended_;
        expire_priorities();
    }
    return ended;
}

// --- what a call is made of -----------------------------------------------------------------------------------------

void Manager::begin_call() noexcept {
    planner_.start();
    ++batch_mark_;
    copies_.clear();
    cells_ = 0;
    blocks_taken_ = 0;
}

void Manager::end_call() noexcept {
    BlockPool::Batch batch;
    for (const BlockCopy& copy : copies_) {
        pool_.give_back(batch, copy.source);
    }
}

expected<void> Manager::ask(std::span<const Reservation> batch) {
    if (batch.empty()) {
        return unexpected(Error::invalid_argument);
    }
    for (const Reservation& reservation : batch) {
        if (const auto asked = ask(reservation.sequence, reservation.cells); !asked) {
            return asked;
        }
    }
    return {};
}

expected<void> Manager::ask(SequenceHandle handle, Length cells) {
    Sequence* sequence = find(handle);
    if (sequence == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (cells < 1 || sequence->batch_mark == batch_mark_) {
        return unexpected(Error::invalid_argument);
    }
    sequence->batch_mark = batch_mark_;
    planner_.ask(handle.index, cells);
    return {};
}

expected<void> Manager::take_what_was_asked() {
    if (planner_.is_all_quiet()) {  // most decode steps
        make_room_for_slots();
        for (const SequencePlan& sequence : planner_.sequence_plans()) {
            hand_out(sequence);
        }
        return {};
    }
    const Plan plan = planner_.decide();
    if (plan.verdict != Verdict::ok) {
        return refuse(plan.verdict);
    }
    make_room(plan);
    for (const SequencePlan& sequence : planner_.sequence_plans()) {
        apply(sequence);
    }
    promise(blocks_taken_ == plan.blocks_needed, "A1", "an operation took another number of blocks than planned");
    return {};
}

// All memory that applying the plan needs, so that it cannot fail half-way.
void Manager::make_room(const Plan& plan) {
    make_room_for_slots();
    if (const auto copies = static_cast<std::size_t>(plan.copies); copies > copies_.capacity()) {
        copies_.reserve(2 * copies);
    }
    for (const SequencePlan& sequence : planner_.sequence_plans()) {
        for (std::uint32_t group = 0; group < groups() && !sequence.is_quiet; ++group) {
            sequences_.table(sequence.index, GroupId{group}).reserve(planner_.group_plans(sequence)[group].end);
        }
    }
}

void Manager::make_room_for_slots() {
    cells_ = planner_.cells();
    if (const std::size_t slots = groups() * static_cast<std::size_t>(cells_); slots > slots_.size()) {
        slots_.resize(slots);
    }
}

void Manager::apply(const SequencePlan& plan) noexcept {
    if (!plan.is_quiet) {
        const std::span<const GroupPlan> planned = planner_.group_plans(plan);
        for (std::uint32_t group = 0; group < groups(); ++group) {
            drop_before(sequences_.table(plan.index, GroupId{group}), planned[group].first);
        }
        for (std::uint32_t group = 0; group < groups(); ++group) {
            take_blocks(plan, GroupId{group}, planned[group]);
        }
    }
    hand_out(plan);
}

void Manager::hand_out(const SequencePlan& plan) noexcept {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        write_slots(plan, GroupId{group});
    }
    sequences_[plan.index].reserved += plan.cells;
}

void Manager::take_blocks(const SequencePlan& plan, GroupId group, const GroupPlan& planned) noexcept {
    BlockTable& table = sequences_.table(plan.index, group);
    if (planned.copy_cells > 0) {
        const std::uint32_t tail = table.size() - 1;
        const BlockCopy copy{group, table[tail], take(), planned.copy_cells};
        table.replace(tail, copy.destination);
        copies_.push_back(copy);  // the source's reference goes in end_call()
        ++statistics_.copies;
        statistics_.copied_cells += copy.cells;
    } else if (planned.fills_hole) {
        table.fill_tail_hole(take(), plan.begin);
    } else if (shape_.offset(plan.begin) != 0 && pool_.content(table[table.size() - 1]) != no_content) {
        withdraw(table[table.size() - 1]);  // about to be written by its only holder
    }
    while (table.size() < planned.end) {
        table.append(take());
    }
}

void Manager::write_slots(const SequencePlan& plan, GroupId group) noexcept {
    const BlockTable& table = sequences_.table(plan.index, group);
    Slot* out = slots_.data() + (to_index(group) * cells_ + plan.cells_before);
    const Length end = plan.begin + plan.cells;
    for (Length position = plan.begin; position < end;) {
        const BlockId block = table[static_cast<std::uint32_t>(shape_.index(position))];
        const Length offset = shape_.offset(position);
        const Length in_block = std::min(end - position, Length{shape_.size()} - offset);
        std::iota(out, out + in_block, shape_.begin(to_index(block)) + offset);
        out += in_block;
        position += in_block;
    }
}

void Manager::commit_cells(std::uint32_t index, std::span<const Token> tokens) noexcept {
    Sequence& sequence = sequences_[index];
    const auto cells = static_cast<Length>(tokens.size());
    if (index_) {
        publish_new(index, tokens);
    }
    sequence.length += cells;
    sequence.reserved -= cells;
    statistics_.committed_tokens += static_cast<std::uint64_t>(cells);
    if (config_.window_release != WindowRelease::commit) {
        return;
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        BlockTable& table = sequences_.table(index, GroupId{group});
        const Length keep = keep_from_after_commit(sequence.length, config_.groups[group].window, config_.rewind_slack);
        drop_before(table, table.first_after(shape_, keep));
    }
}

void Manager::drop_before(BlockTable& table, std::uint32_t first) noexcept {
    if (first == table.first()) {
        return;
    }
    BlockPool::Batch batch;
    pool_.give_back(batch, table.run_part().first(first - table.first()));
    table.drop_front(first);
}

void Manager::shrink(std::uint32_t index, Length length) noexcept {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        BlockTable& table = sequences_.table(index, GroupId{group});
        const std::uint32_t end = table.end_after(shape_, length);
        BlockPool::Batch batch;
        pool_.give_back(batch, table.run_part().subspan(std::max(end, table.first()) - table.first()));
        pool_.give_back(batch, table.sink_part().subspan(std::min(end, table.sinks())));
        table.shrink(shape_, length);
    }
    sequences_[index].length = length;
    sequences_[index].reserved = 0;
}

BlockId Manager::take() noexcept {
    ++blocks_taken_;
    ++statistics_.blocks_taken;
    const BlockPool::Taken taken = pool_.take();
    if (taken.evicted != no_content) {
        index_->withdraw(taken.evicted, taken.block);
        ++statistics_.evicted_blocks;
    }
    return taken.block;
}

Step Manager::step() const noexcept {
    return {std::span(slots_).first(groups() * static_cast<std::size_t>(cells_)), copies_, cells_, blocks_taken_};
}

unexpected<Error> Manager::refuse(Verdict verdict) noexcept {
    ++(verdict == Verdict::later ? statistics_.refused_later : statistics_.refused_never);
    return unexpected(verdict == Verdict::later ? Error::later : Error::never);
}

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <kvpane/blocktable/manager.h>

// Admission and the prefix cache.
namespace kvpane {

namespace {

bool any_negative(std::span<const Token> tokens) noexcept {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

}  // namespace

// --- admission ------------------------------------------------------------------------------------------------------

expected<Admission> Manager::do_admit(const Prompt& prompt) {
    if (!is_sound(prompt)) {
        return unexpected(Error::invalid_argument);
    }
    const auto length = static_cast<Length>(prompt.tokens.size());
    if (length > planner_.limit()) {
        return refuse(Verdict::never);
    }
    const Match match = search(prompt, length - 1);
    const Length computed = std::min(length - match.tokens, prompt.compute.value_or(length));
    const std::uint32_t index = sequences_.next();
    begin_call();
    adopt(index, match);
    planner_.ask_admission(index, computed, match.cells > 0);
    const Plan plan = planner_.decide_admission(std::min(length, prompt.compute.value_or(length)), watermark());
    if (plan.verdict != Verdict::ok) {
        sequences_[index].length = 0;
        return refuse(plan.verdict);
    }
    make_room(plan);
    if (index_) {
        sequences_[index].priority_steps = prompt.priority_steps;
        prepare(index, prompt, match, computed);
        hold_hits(index, prompt);
    }
    sequences_[index].own_from = match.tokens;
    sequences_[index].priority = prompt.priority;
    apply(planner_.sequence_plans().front());
    if (computed > 0) {
        commit_cells(index,
                     prompt.tokens.subspan(static_cast<std::size_t>(match.tokens), static_cast<std::size_t>(computed)));
    }
    sequences_.create();
    end_call();
    ++statistics_.admitted;
    if (index_) {
        statistics_.queried_tokens += static_cast<std::uint64_t>(length);
        statistics_.hit_tokens += static_cast<std::uint64_t>(match.tokens);
    }
    return Admission{sequences_.handle(index), match.tokens, step()};
}

bool Manager::is_sound(const Prompt& prompt) const noexcept {
    Length end = 0;
    for (const ExternalContent& piece : prompt.extra) {
        if (piece.at < end || piece.count < 1 || piece.count > longest_sequence || piece.at > longest_sequence) {
            return false;
        }
        end = piece.at + piece.count;
    }
    return !prompt.tokens.empty() && end <= static_cast<Length>(prompt.tokens.size()) && !any_negative(prompt.tokens) &&
           prompt.compute.value_or(0) >= 0;
}

Match Manager::search(const Prompt& prompt, Length most) {
    return search_ ? search_->find(prompt.tokens, prompt.scope, prompt.extra, most) : Match{};
}

// The tables of an admission as its hits make them; nothing is held yet. A block that matches in part stands at the
// tail, from where apply() replaces it with a copy.
void Manager::adopt(std::uint32_t index, const Match& match) {
    sequences_[index].length = match.tokens;
    for (std::uint32_t group = 0; group < groups(); ++group) {
        BlockTable& table = sequences_.table(index, GroupId{group});
        table.clear();
        table.reserve(match.blocks + std::size_t{1});
        const auto sinks = static_cast<std::uint32_t>(shape_.blocks_for(config_.groups[group].sinks));
        for (std::uint32_t entry = 0; entry < match.blocks; ++entry) {
            if (entry < sinks || entry >= search_->first_block(group)) {
                table.append(search_->block(entry, group));
            } else {
                table.append_hole();
            }
        }
        if (match.cells > 0) {
            table.append(search_->source(group));
        }
    }
}

// Memory for the hits' new ranks, their expiries, what is published, and the new history; the last thing of an admission
// that may fail, and what it changes last is the history.
void Manager::prepare(std::uint32_t index, const Prompt& prompt, const Match& match, Length computed) {
    pool_.make_rank(ranking_->inserted(prompt.priority));
    for_each_held(index, [&](BlockId block) { pool_.make_rank(ranking_->hit(pool_.rank(block), prompt.priority)); });
    if (prompt.priority_steps > 0) {
        make_room_for_expiries(groups() * (match.blocks + std::size_t{1}));
    }
    const std::size_t blocks = blocks_completed(index, computed);
    make_room_to_publish(index, blocks + 1);  // one more: the scope's root
    histories_->make_room(prompt.extra, blocks);
    histories_->make_slot(index);
    index_->events().make_room(prompt.scope);
    const auto tail = prompt.tokens.subspan(static_cast<std::size_t>(shape_.begin(match.blocks)), match.cells);
    histories_->begin(index, prompt.scope, prompt.extra, match.node, tail);
}

void Manager::hold_hits(std::uint32_t index, const Prompt& prompt) {
    for_each_held(index, [&](BlockId block) {
        pool_.refs(block) > 0 ? pool_.share(block) : pool_.revive(block);
        if (prompt.priority > pool_.rank(block).priority) {
            note_expiry(block, prompt.priority, prompt.priority_steps);
        }
        pool_.set_rank(block, ranking_->hit(pool_.rank(block), prompt.priority));
    });
}

// Stale entries go before the heap grows, so that it stays within a multiple of the blocks.
void Manager::make_room_for_expiries(std::size_t more) {
    if (expiries_.size() + more <= expiries_.capacity()) {
        return;
    }
    std::erase_if(expiries_, [&](const Expiry& expiry) { return due_[to_index(expiry.block)] != expiry.due; });
    std::ranges::sort(expiries_, {}, [](const Expiry& e) { return std::pair(e.due, to_index(e.block)); });
    expiries_.erase(std::unique(expiries_.begin(), expiries_.end()), expiries_.end());  // ascending dues are a heap
    if (expiries_.size() + more > expiries_.capacity()) {
        expiries_.reserve(2 * (expiries_.size() + more));
    }
}

// REQUIRES room for one more entry when steps > 0.
void Manager::note_expiry(BlockId block, std::int64_t priority, std::uint64_t steps) noexcept {
    const std::uint64_t due = priority != 0 && steps > 0 ? steps_ended_ + steps : 0;
    if (due != 0 && due != due_[to_index(block)]) {
        expiries_.push_back({due, block});
        std::push_heap(expiries_.begin(), expiries_.end());
    }
    due_[to_index(block)] = due;
}

// Memory for what expire_priorities() does behind the end of one more step. COST O(expiries) when some are due.
void Manager::make_room_to_expire() {
    if (expiries_.empty() || expiries_.front().due > steps_ended_ + 1) {
        return;
    }
    blocks_.reserve(expiries_.size());
    for (const Expiry& expiry : expiries_) {
        if (expiry.due <= steps_ended_ + 1) {
            pool_.make_rank({0, pool_.rank(expiry.block).frequency});
        }
    }
}

// Blocks whose priority ends count as idle from now on, if they are idle: in the order in which the queue had them.
// COST O(log expiries) for each.
void Manager::expire_priorities() noexcept {
    blocks_.clear();
    while (!expiries_.empty() && expiries_.front().due <= steps_ended_) {
        const Expiry expiry = expiries_.front();
        std::pop_heap(expiries_.begin(), expiries_.end());
        expiries_.pop_back();
        if (due_[to_index(expiry.block)] == expiry.due && pool_.content(expiry.block) != no_content) {
            due_[to_index(expiry.block)] = 0;
            blocks_.push_back(expiry.block);
        }
    }
    std::ranges::sort(blocks_, {}, [&](BlockId block) { return std::pair(pool_.rank(block), pool_.idle_since(block)); });
    for (const BlockId block : blocks_) {
        Rank rank = pool_.rank(block);
        rank.priority = 0;
        pool_.set_rank(block, rank);
    }
}

template <class F>
void Manager::for_each_held(std::uint32_t index, F visit) const {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const BlockTable& table = sequences_.table(index, GroupId{group});
        std::ranges::for_each(table.sink_part(), visit);
        std::ranges::for_each(table.run_part(), visit);
    }
}

// --- what is indexed ------------------------------------------------------------------------------------------------

void Manager::make_room_to_commit(std::uint32_t index, Length cells) {
    if (!index_) {
        return;
    }
    if (const std::size_t blocks = blocks_completed(index, cells); blocks > 0) {
        make_room_to_publish(index, blocks);
        histories_->make_room(index, blocks);
    }
}

std::size_t Manager::blocks_completed(std::uint32_t index, Length cells) const noexcept {
    const Length length = sequences_[index].length;
    return static_cast<std::size_t>(shape_.index(length + cells) - shape_.index(length));
}

void Manager::make_room_to_publish(std::uint32_t index, std::size_t blocks) {
    index_->make_room(blocks);
    if (sequences_[index].priority_steps > 0) {
        make_room_for_expiries(blocks * groups());
    }
}

// Adds the tokens to the history; each block that they complete becomes known.
void Manager::publish_new(std::uint32_t index, std::span<const Token> tokens) {
    Length position = sequences_[index].length;
    for (const Token token : tokens) {
        const ContentId node = histories_->add(index, position, token);
        if (node != no_content) {
            publish(index, node, shape_.index(position));
        }
        ++position;
    }
}

// The block of each group at a logical index becomes known, where it is held from its first cell on.
void Manager::publish(std::uint32_t index, ContentId node, Length entry) {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const BlockTable& table = sequences_.table(index, GroupId{group});
        const BlockId block = table[static_cast<std::uint32_t>(entry)];
        const Length begin = shape_.begin(entry);
        // A longer tail replaces the shorter one that another sequence left in the same block.
        const ContentId known = block == null_block ? no_content : pool_.content(block);
        if (known != no_content && pool_.pins(block) == 0 &&
            index_->tree().tokens(known).size() < index_->tree().tokens(node).size()) {
            withdraw(block);
        }
        if (block != null_block && pool_.content(block) == no_content && table.holds_cells(shape_, begin, begin + 1)) {
            const Sequence& sequence = sequences_[index];
            index_->publish(node, GroupId{group}, block);
            pool_.set_content(block, node, ranking_->inserted(sequence.priority));
            note_expiry(block, sequence.priority, sequence.priority_steps);
        }
    }
}

// A sequence that ends leaves its partly filled tail behind, for those that can use a part.
void Manager::publish_tail(std::uint32_t index) {
    if (config_.prefix_cache.granularity != Granularity::token) {
        return;
    }
    const Length length = sequences_[index].length;
    make_room_to_publish(index, 1);
    histories_->make_room(index, 1);
    if (const ContentId tail = histories_->use_tail(index, length); tail != no_content) {
        publish(index, tail, shape_.index(length));
        index_->tree().drop(tail);
    }
}

void Manager::withdraw(BlockId block) {
    index_->withdraw(pool_.content(block), block);
    pool_.drop_content(block);
}

// Takes what the sequence filled itself out of the index; pinned blocks stay.
void Manager::forget(std::uint32_t index) {
    const Sequence& sequence = sequences_[index];
    for (std::uint32_t group = 0; group < groups() && sequence.length > sequence.own_from; ++group) {
        const BlockTable& table = sequences_.table(index, GroupId{group});
        for (auto entry = static_cast<std::uint32_t>(shape_.index(sequence.own_from)); entry < table.size(); ++entry) {
            const BlockId block = table[entry];
            if (block != null_block && pool_.content(block) != no_content && pool_.pins(block) == 0) {
                withdraw(block);
            }
        }
    }
}

// --- operations on the cache ----------------------------------------------------------------------------------------

expected<Length> Manager::probe(const Prompt& prompt) {
    if (!is_sound(prompt)) {
        return unexpected(Error::invalid_argument);
    }
    return search(prompt, static_cast<Length>(prompt.tokens.size()) - 1).tokens;
}

expected<Length> Manager::do_evict(Length blocks) {
    if (blocks < 0) {
        return unexpected(Error::invalid_argument);
    }
    Length dropped = 0;
    for (BlockId block = pool_.next_idle(null_block); block != null_block && dropped < blocks;
         block = pool_.next_idle(block)) {
        if (pool_.content(block) != no_content) {
            withdraw(block);
            ++statistics_.evicted_blocks;
            ++dropped;
        }
    }
    return dropped;
}

expected<void> Manager::do_uncache(SequenceHandle sequence, std::span<const Length> entries) {
    if (find(sequence) == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    const Length size = sequences_.table(sequence.index, GroupId{0}).size();
    if (std::ranges::any_of(entries, [&](Length entry) { return entry < 0 || entry >= size; })) {
        return unexpected(Error::invalid_argument);
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        for (const Length entry : entries) {
            const BlockId block = sequences_.table(sequence.index, GroupId{group})[static_cast<std::uint32_t>(entry)];
            if (block == null_block || pool_.content(block) == no_content) {
                continue;
            }
            while (pool_.pins(block) > 0) {
                pool_.unpin(block);
            }
            withdraw(block);
        }
    }
    return {};
}

// The blocks of the longest cached prefix, up to all of it, into blocks_.
expected<void> Manager::collect_hits(const Prompt& prompt) {
    if (!is_sound(prompt)) {
        return unexpected(Error::invalid_argument);
    }
    blocks_.clear();
    const Match match = search(prompt, static_cast<Length>(prompt.tokens.size()));
    for (std::uint32_t group = 0; group < groups() && match.tokens > 0; ++group) {
        const auto sinks = static_cast<std::uint32_t>(shape_.blocks_for(config_.groups[group].sinks));
        for (std::uint32_t entry = 0; entry < match.blocks; ++entry) {
            if (entry < sinks || entry >= search_->first_block(group)) {
                blocks_.push_back(search_->block(entry, group));
            }
        }
        if (match.cells > 0) {
            blocks_.push_back(search_->source(group));
        }
    }
    return {};
}

expected<Length> Manager::do_pin(const Prompt& prompt) {
    if (const auto collected = collect_hits(prompt); !collected) {
        return unexpected(collected.error());
    }
    const std::int64_t most = config_.prefix_cache.most_pinned;
    const auto fresh = std::ranges::count_if(blocks_, [&](BlockId block) { return pool_.pins(block) == 0; });
    if (most > 0 && pool_.pinned_blocks() + fresh > most) {
        return unexpected(Error::later);
    }
    std::ranges::for_each(blocks_, [&](BlockId block) { pool_.pin(block); });
    return static_cast<Length>(blocks_.size());
}

expected<Length> Manager::do_unpin(const Prompt& prompt) {
    if (const auto collected = collect_hits(prompt); !collected) {
        return unexpected(collected.error());
    }
    const bool surplus = std::ranges::any_of(blocks_, [&](BlockId block) { return pool_.pins(block) == 0; });
    if (blocks_.empty() || surplus) {
        return unexpected(Error::invalid_argument);
    }
    // Group by group, deepest first, like everything that joins the queue.
    for (std::uint32_t group = 0; group < groups(); ++group) {
        std::for_each(blocks_.rbegin(), blocks_.rend(), [&](BlockId block) {
            if (index_->group(block) == GroupId{group}) {
                pool_.unpin(block);
            }
        });
    }
    return static_cast<Length>(blocks_.size());
}

void Manager::do_reset_cache() {
    if (!index_) {
        return;
    }
    blocks_.clear();
    for (BlockId block = pool_.next_idle(null_block); block != null_block; block = pool_.next_idle(block)) {
        if (pool_.content(block) != no_content) {
            blocks_.push_back(block);
        }
    }
    const bool is_all = blocks_.size() == index_->entries();
    if (is_all) {
        index_->begin_clearing();
    }
    std::ranges::for_each(blocks_, [&](BlockId block) { withdraw(block); });
    if (is_all) {
        index_->end_clearing(blocks_.size());
    }
}

}  // namespace kvpane

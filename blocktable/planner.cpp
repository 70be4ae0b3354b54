// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/planner.h>

#include <algorithm>
#include <numeric>

#include <kvpane/blocktable/window.h>

namespace kvpane {

// --- Holders --------------------------------------------------------------------------------------------------------

std::uint32_t Planner::Holders::left(BlockId block, const BlockPool& pool) const noexcept {
    const std::uint32_t word = words_[to_index(block)];
    return (word & known_bit) != 0 ? word & count_mask : pool.holders(block);
}

void Planner::Holders::drop_one(BlockId block, const BlockPool& pool) {
    std::uint32_t& word = words_[to_index(block)];
    if ((word & known_bit) == 0) {
        known_.push_back(block);  // first: should it throw, start() still finds everything to clear
        word = known_bit | pool.holders(block);
    }
    --word;
}

void Planner::Holders::add_one(BlockId block) {
    std::uint32_t& word = words_[to_index(block)];
    if (word == 0) {
        known_.push_back(block);
        word = known_bit;
    }
    ++word;
}

void Planner::Holders::clear() noexcept {
    for (const BlockId block : known_) {
        words_[to_index(block)] = 0;
    }
    known_.clear();
}

// --- batches --------------------------------------------------------------------------------------------------------

Planner::Planner(const Config& config, const BlockShape& shape, const BlockPool& pool, const Sequences& sequences)
    : config_(config), shape_(shape), pool_(pool), sequences_(sequences), holders_(pool.blocks()) {}

Length Planner::limit() const noexcept { return config_.max_length > 0 ? config_.max_length : longest_sequence; }

void Planner::start() noexcept {
    asked_.clear();
    holders_.clear();
    cells_ = 0;
    quiet_ = 0;
    too_long_ = false;
}

void Planner::ask(std::uint32_t index, Length cells) {
    const Sequence& sequence = sequences_[index];
    const Length begin = sequence.length + sequence.reserved;
    too_long_ = too_long_ || cells > limit() - begin;
    // Beyond the limit the verdict is `never` anyway; 2^40 keeps the sums of a batch far from overflow.
    const Length countable = std::min(cells, Length{1} << 40U);
    asked_.push_back({index, begin, countable, cells_, is_quiet(index, begin, countable)});
    cells_ += countable;
    quiet_ += asked_.back().is_quiet ? 1U : 0U;
}

void Planner::ask_admission(std::uint32_t index, Length cells, bool copies_tail) {
    asked_.push_back({index, sequences_[index].length, cells, cells_, false, true, copies_tail});
    cells_ += cells;
}

// Fifteen of sixteen decode steps with blocks of 16. Nothing that the rest of the batch does can change the answer:
// nobody else holds these tail blocks.
bool Planner::is_quiet(std::uint32_t index, Length begin, Length cells) const noexcept {
    const Length offset = shape_.offset(begin);
    if (offset == 0 || offset + cells > Length{shape_.size()}) {
        return false;
    }
    for (std::uint32_t group = 0; group < sequences_.groups(); ++group) {
        const BlockTable& table = sequences_.table(index, GroupId{group});
        const BlockId tail = table[table.size() - 1];  // nobody holds the null block
        // No block without content is pinned, so its references are its holders.
        const bool writable = pool_.refs(tail) == 1 && pool_.content(tail) == no_content;
        if (!writable || first_kept(index, group) != table.first()) {
            return false;
        }
    }
    return true;
}

// The first logical block that the query behind the committed tokens still sees, slack included.
std::uint32_t Planner::first_kept(std::uint32_t index, std::uint32_t group) const noexcept {
    const Length keep = keep_from(sequences_[index].length, config_.groups[group].window, config_.rewind_slack);
    return sequences_.table(index, GroupId{group}).first_after(shape_, keep);
}

Plan Planner::decide() {
    const Play now = play(pool_.idle_blocks(), !pool_.step_is_open());
    holders_.clear();
    Plan plan{Verdict::ok, now.taken, now.copies};
    if (too_long_) {
        plan.verdict = Verdict::never;
    } else if (!now.fits) {
        plan.verdict = fits_alone() ? Verdict::later : Verdict::never;
    }
    return plan;
}

Plan Planner::decide_admission(Length cold, std::int64_t watermark) {
    const Play now = play(std::int64_t{pool_.idle_blocks()} - idle_hits(), !pool_.step_is_open());
    Plan plan{Verdict::ok, now.taken, now.copies};
    if (!now.fits || now.room < watermark) {
        const bool fits_alone = peak(0, cold, std::max<Length>(cold, 1)) <= std::int64_t{pool_.blocks()};
        plan.verdict = fits_alone ? Verdict::later : Verdict::never;
    }
    return plan;
}

// The idle blocks that an admission hits: it takes them out of the queue before anything else.
std::int64_t Planner::idle_hits() const noexcept {
    std::int64_t idle = 0;
    const auto count = [&](BlockId block) { idle += pool_.is_takeable(block) ? 1 : 0; };
    for (const SequencePlan& plan : asked_) {
        for (std::uint32_t group = 0; group < sequences_.groups() && plan.adopts; ++group) {
            std::ranges::for_each(sequences_.table(plan.index, GroupId{group}).sink_part(), count);
            std::ranges::for_each(sequences_.table(plan.index, GroupId{group}).run_part(), count);
        }
    }
    return idle;
}

Planner::Play Planner::play(std::int64_t room, bool dropped_is_room) {
    const std::uint32_t n_groups = sequences_.groups();
    if (asked_.size() * n_groups > groups_.size()) {
        groups_.resize(asked_.size() * n_groups);
    }
    Play play{room, dropped_is_room};
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        const SequencePlan& plan = asked_[i];
        if (plan.is_quiet) {
            continue;
        }
        const auto out = std::span(groups_).subspan(i * n_groups, n_groups);
        for (std::uint32_t group = 0; group < n_groups; ++group) {
            out[group].first = plan_drop(plan, group, play);
        }
        for (std::uint32_t group = 0; group < n_groups; ++group) {
            out[group] = plan_take(plan, group, out[group].first, play);
        }
        play.fits = play.fits && play.room >= 0;
    }
    return play;
}

std::uint32_t Planner::plan_drop(const SequencePlan& plan, std::uint32_t group, Play& play) {
    const BlockTable& table = sequences_.table(plan.index, GroupId{group});
    if (plan.cells == 0) {
        return table.first();  // an admission that reserves nothing drops nothing
    }
    const std::uint32_t first = first_kept(plan.index, group);
    for (std::uint32_t entry = table.first(); entry < first; ++entry) {
        const BlockId block = table[entry];
        const bool is_held_by_others = holders_.left(block, pool_) > (plan.adopts ? 0U : 1U);
        if (is_held_by_others && !plan.adopts) {
            holders_.drop_one(block, pool_);
        } else if (is_held_by_others) {
            continue;  // a hit that is not needed after all
        } else if (play.dropped_is_room && !holders_.is_source(block)) {
            // The source of a copy joins the queue after everything else of the call: it is no room for it.
            ++play.room;
        }
    }
    return first;
}

GroupPlan Planner::plan_take(const SequencePlan& plan, std::uint32_t group, std::uint32_t first, Play& play) {
    const BlockTable& table = sequences_.table(plan.index, GroupId{group});
    const Length end = shape_.blocks_for(plan.begin + plan.cells);
    GroupPlan out{.first = first, .end = static_cast<std::uint32_t>(end)};
    std::int64_t taken = end - Length{table.size()};
    if (const Length offset = shape_.offset(plan.begin); offset != 0) {
        const BlockId tail = table[table.size() - 1];
        if (tail == null_block) {
            out.fills_hole = true;
            ++taken;
        } else if (plan.copies_tail || holders_.left(tail, pool_) > 1) {
            if (!plan.adopts) {
                holders_.drop_one(tail, pool_);
                holders_.mark_source(tail);
            }
            out.copy_cells = static_cast<std::uint32_t>(offset);
            ++play.copies;
            ++taken;
        }
    }
    if (const BoundRow& row = table.row(); row.ids != nullptr && end > Length{row.capacity}) [[unlikely]] {
        too_long_ = true;
    }
    play.taken += taken;
    play.room -= taken;
    return out;
}

// Whether the batch would fit if its sequences had the pool to themselves. Blocks that they share with others stay
// theirs, but need no copy then.
bool Planner::fits_alone() {
    for (const SequencePlan& plan : asked_) {
        for (std::uint32_t group = 0; group < sequences_.groups(); ++group) {
            const BlockTable& table = sequences_.table(plan.index, GroupId{group});
            std::ranges::for_each(table.sink_part(), [&](BlockId block) { holders_.add_one(block); });
            std::ranges::for_each(table.run_part(), [&](BlockId block) { holders_.add_one(block); });
        }
    }
    const auto held = static_cast<std::int64_t>(holders_.blocks());
    const bool fits = play(std::int64_t{pool_.blocks()} - held, true).fits;
    holders_.clear();
    return fits;
}

// --- prompts --------------------------------------------------------------------------------------------------------

// Blocks that a lone new sequence holds while the cells of positions [begin, end) are written, without its `hits`
// first ones, which are cached.
std::int64_t Planner::new_blocks(Length begin, Length end, std::uint32_t hits) const noexcept {
    std::int64_t blocks = 0;
    for (const GroupConfig& group : config_.groups) {
        const Length kept = shape_.index(keep_from(begin, group.window, config_.rewind_slack));
        const Length first = std::max(kept, Length{hits});
        const Length sinks = std::min(kept, shape_.blocks_for(group.sinks));
        blocks += shape_.blocks_for(end) - first + std::max<Length>(0, sinks - Length{hits});
    }
    return blocks;
}

// The most new blocks that a prompt of `count` tokens holds at once when nothing of it but the first `cached` tokens is
// cached. A chunk that begins one block further holds at least as much, so the peak is among the last chunks: one for
// each offset in a block at which a chunk can begin, and the last one, which may be short.
std::int64_t Planner::peak(Length cached, Length count, Length step) const noexcept {
    const Length chunks = (count - cached) / step + ((count - cached) % step != 0 ? 1 : 0);
    const Length offsets = Length{shape_.size()} / std::gcd(Length{shape_.size()}, step);
    const auto hits = static_cast<std::uint32_t>(shape_.index(cached));
    std::int64_t most = 0;
    for (Length i = std::max<Length>(0, chunks - 1 - offsets); i < chunks; ++i) {
        const Length begin = cached + i * step;
        most = std::max(most, new_blocks(begin, begin + std::min(step, count - begin), hits));
    }
    return most;
}

// The idle blocks among the hits that a sequence still holds when it writes from `begin` on: of the groups with a
// window, or of those without.
std::int64_t Planner::idle_hits(Length begin, const Match& match, const PrefixSearch& search,
                                bool windowed) const noexcept {
    std::int64_t idle = 0;
    for (std::uint32_t group = 0; group < config_.groups.size(); ++group) {
        const GroupConfig& config = config_.groups[group];
        if ((config.window > 0) != windowed) {
            continue;
        }
        const auto kept =
            static_cast<std::uint32_t>(shape_.index(keep_from(begin, config.window, config_.rewind_slack)));
        const auto sinks = static_cast<std::uint32_t>(std::min(Length{match.blocks}, shape_.blocks_for(config.sinks)));
        const std::uint32_t first = std::max({search.first_block(group), kept, sinks});
        const auto count = [&](std::uint32_t entry) { idle += pool_.is_takeable(search.block(entry, group)) ? 1 : 0; };
        for (std::uint32_t entry = 0; entry < sinks; ++entry) {
            count(entry);
        }
        for (std::uint32_t entry = first; entry < match.blocks; ++entry) {
            count(entry);
        }
    }
    return idle;
}

Plan Planner::prompt(Length count, Length chunk, std::int64_t watermark, const Match& match,
                     const PrefixSearch* search) const {
    const Length step = chunk == 0 ? std::max<Length>(count, 1) : chunk;
    Plan plan{Verdict::ok, peak(match.tokens, count, step), match.cells > 0 ? Length{sequences_.groups()} : 0};
    const std::int64_t room = pool_.idle_blocks();
    const Length first_end = match.tokens + std::min(step, count - match.tokens);
    const std::int64_t first_need = new_blocks(match.tokens, first_end, match.blocks);
    std::int64_t most = plan.blocks_needed;
    std::int64_t first_most = first_need;
    const bool hits = search != nullptr && match.tokens > 0;
    std::int64_t sources = 0;
    for (std::uint32_t group = 0; hits && match.cells > 0 && group < sequences_.groups(); ++group) {
        sources += pool_.is_takeable(search->source(group)) ? 1 : 0;
    }
    if (pool_.step_is_open()) {
        // What the windows drop is fenced, hits and sources of copies too: all of the prompt comes from the room.
        const std::int64_t idle = hits ? idle_hits(0, match, *search, false) + idle_hits(0, match, *search, true) : 0;
        most = (shape_.blocks_for(count) - Length{match.blocks}) * Length{sequences_.groups()} + idle + sources;
        first_most += idle + sources;
    } else if (hits) {
        // Hits are no room; those that the windows leave behind are room again.
        const std::int64_t lasting = idle_hits(match.tokens, match, *search, false);
        first_most += lasting + idle_hits(match.tokens, match, *search, true) + sources;
        for (Length begin = match.tokens; begin < count; begin += step) {
            const std::int64_t idle = idle_hits(begin, match, *search, true);
            const Length end = begin + std::min(step, count - begin);
            most = std::max(most, new_blocks(begin, end, match.blocks) + idle);
            if (idle == 0) {
                break;
            }
        }
        most += lasting;
    }
    if (count > limit()) {
        plan.verdict = Verdict::never;
    } else if (most > room || first_most > room - watermark) {
        plan.verdict = peak(0, count, step) > std::int64_t{pool_.blocks()} ? Verdict::never : Verdict::later;
    }
    return plan;
}

}  // namespace kvpane

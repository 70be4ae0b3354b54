// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_world.h>

#include <algorithm>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::explorer {

namespace {

Config tiny(const ExploreConfig& config) {
    Config manager = config.manager;
    manager.expected_sequences = config.sequences;
    manager.expected_length = config.longest;
    // All that one operation can emit: each block may lose a content and get one.
    manager.prefix_cache.kept_events = 2 * static_cast<std::uint32_t>(manager.blocks) + 2;
    return manager;
}

template <class T>
void fill(Result& result, const expected<T>& got) {
    if (!got) {
        result.error = got.error();
    } else if constexpr (std::is_same_v<T, Length>) {
        result.value = *got;
    } else if constexpr (std::is_same_v<T, Step>) {
        result.step = *got;
    } else if constexpr (std::is_same_v<T, Plan>) {
        result.plan = *got;
    } else if constexpr (std::is_same_v<T, SequenceHandle>) {
        result.handle = *got;
    } else if constexpr (std::is_same_v<T, Admission>) {
        result.handle = got->sequence;
        result.value = got->cached_tokens;
        result.step = got->step;
    }
}

}  // namespace

World::World(const ExploreConfig& config, const Setting& setting) : setting_(setting), manager_(tiny(config)) {
    seen_ = look_again();
}

void World::assign(const World& other) {
    manager_.assign(other.manager_);
    shadow_ = other.shadow_;
    seen_ = other.seen_;
}

Prompt World::prompt(const Move& move) {
    const Length length = setting_.length_of(move.tokens);
    std::size_t n_contents = 0;
    for (Length i = 0; i < length; ++i) {
        tokens_[static_cast<std::size_t>(i)] = setting_.token(move.tokens, length, i);
        if (const Prefix content = setting_.content(move.tokens, length, i); content > 0) {
            contents_[n_contents++] = {i, 1, content_id(content)};
        }
    }
    Prompt prompt{.tokens = std::span(tokens_).first(static_cast<std::size_t>(length)),
                  .scope = scope_of(setting_.beginning(move.tokens, length, 0)),
                  .extra = std::span(contents_).first(n_contents)};
    if (move.verb == Verb::admit && move.number > 0) {
        prompt.compute = move.number - 1;
    }
    if (move.verb == Verb::admit && move.other > 0) {
        prompt.priority = move.other;
        prompt.priority_steps = setting_.priority_steps;
    }
    return prompt;
}

Result World::apply(const Move& move) {
    Result result;
    const SequenceHandle sequence = shadow_.handles[move.sequence];
    const std::span<const Token> tokens = prompt(move).tokens;
    switch (move.verb) {
        case Verb::admit: fill(result, manager_.admit(prompt(move))); break;
        case Verb::probe: fill(result, manager_.probe(prompt(move))); break;
        case Verb::plan: fill(result, manager_.plan_prompt(prompt(move), move.number)); break;
        case Verb::reserve: {
            const Reservation reservation{sequence, move.number};
            fill(result, manager_.reserve({&reservation, 1}));
            break;
        }
        case Verb::commit: fill(result, manager_.commit(sequence, tokens)); break;
        case Verb::cancel: fill(result, manager_.cancel(sequence)); break;
        case Verb::append: fill(result, manager_.append(sequence, tokens)); break;
        case Verb::append_batch: {
            const std::array both{sequence, shadow_.handles[move.other]};
            fill(result, manager_.append_batch(both, tokens));
            break;
        }
        case Verb::fork:
            fill(result, manager_.fork(sequence, move.number > 0 ? std::optional<Length>(move.number - 1)
                                                                 : std::optional<Length>()));
            break;
        case Verb::truncate: fill(result, manager_.truncate(sequence, move.number)); break;
        case Verb::release: fill(result, manager_.release(sequence, move.number != 0)); break;
        case Verb::step_begin: fill(result, manager_.step_begin(StepId{move.number})); break;
        case Verb::step_end: fill(result, manager_.step_end(StepId{move.number})); break;
        case Verb::evict: fill(result, manager_.evict(move.number)); break;
        case Verb::uncache: {
            const Length entry = move.number;
            fill(result, manager_.uncache(sequence, {&entry, 1}));
            break;
        }
        case Verb::pin: fill(result, manager_.pin(prompt(move))); break;
        case Verb::unpin: fill(result, manager_.unpin(prompt(move))); break;
        case Verb::reset_cache: manager_.reset_cache(); break;
        case Verb::check: break;
    }
    return result;
}

// --- the engine's part ----------------------------------------------------------------------------------------------

Found World::follow(const Move& move, const Result& result) {
    n_written_ = 0;
    handed_out_ = 0;
    completed_ = {};
    raise_priorities(move);
    Found found = run_copies(result.step.copies);
    Shadow::Sequence& sequence = shadow_.sequences[move.sequence];
    published_for_.fill(sequence.priority);
    const Length length = setting_.length_of(move.tokens);
    switch (move.verb) {
        case Verb::admit: found = found ? found : follow_admit(move, result); break;
        case Verb::reserve: found = found ? found : hand_out(move.sequence, result.step, 0, move.number); break;
        case Verb::commit: commit(move.sequence, move.tokens, 0, length); break;
        case Verb::cancel: cut(sequence, sequence.length); break;
        case Verb::append:
            found = found ? found : hand_out(move.sequence, result.step, 0, length);
            if (!found) {
                commit(move.sequence, move.tokens, 0, length);
            }
            break;
        case Verb::append_batch:
            found = found ? found : hand_out(move.sequence, result.step, 0, 1);
            found = found ? found : hand_out(move.other, result.step, 1, 1);
            if (!found) {
                commit(move.sequence, move.tokens, 0, 1);
                commit(move.other, move.tokens, 1, 1);
            }
            break;
        case Verb::fork: {
            Shadow::Sequence& child = shadow_.sequences[move.other];
            child = sequence;
            cut(child, move.number > 0 ? move.number - 1 : sequence.length);
            child.own_from = child.length;
            shadow_.handles[move.other] = result.handle;
            break;
        }
        case Verb::truncate: cut(sequence, move.number); break;
        case Verb::release: sequence = {}; break;
        case Verb::step_begin: shadow_.open[shadow_.n_open++] = move.number; break;
        case Verb::step_end: {
            const auto end = shadow_.open.begin() + shadow_.n_open;
            std::copy(std::find(shadow_.open.begin(), end, move.number) + 1, end,
                      std::find(shadow_.open.begin(), end, move.number));
            shadow_.open[--shadow_.n_open] = 0;
            end_priorities();
            break;
        }
        default: break;
    }
    const Snapshot before = seen_;
    seen_ = look_again();
    stamp_new_entries(before);
    poison_what_nobody_reads();
    return found;
}

// In order and before anything is written; none may read what another writes.
Found World::run_copies(std::span<const BlockCopy> copies) {
    for (const BlockCopy& copy : copies) {
        const std::uint32_t source = to_index(copy.source);
        const std::uint32_t destination = to_index(copy.destination);
        if (source < 1 || source > setting_.blocks || destination < 1 || destination > setting_.blocks ||
            Length{copy.cells} > setting_.block_size) {
            return Finding{Invariant::T3, text("a copy from block ", source, " to block ", destination,
                                               " leaves the pool")};
        }
        for (const BlockCopy& other : copies) {
            if (copy.destination == other.source || (copy.destination == other.destination && &copy != &other)) {
                return Finding{Invariant::T3, text("block ", destination,
                                                   " is written by one copy of a step and used by another")};
            }
        }
        handed_out_ |= 1U << destination;
        std::copy_n(shadow_.cells[source].begin(), copy.cells, shadow_.cells[destination].begin());
    }
    return std::nullopt;
}

// Cells [first, first + cells) of the step are the sequence's next positions.
Found World::hand_out(std::size_t index, const Step& step, Length first, Length cells) {
    Shadow::Sequence& sequence = shadow_.sequences[index];
    for (std::uint32_t group = 0; group < setting_.groups; ++group) {
        const std::span<const Slot> slots = step.slots_of(GroupId{group});
        if (static_cast<Length>(slots.size()) < first + cells) {
            return Finding{Invariant::T5, "fewer slots than cells were handed out"};
        }
        for (Length i = 0; i < cells; ++i) {
            const Slot slot = slots[static_cast<std::size_t>(first + i)];
            const Slot block = slot / setting_.block_size;
            if (block < 1 || block > Slot{setting_.blocks}) {
                return Finding{Invariant::T5, text("slot ", slot, " lies outside the pool")};
            }
            const auto at = static_cast<std::size_t>(slot % setting_.block_size);
            shadow_.cells[static_cast<std::size_t>(block)][at] = 0;
            handed_out_ |= 1U << static_cast<std::uint32_t>(block);
            sequence.slots[group][static_cast<std::size_t>(sequence.reserved + i)] = static_cast<std::uint8_t>(slot);
        }
        sequence.holdings[group].release_before(sequence.length);
        sequence.holdings[group].end += cells;
    }
    sequence.reserved = static_cast<std::uint8_t>(sequence.reserved + cells);
    return std::nullopt;
}

// The first reserved cells become the tokens [first, first + count) of `tokens`.
void World::commit(std::size_t index, Prefix tokens, Length first, Length count) {
    Shadow::Sequence& sequence = shadow_.sequences[index];
    const Length all = setting_.length_of(tokens);
    for (Length i = 0; i < count; ++i) {
        const Prefix content = sequence.contents[static_cast<std::size_t>(sequence.length + i)];
        sequence.prefix = sequence.prefix * setting_.spelling.base +
                          static_cast<Prefix>(setting_.token(tokens, all, first + i)) +
                          setting_.spelling.alphabet * content;
        for (std::uint32_t group = 0; group < setting_.groups; ++group) {
            const std::uint8_t slot = sequence.slots[group][static_cast<std::size_t>(i)];
            const auto block = static_cast<std::size_t>(slot / setting_.block_size);
            shadow_.cells[block][static_cast<std::size_t>(slot % setting_.block_size)] =
                Shadow::cell(sequence.prefix, group);
            written_[n_written_++] = static_cast<std::uint8_t>(block);
            published_for_[block] = sequence.priority;
            const Length begin = sequence.length + i + 1 - setting_.block_size;
            if (slot % setting_.block_size == setting_.block_size - 1 && sequence.holdings[group].has(begin)) {
                completed_[block] = sequence.prefix;
            }
        }
    }
    sequence.length = static_cast<std::uint8_t>(sequence.length + count);
    sequence.reserved = static_cast<std::uint8_t>(sequence.reserved - count);
    for (std::uint32_t group = 0; group < setting_.groups; ++group) {
        auto& slots = sequence.slots[group];
        std::fill(std::copy(slots.begin() + count, slots.end(), slots.begin()), slots.end(), std::uint8_t{0});
        if (setting_.releases_at_commit && count > 0) {
            sequence.holdings[group].release_before(sequence.length - 1);  // what the last query saw stays
        }
    }
}

// A hit: the tokens before the cut are history, and of their blocks those are held that the next query sees; at least
// the one of the last token.
Found World::follow_admit(const Move& move, const Result& result) {
    Shadow::Sequence& sequence = shadow_.sequences[move.sequence];
    const Length length = setting_.length_of(move.tokens);
    const Length hit = std::clamp<Length>(result.value, 0, length - 1);
    sequence = {};
    sequence.is_alive = true;
    sequence.prefix = setting_.beginning(move.tokens, length, hit);
    sequence.length = sequence.own_from = static_cast<std::uint8_t>(hit);
    sequence.priority = move.other;
    for (Length i = 0; i < length; ++i) {
        sequence.contents[static_cast<std::size_t>(i)] =
            static_cast<std::uint8_t>(setting_.content(move.tokens, length, i));
    }
    for (std::uint32_t group = 0; group < setting_.groups; ++group) {
        const spec::Rule& rule = setting_.rules[group];
        const Length first = std::max<Length>(0, std::min(spec::need(hit, rule.window), hit - 1));
        sequence.holdings[group] = {rule, first - first % rule.block_size, hit};
    }
    shadow_.handles[move.sequence] = result.handle;
    const Length cells = result.step.cells;
    if (cells < 0 || cells > length - hit) {
        return Finding{Invariant::T5, text(cells, " cells were handed out for ", length - hit, " tokens")};
    }
    if (cells == 0) {
        return std::nullopt;
    }
    if (Found found = hand_out(move.sequence, result.step, 0, cells)) {
        return found;
    }
    commit(move.sequence, move.tokens, hit, cells);
    return std::nullopt;
}

void World::cut(Shadow::Sequence& sequence, Length length) const {
    sequence.prefix = setting_.beginning(sequence.prefix, sequence.length, length);
    sequence.length = static_cast<std::uint8_t>(length);
    sequence.reserved = 0;
    sequence.own_from = std::min(sequence.own_from, sequence.length);
    sequence.slots = {};
    for (std::uint32_t group = 0; group < setting_.groups; ++group) {
        sequence.holdings[group].cut(length);
    }
}

}  // namespace kvpane::invariants::explorer

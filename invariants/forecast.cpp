// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/forecast.h>

#include <algorithm>
#include <map>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

bool any_negative(const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

// Pieces of external content stand in ascending order, apart, and within the tokens.
bool fits(const std::vector<ExternalContent>& extra, Length tokens) {
    Length end = 0;
    for (const ExternalContent& piece : extra) {
        if (piece.at < end || piece.count < 1 || piece.count > tokens - piece.at) {
            return false;
        }
        end = piece.at + piece.count;
    }
    return true;
}

Length count_of(const std::vector<Token>& tokens) { return static_cast<Length>(tokens.size()); }

// --- errors ---------------------------------------------------------------------------------------------------------

bool is_evicted(const Record& record, Length length) {
    return std::ranges::any_of(record.groups,
                               [&](const Record::Group& group) { return !group.holding.can_cut(length); });
}

void refuse_cut(const Record& record, Length length, std::set<Error>& refusals) {
    if (length < 0 || length > record.length()) {
        refusals.insert(Error::invalid_argument);
    } else if (is_evicted(record, length)) {
        refusals.insert(Error::window_evicted);
    }
}

void refuse_batch(const Operation& operation, const Known& known, std::set<Error>& refusals) {
    const bool appends = operation.verb == Verb::append_batch;
    const std::size_t given = appends ? operation.tokens.size() : operation.counts.size();
    const bool is_senseless = appends ? any_negative(operation.tokens)
                                      : std::ranges::any_of(operation.counts, [](Length cells) { return cells < 1; });
    if (operation.sequences.empty() || operation.sequences.size() != given || is_senseless ||
        std::set(operation.sequences.begin(), operation.sequences.end()).size() != operation.sequences.size()) {
        refusals.insert(Error::invalid_argument);
    }
    for (const Name name : operation.sequences) {
        const Record* record = known.find(name);
        if (record == nullptr) {
            refusals.insert(Error::unknown_sequence);
        } else if (appends && record->reserved() > 0) {
            refusals.insert(Error::busy);
        }
    }
}

// What makes no sense whatever the sequence.
bool is_senseless(const Operation& operation, const Known& known) {
    switch (operation.verb) {
        case Verb::reserve: return operation.count < 1;
        case Verb::commit: return any_negative(operation.tokens);
        case Verb::append: return operation.tokens.empty() || any_negative(operation.tokens);
        case Verb::fork: return known.find(operation.child) != nullptr || operation.at.value_or(0) < 0;
        case Verb::truncate: return operation.length < 0;
        default: return false;
    }
}

// The verbs that work on one sequence. The contract does not say which of several errors comes first.
void refuse_on_sequence(const Operation& operation, const Known& known, std::set<Error>& refusals) {
    if (is_senseless(operation, known)) {
        refusals.insert(Error::invalid_argument);
    }
    const Record* record = known.find(operation.sequence);
    if (record == nullptr) {
        refusals.insert(Error::unknown_sequence);
        return;
    }
    const bool needs_idle = operation.verb == Verb::append || operation.verb == Verb::fork;
    if (needs_idle && record->reserved() > 0) {
        refusals.insert(Error::busy);
    }
    if (operation.verb == Verb::commit && count_of(operation.tokens) > record->reserved()) {
        refusals.insert(Error::not_reserved);
    }
    if (operation.verb == Verb::fork) {
        refuse_cut(*record, operation.at.value_or(record->length()), refusals);
    }
    if (operation.verb == Verb::truncate) {
        refuse_cut(*record, operation.length, refusals);
    }
}

void refuse(const Operation& operation, const Known& known, Forecast& forecast) {
    std::set<Error>& refusals = forecast.refusals;
    if (works_on_several(operation)) {
        refuse_batch(operation, known, refusals);
        forecast.is_silent = operation.verb == Verb::append_batch && operation.sequences.empty();
        return;
    }
    const bool is_open = known.open_steps.contains(operation.step);
    switch (operation.verb) {
        case Verb::admit:
            if (operation.tokens.empty() || any_negative(operation.tokens) || operation.compute.value_or(0) < 0 ||
                !fits(operation.extra, count_of(operation.tokens)) || known.find(operation.sequence) != nullptr) {
                refusals.insert(Error::invalid_argument);
            }
            break;
        case Verb::plan:
            if (any_negative(operation.tokens) || operation.chunk < 0 ||
                (operation.tokens.empty() ? operation.count < 1
                                          : !fits(operation.extra, count_of(operation.tokens)))) {
                refusals.insert(Error::invalid_argument);
            }
            break;
        case Verb::step_begin:
        case Verb::step_end:
            if (is_open == (operation.verb == Verb::step_begin)) {
                refusals.insert(Error::invalid_argument);
            }
            break;
        case Verb::check:
            if (!std::ranges::all_of(operation.sequences, [&](Name name) { return known.find(name) != nullptr; })) {
                refusals.insert(Error::unknown_sequence);
            }
            break;
        case Verb::probe:
        case Verb::evict:
        case Verb::uncache:
        case Verb::pin:
        case Verb::unpin:
        case Verb::reset_cache: forecast.is_silent = true; break;
        default: refuse_on_sequence(operation, known, refusals);
    }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

// Plays a batch through on paper, sequence by sequence: first what the windows give up, then what is taken.
class OnPaper {
public:
    explicit OnPaper(const Manager& manager) : manager_(manager), room_(manager.pool().idle_blocks()) {}

    void reserve(const Record& record, Length cells) {
        for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
            release(record, group);
        }
        for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
            take(record, group, cells);
        }
        taking_.cells += cells;
        fits_ = fits_ && room_ >= 0;
    }

    // Whether there is a block whenever one is taken: an idle one, or one that a window gave up before.
    bool fits() const { return fits_; }
    const Taking& taking() const { return taking_; }
    // Blocks of the sequences that were named, now; and afterwards if nobody else were there, so that nothing is copied
    // for others.
    std::int64_t held() const { return static_cast<std::int64_t>(held_.size()); }
    std::int64_t held_alone() const {
        return static_cast<std::int64_t>(kept_.size()) + taking_.blocks - taking_.copies;
    }

private:
    std::int64_t& holders(BlockId block) {
        return holders_.try_emplace(block, manager_.pool().holders(block)).first->second;
    }

    void release(const Record& record, std::uint32_t group) {
        spec::Holding after = record.groups[group].holding;
        after.release_before(record.length());
        const TableView table = *manager_.table(record.handle, GroupId{group});
        for (std::uint32_t entry = 0; entry < table.size; ++entry) {
            if (table[entry] == null_block) {
                continue;
            }
            held_.insert(table[entry]);
            if (after.has_block(entry)) {
                kept_.insert(table[entry]);
            } else if (--holders(table[entry]) == 0 && !manager_.pool().step_is_open() &&
                       !sources_.contains(table[entry])) {
                ++room_;
            }
        }
    }

    void take(const Record& record, std::uint32_t group, Length cells) {
        spec::Holding holding = record.groups[group].holding;
        holding.release_before(record.length());
        const Length tail = holding.end / holding.rule.block_size;  // the block of the first new cell
        const bool has_tail = holding.has_block(tail);
        const std::int64_t fresh = spec::blocks_for(holding.end + cells, holding.rule) - tail - (has_tail ? 1 : 0);
        taking_.blocks += fresh;
        room_ -= fresh;
        if (!has_tail) {
            return;
        }
        const TableView table = *manager_.table(record.handle, GroupId{group});
        std::int64_t& others = holders(table[static_cast<std::size_t>(tail)]);
        if (others > 1) {
            --others;
            --room_;
            sources_.insert(table[static_cast<std::size_t>(tail)]);  // joins the queue behind the call: no room for it
            ++taking_.blocks;
            ++taking_.copies;
            taking_.copied_cells += holding.end % holding.rule.block_size;
        }
    }

    const Manager& manager_;
    std::map<BlockId, std::int64_t> holders_;
    std::set<BlockId> held_;
    std::set<BlockId> kept_;
    std::set<BlockId> sources_;
    std::int64_t room_;
    bool fits_ = true;
    Taking taking_;
};

// Blocks that a lone sequence of `count` tokens holds at its peak, fed in chunks; nothing where that is long to find.
std::optional<std::int64_t> peak(Length count, Length chunk, std::span<const spec::Rule> rules) {
    const Length step = chunk == 0 ? count : std::min(chunk, count);
    if (count / step > 1000 || count > 100'000) {
        return std::nullopt;
    }
    std::int64_t most = 0;
    for (Length begin = 0; begin < count; begin += step) {
        std::int64_t held = 0;
        for (const spec::Rule& rule : rules) {
            spec::Holding holding{rule};
            holding.end = begin;
            holding.release_before(begin);
            holding.end = std::min(count, begin + step);
            held += holding.blocks();
        }
        most = std::max(most, held);
    }
    return most;
}

void take(const Operation& operation, const Known& known, const Manager& manager, std::span<const spec::Rule> rules,
          Length hit, Forecast& forecast) {
    const Config& config = manager.config();
    const Length limit = config.max_length == 0 ? longest_sequence : config.max_length;
    forecast.takes_room = true;
    forecast.room = manager.pool().idle_blocks();
    OnPaper paper(manager);
    const auto reserve = [&](Name name, Length cells) {
        const Record& record = *known.find(name);
        if (cells > limit - record.groups.front().holding.end) {
            forecast.is_too_long = true;
        } else {
            paper.reserve(record, cells);
        }
    };
    Taking taking;
    std::int64_t cold = 0;  // blocks of an admission that finds nothing
    switch (operation.verb) {
        case Verb::admit: {
            const Length length = count_of(operation.tokens);
            const Length asked = std::min(length, operation.compute.value_or(length));
            taking.cells = std::min(length - hit, asked);
            for (const spec::Rule& rule : rules) {
                const Length part = hit % rule.block_size;  // of a block that matches at its beginning
                const Length hits = hit / rule.block_size;
                taking.blocks += spec::blocks_for(hit + taking.cells, rule) - hits;
                taking.copies += part > 0 ? 1 : 0;
                taking.copied_cells += part;
                forecast.room -= hits + (part > 0 ? 1 : 0);  // at most: some are held by others, or out of the window
                cold += spec::blocks_for(asked, rule);
            }
            forecast.is_too_long = length > limit;
            forecast.room -= manager.sequences() > 0 ? config.watermark : 0;
            break;
        }
        case Verb::reserve:
            if (!operation.is_batch) {
                reserve(operation.sequence, operation.count);
                break;
            }
            for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
                reserve(operation.sequences[i], operation.counts[i]);
            }
            break;
        case Verb::append: reserve(operation.sequence, count_of(operation.tokens)); break;
        default: std::ranges::for_each(operation.sequences, [&](Name name) { reserve(name, 1); });
    }
    forecast.taking = operation.verb == Verb::admit ? taking : paper.taking();
    forecast.room_alone = config.blocks - paper.held();
    forecast.held_alone = operation.verb == Verb::admit ? cold : paper.held_alone();
    // Of hits some may be held by others, or out of the window: how much room they leave is not sure.
    const bool fits_an_admission = forecast.taking->blocks <= forecast.room;
    forecast.has_room = operation.verb == Verb::admit ? fits_an_admission : paper.fits();
    if (!forecast.has_room && hit == 0) {
        forecast.lack = forecast.held_alone > config.blocks ? Error::never : Error::later;
    }
}

}  // namespace

Forecast forecast(const Operation& operation, const Known& known, const Manager& manager,
                  std::span<const spec::Rule> rules, std::optional<Length> hit) {
    Forecast result;
    refuse(operation, known, result);
    const bool may_hit = operation.verb == Verb::admit || (operation.verb == Verb::plan && !operation.tokens.empty());
    if (may_hit && manager.config().prefix_cache.enabled && !hit) {
        result.is_silent = true;  // nobody looked how much of the prompt is cached
    }
    if (result.is_silent) {
        return result;
    }
    const Length cached = hit.value_or(0);
    const bool takes_room = operation.verb == Verb::admit || operation.verb == Verb::reserve ||
                            operation.verb == Verb::append || operation.verb == Verb::append_batch;
    if (takes_room && result.refusals.empty()) {
        take(operation, known, manager, rules, cached, result);
    }
    result.takes_room = takes_room;
    if (operation.verb == Verb::plan && result.refusals.empty() && cached == 0) {
        result.peak =
            peak(operation.tokens.empty() ? operation.count : count_of(operation.tokens), operation.chunk, rules);
    }
    return result;
}

std::optional<std::string> contradiction(const Forecast& forecast, const Outcome& outcome, std::int64_t blocks) {
    const std::string got = outcome.error ? std::string(to_string(*outcome.error)) : "success";
    const bool lacks_room = outcome.error == Error::later || outcome.error == Error::never;
    if (forecast.is_silent) {
        return std::nullopt;
    }
    if (!forecast.refusals.empty()) {
        const bool is_due = outcome.error && forecast.refusals.contains(*outcome.error);
        if (is_due || (forecast.takes_room && lacks_room)) {
            return std::nullopt;
        }
        return text("expected ", to_string(*forecast.refusals.begin()), ", got ", got);
    }
    if (forecast.is_too_long && outcome.error != Error::never) {
        return text("expected never for passing the longest length, got ", got);
    }
    if (forecast.is_too_long) {
        return std::nullopt;
    }
    if (outcome.error && !(forecast.takes_room && lacks_room)) {
        return text("expected success, got ", got);
    }
    if (outcome.error == Error::later && forecast.has_room) {
        return text("got later for ", forecast.taking->blocks, " blocks, and they are there");
    }
    if (outcome.error == Error::later && forecast.held_alone > blocks) {
        return text("got later, and ", forecast.held_alone, " of ", blocks, " blocks would be held: expected never");
    }
    if (outcome.error == Error::never && forecast.held_alone <= blocks &&
        forecast.taking->blocks <= forecast.room_alone) {
        return text("got never for ", forecast.taking->blocks, " blocks, and ", forecast.room_alone,
                    " would be there without the other sequences");
    }
    if (forecast.peak && outcome.plan && *forecast.peak != outcome.plan->blocks_needed) {
        return text("the plan needs ", outcome.plan->blocks_needed, " blocks, at the peak ", *forecast.peak,
                    " are held");
    }
    if (forecast.taking && !outcome.error) {
        Taking took{outcome.step.blocks_taken, static_cast<std::int64_t>(outcome.step.copies.size()), 0,
                    outcome.step.cells};
        for (const BlockCopy& copy : outcome.step.copies) {
            took.copied_cells += copy.cells;
        }
        if (took != *forecast.taking) {
            return text("expected ", forecast.taking->blocks, " blocks, ", forecast.taking->copies, " copies of ",
                        forecast.taking->copied_cells, " cells and ", forecast.taking->cells, " cells, took ",
                        took.blocks, ", ", took.copies, " of ", took.copied_cells, " and ", took.cells);
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants

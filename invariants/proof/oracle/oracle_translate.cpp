// SPDX-License-Identifier: Apache-2.0
// An operation of the C++ as an operation of the machine.
#include <algorithm>

#include <kvpane/blocktable/prefix_search.h>
#include <kvpane/invariants/proof/oracle/oracle_check.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

namespace {

// Numbers beyond it are refused alike, whatever they are; the machine's are of 63 bits, and it adds them up.
std::int64_t bounded(Length number) { return std::min(number, Length{1} << 40U); }

bool asks_with_a_prompt(Verb verb) { return verb == Verb::admit || verb == Verb::probe || verb == Verb::plan; }

bool is_any_negative(const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

// Whether external contents lie in order within the prompt.
bool fit(const std::vector<ExternalContent>& extra, Length length) {
    Length end = 0;
    for (const ExternalContent& piece : extra) {
        if (piece.at < end || piece.count < 1 || piece.at > length || piece.count > length - piece.at) {
            return false;
        }
        end = piece.at + piece.count;
    }
    return true;
}

std::string spelled(const std::optional<Error>& error) {
    return error ? text("error ", to_string(*error)) : std::string("success");
}

std::optional<Error> error_of(KvOracleVerdict verdict) {
    switch (verdict) {
        case kv_oracle_done: return std::nullopt;
        case kv_oracle_unknown: return Error::unknown_sequence;
        case kv_oracle_busy: return Error::busy;
        case kv_oracle_not_reserved: return Error::not_reserved;
        case kv_oracle_evicted: return Error::window_evicted;
        case kv_oracle_later: return Error::later;
        case kv_oracle_too_long:
        case kv_oracle_never: return Error::never;
        case kv_oracle_invalid:
        case kv_oracle_bad_choice: break;
    }
    return Error::invalid_argument;
}

}  // namespace

OracleCheck::OracleCheck(const Config& config, std::int64_t all_windows_every)
    : config_(config), machine_(config, 8), cells_(std::make_shared<CellNumbers>()), slots_(8),
      entries_(static_cast<std::size_t>(config.blocks) + 1), all_windows_every_(all_windows_every),
      counts_(std::make_shared<OracleCounts>()) {}

void OracleCheck::before(const Operation& operation, const Subject& subject) {
    const Manager& manager = subject.manager();
    before_.clear();
    const auto note = [&](Name name) {
        const auto handle = subject.handle(name);
        if (!handle) {
            return;
        }
        const Length length = manager.length(*handle).value();
        Before& before = before_.emplace_back(Before{name, length, length + manager.reserved(*handle).value()});
        for (std::uint32_t group = 0; group < manager.groups(); ++group) {
            const TableView table = manager.table(*handle, GroupId{group}).value();
            before.tails.push_back(table[static_cast<std::size_t>(before.end / config_.block_size)]);
        }
    };
    if (works_on_several(operation)) {
        std::ranges::for_each(operation.sequences, note);
    } else {
        note(operation.sequence);
    }
    hits_ = asks_with_a_prompt(operation.verb) && is_expressible(operation) ? find_hits(operation, manager) : Hits{};
    pins_.clear();
    const bool pins = operation.verb == Verb::pin || operation.verb == Verb::unpin;
    for (std::uint32_t block = 0; block <= manager.pool().blocks() && pins; ++block) {
        pins_.push_back(manager.pool().pins(BlockId{block}));
    }
}

// The Manager's choice among the copies of a content. The machine says whether they are legal.
OracleCheck::Hits OracleCheck::find_hits(const Operation& operation, const Manager& manager) const {
    if (manager.index() == nullptr || operation.tokens.empty()) {
        return {};
    }
    std::vector<kvpane::ExternalContent> extra;
    for (const ExternalContent& piece : operation.extra) {
        extra.push_back({piece.at, piece.count, piece.id});
    }
    const Scope& scope = operation.scope;
    const BlockShape shape(config_.block_size);
    PrefixSearch search(config_, shape, *manager.index());
    const Match match = search.find(operation.tokens, {scope.model, scope.lora, scope.lora_id, scope.tenant, scope.salt},
                                    extra, static_cast<Length>(operation.tokens.size()) - 1);
    Hits hits{.cut = match.tokens, .blocks = {}};
    for (std::uint32_t group = 0; group < manager.groups(); ++group) {
        const Length sinks = config_.groups[group].sinks;
        for (std::uint32_t entry = 0; entry < match.blocks; ++entry) {
            const bool is_needed = Length{entry} * config_.block_size < sinks || entry >= search.first_block(group);
            hits.blocks.push_back(is_needed ? std::int64_t{to_index(search.block(entry, group))} - 1 : -1);
        }
        if (match.cells > 0) {
            hits.blocks.push_back(std::int64_t{to_index(search.source(group))} - 1);
        }
    }
    return hits;
}

// Whether all of its numbers are natural, and its lists of one length.
bool OracleCheck::is_expressible(const Operation& operation) const {
    const auto length = static_cast<Length>(operation.tokens.size());
    switch (operation.verb) {
        case Verb::admit:
        case Verb::probe:
        case Verb::plan:
            return !is_any_negative(operation.tokens) && fit(operation.extra, length) &&
                   operation.compute.value_or(0) >= 0 && operation.count >= 0 && operation.chunk >= 0;
        case Verb::commit:
        case Verb::append: return !is_any_negative(operation.tokens);
        case Verb::append_batch:
            return !is_any_negative(operation.tokens) && operation.tokens.size() == operation.sequences.size();
        case Verb::reserve:
            return operation.is_batch ? operation.sequences.size() == operation.counts.size() &&
                                            std::ranges::all_of(operation.counts, [](Length n) { return n >= 0; })
                                      : operation.count >= 0;
        case Verb::fork: return operation.at.value_or(0) >= 0;
        case Verb::truncate: return operation.length >= 0;
        default: return true;
    }
}

OracleCheck::Difference OracleCheck::mirror(const Operation& operation, const Outcome& outcome,
                                            const Subject& subject) {
    if (!is_expressible(operation)) {
        return must_be_refused(outcome);
    }
    const std::int64_t sequence = slot(operation.sequence);
    switch (operation.verb) {
        case Verb::admit: return mirror_admit(operation, outcome);
        case Verb::probe: return mirror_probe(operation, outcome);
        case Verb::plan: return mirror_plan(operation, outcome);
        case Verb::reserve: return mirror_reserve(operation, outcome);
        case Verb::commit:
            return verdicts_differ(kv_oracle_commit(machine_.id(), sequence, list(cells_of(operation))), outcome);
        case Verb::cancel: return verdicts_differ(kv_oracle_cancel(machine_.id(), sequence), outcome);
        case Verb::append:
        case Verb::append_batch: return mirror_append(operation, outcome);
        case Verb::fork: return mirror_fork(operation, outcome);
        case Verb::truncate:
            return verdicts_differ(kv_oracle_truncate(machine_.id(), sequence, bounded(operation.length)), outcome);
        case Verb::release: return mirror_release(operation, outcome);
        case Verb::step_begin:
        case Verb::step_end: return mirror_step(operation, outcome);
        case Verb::pin:
        case Verb::unpin: return mirror_pins(operation, outcome, subject.manager().pool());
        case Verb::evict:
        case Verb::uncache:
        case Verb::reset_cache: count_outside("what leaves the index: evict, uncache, reset_cache"); break;
        case Verb::check: break;
    }
    return std::nullopt;
}

// Numbers that are not natural make no sense in any state. Of several mistakes either may be told.
OracleCheck::Difference OracleCheck::must_be_refused(const Outcome& outcome) {
    if (outcome.error == Error::invalid_argument || outcome.error == Error::unknown_sequence) {
        return std::nullopt;
    }
    return text("C++ says ", spelled(outcome.error), ", but the arguments make no sense");
}

OracleCheck::Difference OracleCheck::verdicts_differ(KvOracleVerdict verdict, const Outcome& outcome) const {
    if (verdict == kv_oracle_bad_choice) {
        return text("C++ says ", spelled(outcome.error), ", the machine refuses the blocks that it took or hit");
    }
    if (error_of(verdict) != outcome.error) {
        return text("C++ says ", spelled(outcome.error), ", the machine ", spelled(error_of(verdict)));
    }
    return std::nullopt;
}

// --- sequences and cells --------------------------------------------------------------------------------------------

// No living sequence has the slot that stands for names of no living sequence.
std::int64_t OracleCheck::slot(Name name) const {
    const bool is_alive = name < names_.size() && names_[name].slot >= 0;
    return is_alive ? names_[name].slot : static_cast<std::int64_t>(slots_.size());
}

std::int64_t OracleCheck::vacant_slot() {
    const auto vacant = std::ranges::find(slots_, false);
    const auto at = vacant - slots_.begin();
    if (vacant == slots_.end()) {
        kv_oracle_add_sequences(machine_.id(), static_cast<std::int64_t>(slots_.size()));
        slots_.resize(2 * slots_.size());
    }
    return at;
}

void OracleCheck::start(Name name, std::int64_t slot, std::int64_t scope,
                        std::shared_ptr<const std::vector<ExternalContent>> extra) {
    if (name >= names_.size()) {
        names_.resize(std::size_t{name} + 1);
    }
    names_[name] = {slot, scope, std::move(extra)};
    slots_[static_cast<std::size_t>(slot)] = true;
}

// Of a new prompt.
Numbers OracleCheck::cells_of(const Operation& operation) {
    if (!asks_with_a_prompt(operation.verb)) {
        return before_.empty() ? Numbers(operation.tokens.size()) : cells_behind(before_.front(), operation.tokens);
    }
    Numbers cells;
    const std::int64_t scope = cells_->scope(operation.scope);
    for (std::size_t i = 0; i < operation.tokens.size(); ++i) {
        cells.push_back(cells_->cell(scope, operation.extra, static_cast<Length>(i), operation.tokens[i]));
    }
    return cells;
}

// Of tokens that a sequence commits.
Numbers OracleCheck::cells_behind(const Before& before, std::span<const Token> tokens) {
    const Named& named = names_[before.name];
    Numbers cells;
    for (const Token token : tokens) {
        const Length position = before.length + static_cast<Length>(cells.size());
        cells.push_back(cells_->cell(named.scope, *named.extra, position, token));
    }
    return cells;
}

// The blocks taken for cells [first, first + cells) of the step, the next of one sequence, in the machine's order: group
// by group, a new tail before new blocks.
OracleCheck::Difference OracleCheck::choose(const Outcome& outcome, const Before& before, Length first, Length cells,
                                            Numbers& choices) {
    const Length block_size = config_.block_size;
    for (std::uint32_t group = 0; group < config_.groups.size(); ++group) {
        const auto slots = outcome.step.slots_of(GroupId{group});
        if (static_cast<Length>(slots.size()) < first + cells) {
            return text("C++ handed out ", slots.size(), " slots for ", first + cells, " cells");
        }
        std::int64_t last = 0;
        if (before.end % block_size != 0) {
            last = before.tails.empty() ? 0 : to_index(before.tails[group]);
            // The copy of a hit is made even where no cell is handed out.
            for (const BlockCopy& copy : outcome.step.copies) {
                if (before.tails.empty() && copy.group == GroupId{group}) {
                    last = to_index(copy.destination);
                    choices.push_back(last - 1);
                }
            }
        }
        for (const Slot slot : slots.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cells))) {
            if (const std::int64_t block = slot / block_size; block != last) {
                choices.push_back(block - 1);
                last = block;
            }
        }
    }
    return std::nullopt;
}

// --- the operations -------------------------------------------------------------------------------------------------

OracleCheck::Difference OracleCheck::mirror_admit(const Operation& operation, const Outcome& outcome) {
    const bool is_free = slot(operation.sequence) == static_cast<std::int64_t>(slots_.size());
    const std::int64_t at = is_free ? vacant_slot() : slot(operation.sequence);
    const Numbers query = cells_of(operation);
    if (operation.priority != 0) {
        count_outside("priorities");
    }
    if (Difference difference = mirror_probe(operation, outcome); difference && is_free) {
        return difference;
    }
    Numbers choices;
    if (!outcome.error) {
        const Before before{operation.sequence, hits_.cut, hits_.cut, {}};
        if (Difference difference = choose(outcome, before, 0, outcome.step.cells, choices)) {
            return difference;
        }
    }
    const Length compute = bounded(operation.compute.value_or(static_cast<Length>(query.size())));
    const KvOracleVerdict verdict = kv_oracle_admit(machine_.id(), at, list(query), compute, hits_.cut,
                                                    list(hits_.blocks), list(choices));
    if (Difference difference = verdicts_differ(verdict, outcome)) {
        return difference;
    }
    if (!outcome.error) {
        start(operation.sequence, at, cells_->scope(operation.scope),
              std::make_shared<const std::vector<ExternalContent>>(operation.extra));
    }
    return std::nullopt;
}

// How long the longest hit is.
OracleCheck::Difference OracleCheck::mirror_probe(const Operation& operation, const Outcome& outcome) {
    if (operation.tokens.empty()) {
        return operation.verb == Verb::probe ? must_be_refused(outcome) : std::nullopt;
    }
    const std::int64_t best = kv_oracle_best_cut(machine_.id(), list(cells_of(operation)));
    if (hits_.cut != best || (!outcome.error && operation.verb != Verb::plan && outcome.cached_tokens != best)) {
        return text("C++ finds ", outcome.error ? hits_.cut : outcome.cached_tokens, " cached tokens, the machine ", best);
    }
    return std::nullopt;
}

// A plan says what feeding the prompt now would come to: all at once, or a chunk after the other.
OracleCheck::Difference OracleCheck::mirror_plan(const Operation& operation, const Outcome& outcome) {
    if (operation.tokens.empty() && operation.count == 0) {
        return must_be_refused(outcome);
    }
    // One cell more than the pool has is as far beyond it as any other number; a window lets more pass in chunks.
    const Length most = config_.blocks * Length{config_.block_size} + 1;
    if (operation.chunk > 0 && std::max<Length>(operation.count, static_cast<Length>(operation.tokens.size())) > most) {
        count_outside("plans of long prompts in chunks");
        return std::nullopt;
    }
    const Numbers query = operation.tokens.empty() ? Numbers(static_cast<std::size_t>(std::min(operation.count, most)))
                                                   : cells_of(operation);
    if (operation.tokens.empty()) {
        hits_ = {};
    } else if (Difference difference = mirror_probe(operation, outcome)) {
        return difference;
    }
    const std::int64_t at = vacant_slot();
    KvOracleVerdict due = feed(Machine(machine_), at, query, hits_, operation.chunk);
    if (due == kv_oracle_later || due == kv_oracle_never) {
        const bool fits_alone = feed(Machine(config_, 1), 0, query, {}, operation.chunk) == kv_oracle_done;
        due = fits_alone ? kv_oracle_later : kv_oracle_never;
    }
    Outcome planned = outcome;
    if (!outcome.error && outcome.plan && outcome.plan->verdict != Verdict::ok) {
        planned.error = outcome.plan->verdict == Verdict::later ? Error::later : Error::never;
    }
    return verdicts_differ(due, planned);
}

// Admits a prompt and appends what is left of it, chunk by chunk (0: at once), as long as there is room.
KvOracleVerdict OracleCheck::feed(const Machine& machine, std::int64_t at, const Numbers& query, const Hits& hits,
                                  Length chunk) {
    const auto length = static_cast<Length>(query.size());
    const Length step = chunk == 0 ? length : std::min(chunk, length);
    KvOracleVerdict verdict = kv_oracle_admit(machine.id(), at, list(query), step, hits.cut, list(hits.blocks), {});
    for (Length done = hits.cut + step; verdict == kv_oracle_done && done < length; done += step) {
        const std::int64_t cells = std::min(step, length - done);
        verdict = kv_oracle_append(machine.id(), {&at, 1}, {&cells, 1},
                                   {query.data() + done, static_cast<std::size_t>(cells)}, {});
    }
    return verdict;
}

OracleCheck::Difference OracleCheck::mirror_reserve(const Operation& operation, const Outcome& outcome) {
    Numbers sequences, counts, choices;
    const std::size_t n = operation.is_batch ? operation.sequences.size() : 1;
    Length first = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Length cells = operation.is_batch ? operation.counts[i] : operation.count;
        sequences.push_back(slot(operation.is_batch ? operation.sequences[i] : operation.sequence));
        counts.push_back(bounded(cells));
        if (!outcome.error && i < before_.size()) {
            if (Difference difference = choose(outcome, before_[i], first, cells, choices)) {
                return difference;
            }
        }
        first += counts.back();
    }
    return verdicts_differ(kv_oracle_reserve(machine_.id(), list(sequences), list(counts), list(choices)), outcome);
}

OracleCheck::Difference OracleCheck::mirror_append(const Operation& operation, const Outcome& outcome) {
    const bool is_batch = operation.verb == Verb::append_batch;
    Numbers sequences, counts, cells, choices;
    const std::size_t n = is_batch ? operation.sequences.size() : 1;
    const std::size_t each = is_batch ? 1 : operation.tokens.size();
    std::size_t known = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Name name = is_batch ? operation.sequences[i] : operation.sequence;
        const std::span<const Token> tokens = std::span(operation.tokens).subspan(i * each, each);
        sequences.push_back(slot(name));
        counts.push_back(static_cast<std::int64_t>(each));
        const bool is_alive = known < before_.size() && before_[known].name == name;
        const Numbers own = is_alive ? cells_behind(before_[known], tokens) : Numbers(each);
        cells.insert(cells.end(), own.begin(), own.end());
        if (!outcome.error && is_alive) {
            const auto first = static_cast<Length>(i * each);
            if (Difference difference =
                    choose(outcome, before_[known], first, static_cast<Length>(each), choices)) {
                return difference;
            }
        }
        known += is_alive ? 1 : 0;
    }
    return verdicts_differ(
        kv_oracle_append(machine_.id(), list(sequences), list(counts), list(cells), list(choices)), outcome);
}

OracleCheck::Difference OracleCheck::mirror_fork(const Operation& operation, const Outcome& outcome) {
    if (slot(operation.child) != static_cast<std::int64_t>(slots_.size())) {
        return must_be_refused(outcome);  // the name is taken: names are not the Manager's
    }
    const std::int64_t at = vacant_slot();
    const Length whole = before_.empty() ? 0 : before_.front().length;
    const Length length = bounded(operation.at.value_or(whole));
    const KvOracleVerdict verdict = kv_oracle_fork(machine_.id(), slot(operation.sequence), at, length);
    if (Difference difference = verdicts_differ(verdict, outcome)) {
        return difference;
    }
    if (!outcome.error) {
        const Named parent = names_[operation.sequence];
        start(operation.child, at, parent.scope, parent.extra);
    }
    return std::nullopt;
}

OracleCheck::Difference OracleCheck::mirror_release(const Operation& operation, const Outcome& outcome) {
    const KvOracleVerdict verdict =
        kv_oracle_release(machine_.id(), slot(operation.sequence), operation.keep_cached);
    if (Difference difference = verdicts_differ(verdict, outcome)) {
        return difference;
    }
    if (!outcome.error) {
        slots_[static_cast<std::size_t>(names_[operation.sequence].slot)] = false;
        names_[operation.sequence] = {};
    }
    return std::nullopt;
}

OracleCheck::Difference OracleCheck::mirror_step(const Operation& operation, const Outcome& outcome) {
    const auto open = steps_.find(operation.step);
    const std::int64_t step = open == steps_.end() ? next_step_ : open->second;
    const bool begins = operation.verb == Verb::step_begin;
    const KvOracleVerdict verdict =
        begins ? kv_oracle_step_begin(machine_.id(), step) : kv_oracle_step_end(machine_.id(), step);
    if (Difference difference = verdicts_differ(verdict, outcome)) {
        return difference;
    }
    if (!outcome.error && begins) {
        steps_[operation.step] = next_step_++;
    } else if (!outcome.error) {
        steps_.erase(open);
    }
    return std::nullopt;
}

// Which blocks a prompt pins is the index's business; that they are counted is the machine's.
OracleCheck::Difference OracleCheck::mirror_pins(const Operation& operation, const Outcome& outcome,
                                                 const BlockPool& pool) {
    if (outcome.error) {
        count_outside("pins that are refused");
        return std::nullopt;
    }
    const bool pins = operation.verb == Verb::pin;
    Numbers blocks;
    for (std::uint32_t block = 1; block <= pool.blocks(); ++block) {
        const std::int64_t more = pool.pins(BlockId{block}) - pins_[block];
        blocks.insert(blocks.end(), static_cast<std::size_t>(std::max<std::int64_t>(0, pins ? more : -more)),
                      std::int64_t{block} - 1);
    }
    return verdicts_differ(pins ? kv_oracle_pin(machine_.id(), list(blocks)) : kv_oracle_unpin(machine_.id(), list(blocks)),
                           outcome);
}

}  // namespace kvpane::invariants::oracle

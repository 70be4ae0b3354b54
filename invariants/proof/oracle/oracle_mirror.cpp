// SPDX-License-Identifier: Apache-2.0
// Each operation of the C++ as an operation of the machine.
#include <algorithm>

#include <kvpane/invariants/proof/oracle/oracle_check.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

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
    const KvOracleVerdict verdict =
        kv_oracle_admit(machine_.id(), at, list(query), compute, hits_.cut, list(hits_.blocks), list(choices));
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
        return text("C++ finds ", outcome.error ? hits_.cut : outcome.cached_tokens, " cached tokens, the machine ",
                    best);
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
    const auto count = static_cast<std::size_t>(std::min(operation.count, most));
    const Numbers query = operation.tokens.empty() ? Numbers(count) : cells_of(operation);
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
            if (Difference difference = choose(outcome, before_[known], first, static_cast<Length>(each), choices)) {
                return difference;
            }
        }
        known += is_alive ? 1 : 0;
    }
    return verdicts_differ(kv_oracle_append(machine_.id(), list(sequences), list(counts), list(cells), list(choices)),
                           outcome);
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
    const KvOracleVerdict verdict = kv_oracle_release(machine_.id(), slot(operation.sequence), operation.keep_cached);
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
    return verdicts_differ(
        pins ? kv_oracle_pin(machine_.id(), list(blocks)) : kv_oracle_unpin(machine_.id(), list(blocks)), outcome);
}

}  // namespace kvpane::invariants::oracle

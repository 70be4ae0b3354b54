// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/driver.h>

#include <algorithm>

namespace kvpane::invariants {

namespace {

Outcome refused(Error error) {
    Outcome outcome;
    outcome.error = error;
    return outcome;
}

Outcome outcome_of(const expected<Step>& result) {
    Outcome outcome;
    if (result) {
        outcome.step = *result;
    } else {
        outcome.error = result.error();
    }
    return outcome;
}

Outcome outcome_of(const expected<void>& result) {
    Outcome outcome;
    if (!result) {
        outcome.error = result.error();
    }
    return outcome;
}

bool any_negative(const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

// A batch that does not say how many cells for each of its sequences cannot be put into words of the Manager.
bool has_counts(const Operation& reserve) {
    return !reserve.is_batch || reserve.sequences.size() == reserve.counts.size();
}

}  // namespace

Outcome Driver::apply(const Operation& operation) {
    const CacheEvents::Totals before = manager_.cache_totals();
    Outcome outcome = run(operation);
    const CacheEvents::Totals after = manager_.cache_totals();
    outcome.events = {static_cast<std::int64_t>(after.stored - before.stored),
                      static_cast<std::int64_t>(after.removed - before.removed),
                      static_cast<std::int64_t>(after.cleared - before.cleared)};
    return outcome;
}

Outcome Driver::run(const Operation& operation) {
    const SequenceHandle sequence = handle(operation.sequence);
    switch (operation.verb) {
        case Verb::admit: return admit(operation);
        case Verb::plan: return plan(operation);
        case Verb::reserve:
            return has_counts(operation) ? outcome_of(manager_.reserve(reservations(operation)))
                                         : refused(Error::invalid_argument);
        case Verb::commit: return outcome_of(manager_.commit(sequence, operation.tokens));
        case Verb::cancel: return outcome_of(manager_.cancel(sequence));
        case Verb::append: return outcome_of(manager_.append(sequence, operation.tokens));
        case Verb::append_batch:
            return outcome_of(manager_.append_batch(handles(operation.sequences), operation.tokens));
        case Verb::fork: return fork(operation);
        case Verb::truncate: return outcome_of(manager_.truncate(sequence, operation.length));
        case Verb::release: return release(operation);
        case Verb::step_begin: return outcome_of(manager_.step_begin(StepId{operation.step}));
        case Verb::step_end: return outcome_of(manager_.step_end(StepId{operation.step}));
        case Verb::check: {
            const bool known = std::ranges::all_of(operation.sequences, [&](Name name) { return is_alive(name); });
            return known ? Outcome{} : refused(Error::unknown_sequence);
        }
        case Verb::probe:
        case Verb::evict:
        case Verb::uncache:
        case Verb::pin:
        case Verb::unpin:
        case Verb::reset_cache: return on_the_cache(operation);
    }
    return {};
}

std::optional<Driver::Foresight> Driver::foresee(const Operation& operation) {
    const auto foresight = [](const expected<Plan>& plan) {
        if (!plan) {
            return Foresight{plan.error(), {}};
        }
        Foresight result{std::nullopt, *plan};
        if (plan->verdict != Verdict::ok) {
            result.error = plan->verdict == Verdict::later ? Error::later : Error::never;
        }
        return result;
    };
    reservations_.clear();
    switch (operation.verb) {
        case Verb::admit: {
            const auto length = static_cast<Length>(operation.tokens.size());
            const Length computed = std::min(length, operation.compute.value_or(length));
            // The plan of what is computed now does not know how long the prompt is.
            const Length limit = manager_.config().max_length;
            const bool too_long = limit != 0 && length > limit;
            if (is_alive(operation.sequence) || any_negative(operation.tokens) || computed < 1 || too_long) {
                return std::nullopt;
            }
            if (manager_.config().prefix_cache.enabled) {
                if (operation.compute) {
                    return std::nullopt;  // the plan of a prompt is that of all its tokens
                }
                return foresight(manager_.plan_prompt(prompt(operation)));
            }
            if (!operation.extra.empty() && !manager_.plan_prompt(prompt(operation))) {
                return std::nullopt;  // external content that does not fit into the prompt
            }
            return foresight(manager_.plan_prompt(computed));
        }
        case Verb::reserve:
            if (!has_counts(operation)) {
                return std::nullopt;
            }
            reservations(operation);
            break;
        case Verb::append:
            if (operation.tokens.empty() || any_negative(operation.tokens)) {
                return std::nullopt;
            }
            reservations_.push_back({handle(operation.sequence), static_cast<Length>(operation.tokens.size())});
            break;
        case Verb::append_batch:
            if (operation.tokens.size() != operation.sequences.size() || any_negative(operation.tokens)) {
                return std::nullopt;
            }
            for (const SequenceHandle sequence : handles(operation.sequences)) {
                reservations_.push_back({sequence, 1});
            }
            break;
        default: return std::nullopt;
    }
    const bool reserves = operation.verb == Verb::reserve;
    const bool busy = std::ranges::any_of(reservations_, [&](const Reservation& r) {
        return !reserves && manager_.reserved(r.sequence).value_or(0) > 0;
    });
    return busy ? std::nullopt : std::optional(foresight(manager_.plan(reservations_)));
}

SequenceHandle Driver::handle(Name name) const noexcept {
    return name < named_.size() ? named_[name].handle : stale_;
}

std::vector<Name> Driver::living() const {
    std::vector<Name> names;
    for (Name name = 0; name < named_.size(); ++name) {
        if (is_alive(name)) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names, {}, [&](Name name) { return named_[name].born; });
    return names;
}

Outcome Driver::admit(const Operation& operation) {
    if (is_alive(operation.sequence)) {
        return refused(Error::invalid_argument);
    }
    const auto admitted = manager_.admit(prompt(operation));
    if (!admitted) {
        return refused(admitted.error());
    }
    call(operation.sequence, admitted->sequence);
    Outcome outcome;
    outcome.cached_tokens = admitted->cached_tokens;
    outcome.step = admitted->step;
    return outcome;
}

Outcome Driver::fork(const Operation& operation) {
    if (is_alive(operation.child)) {
        return refused(Error::invalid_argument);
    }
    const auto child = manager_.fork(handle(operation.sequence), operation.at);
    if (!child) {
        return refused(child.error());
    }
    call(operation.child, *child);
    return {};
}

Outcome Driver::release(const Operation& operation) {
    Outcome outcome = outcome_of(manager_.release(handle(operation.sequence), operation.keep_cached));
    if (!outcome.error) {
        named_[operation.sequence].born = 0;
    }
    return outcome;
}

Prompt Driver::prompt(const Operation& operation) {
    extra_.clear();
    for (const ExternalContent& piece : operation.extra) {
        extra_.push_back({piece.at, piece.count, piece.id});
    }
    const Scope& scope = operation.scope;
    return {.tokens = operation.tokens,
            .compute = operation.verb == Verb::admit ? operation.compute : std::nullopt,
            .scope = {scope.model, scope.lora, scope.lora_id, scope.tenant, scope.salt},
            .extra = extra_,
            .priority = operation.priority,
            .priority_steps = operation.priority_steps};
}

Outcome Driver::on_the_cache(const Operation& operation) {
    Outcome outcome;
    const auto counted = [&](const expected<Length>& result) {
        if (!result) {
            outcome.error = result.error();
        }
        return result.value_or(0);
    };
    switch (operation.verb) {
        case Verb::probe: outcome.cached_tokens = counted(manager_.probe(prompt(operation))); break;
        case Verb::evict: counted(manager_.evict(operation.count)); break;
        case Verb::pin: counted(manager_.pin(prompt(operation))); break;
        case Verb::unpin: counted(manager_.unpin(prompt(operation))); break;
        case Verb::uncache: outcome = outcome_of(manager_.uncache(handle(operation.sequence), operation.blocks)); break;
        default: manager_.reset_cache();
    }
    return outcome;
}

Outcome Driver::plan(const Operation& operation) {
    const auto planned = operation.tokens.empty() ? manager_.plan_prompt(operation.count, operation.chunk)
                                                  : manager_.plan_prompt(prompt(operation), operation.chunk);
    if (!planned) {
        return refused(planned.error());
    }
    Outcome outcome;
    outcome.plan = *planned;
    return outcome;
}

std::span<const SequenceHandle> Driver::handles(const std::vector<Name>& names) {
    handles_.clear();
    for (const Name name : names) {
        handles_.push_back(handle(name));
    }
    return handles_;
}

std::span<const Reservation> Driver::reservations(const Operation& reserve) {
    reservations_.clear();
    if (!reserve.is_batch) {
        reservations_.push_back({handle(reserve.sequence), reserve.count});
        return reservations_;
    }
    for (std::size_t i = 0; i < reserve.sequences.size(); ++i) {
        reservations_.push_back({handle(reserve.sequences[i]), reserve.counts[i]});
    }
    return reservations_;
}

void Driver::call(Name name, SequenceHandle handle) {
    if (name >= named_.size()) {
        named_.resize(std::size_t{name} + 1);
    }
    if (named_[name].born == 0 && named_[name].handle != SequenceHandle{}) {
        stale_ = named_[name].handle;
    }
    named_[name] = {handle, ++created_};
}

}  // namespace kvpane::invariants

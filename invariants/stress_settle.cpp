// SPDX-License-Identifier: Apache-2.0
// What the stress generator learns from an operation's outcome.
#include <algorithm>
#include <string>

#include <kvpane/invariants/stress_generator.h>

namespace kvpane::invariants {

namespace {

constexpr int most_refusals = 8;  // in a row, then room is made: a full pool must not end the run in refusals

bool takes_blocks(Verb verb) noexcept {
    return verb == Verb::admit || verb == Verb::append || verb == Verb::append_batch || verb == Verb::reserve;
}

// Whether an operation that makes sense may fail with this error.
bool may_fail_with(const Operation& operation, Error error) noexcept {
    switch (error) {
        case Error::later: return takes_blocks(operation.verb) || operation.verb == Verb::pin;
        case Error::never: return takes_blocks(operation.verb);
        case Error::window_evicted:
            return (operation.verb == Verb::fork && operation.at.value_or(0) > 0) ||
                   (operation.verb == Verb::truncate && operation.length > 0);
        case Error::invalid_argument: return operation.verb == Verb::unpin;  // uncached meanwhile, or cached further
        case Error::unknown_sequence:
        case Error::not_reserved:
        case Error::busy: return false;
    }
    return false;
}

std::string told(std::optional<Error> error) {
    return error ? "failed with '" + std::string(to_string(*error)) + "'" : "succeeded";
}

}  // namespace

std::optional<Violation> left_behind(const CheckedManager& kv) {
    const BlockPool& pool = kv.manager().pool();
    if (pool.live_blocks() + pool.fenced_blocks() == 0) {
        return std::nullopt;
    }
    return Violation{Invariant::P1, kv.operations(),
                     "with everything released " + std::to_string(pool.live_blocks()) + " blocks are live and " +
                         std::to_string(pool.fenced_blocks()) + " fenced"};
}

std::optional<std::string> StressGenerator::settle(const Outcome& outcome, StressReport& report) {
    if (drawn_) {
        ++report.tried[kind_];
    }
    if (provoked_) {
        if (outcome.error != provoked_) {
            return "an operation that must fail with '" + std::string(to_string(*provoked_)) + "' " +
                   told(outcome.error);
        }
        ++report.refused_other;
        ++report.succeeded[kind_];
        return std::nullopt;
    }
    if (outcome.error) {
        if (!may_fail_with(operation_, *outcome.error)) {
            return "an operation that makes sense " + told(outcome.error);
        }
        refused(*outcome.error, report);
        return std::nullopt;
    }
    if (drawn_) {
        ++report.succeeded[kind_];
    }
    remember(outcome, report.phases);
    return std::nullopt;
}

void StressGenerator::refused(Error error, StressReport& report) {
    if (operation_.verb == Verb::pin || operation_.verb == Verb::unpin) {
        ++report.refused_pins;
        if (operation_.verb == Verb::unpin) {
            pins_.pop_back();
        }
        return;
    }
    if (error == Error::window_evicted) {
        ++report.refused_evicted;
        return;
    }
    ++(error == Error::later ? report.refused_later : report.refused_never);
    const bool is_of_one = operation_.verb == Verb::append || (operation_.verb == Verb::reserve && !operation_.is_batch);
    if (error == Error::never && is_of_one) {
        to_release_.push_back(operation_.sequence);  // it can never go on
    }
    if (++refusals_ >= most_refusals) {
        refusals_ = 0;
        step_to_end_ = !open_steps_.empty();
        if (crowd_.size() > 0) {
            to_release_.push_back(crowd_.pick(random_));
        }
    }
}

void StressGenerator::remember(const Outcome& outcome, WindowPhases& phases) {
    const Name name = operation_.sequence;
    const std::span<const Token> tokens = operation_.tokens;
    if (takes_blocks(operation_.verb)) {
        refusals_ = 0;
    }
    switch (operation_.verb) {
        case Verb::admit: {
            const Length uncached = static_cast<Length>(tokens.size()) - outcome.cached_tokens;
            const Length computed = std::min(uncached, operation_.compute.value_or(uncached));
            crowd_.born(outcome.cached_tokens, uncached);
            prompts_.born(name, tokens);
            return committed(
                name,
                tokens.subspan(static_cast<std::size_t>(outcome.cached_tokens), static_cast<std::size_t>(computed)),
                phases);
        }
        case Verb::append: return committed(name, tokens, phases);
        case Verb::append_batch:
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                committed(operation_.sequences[i], tokens.subspan(i, 1), phases);
            }
            return;
        case Verb::reserve:
            if (!operation_.is_batch) {
                return reserved_more(name, operation_.count);
            }
            for (std::size_t i = 0; i < operation_.sequences.size(); ++i) {
                reserved_more(operation_.sequences[i], operation_.counts[i]);
            }
            return;
        case Verb::commit:
            reserved_more(name, -static_cast<Length>(tokens.size()));
            return committed(name, tokens, phases);
        case Verb::cancel: return crowd_.set(name, {crowd_[name].length, 0, crowd_[name].prompt_left});
        case Verb::fork: {
            const Length length = operation_.at.value_or(crowd_[name].length);
            prompts_.forked(operation_.child, name, length);
            return crowd_.born(length, 0);
        }
        case Verb::truncate: prompts_.cut(name, operation_.length); return crowd_.set(name, {operation_.length, 0, 0});
        case Verb::release: prompts_.ended(name, crowd_[name].length); return crowd_.ended(name);
        case Verb::step_begin: open_steps_.push_back(operation_.step); return;
        case Verb::step_end: std::erase(open_steps_, operation_.step); return;
        case Verb::pin: pins_.push_back({operation_.tokens, operation_.scope, operation_.extra}); return;
        case Verb::unpin: pins_.pop_back(); return;
        default: return;  // nothing that a sequence is made of has changed
    }
}

// So many cells more; a commit takes them back.
void StressGenerator::reserved_more(Name name, Length cells) {
    Crowd::Member member = crowd_[name];
    member.reserved += cells;
    crowd_.set(name, member);
}

void StressGenerator::committed(Name name, std::span<const Token> tokens, WindowPhases& phases) {
    const auto cells = static_cast<Length>(tokens.size());
    if (cells == 0) {
        return;
    }
    prompts_.grew(name, crowd_[name].length, tokens);
    const auto& [length, reserved, prompt_left] = crowd_[name];
    count_phases(length, length + cells, phases);
    crowd_.set(name, {length + cells, reserved, std::max<Length>(0, prompt_left - cells)});
    if (longest_ > 0 && crowd_[name].length > longest_) {
        to_release_.push_back(name);
    }
}

void StressGenerator::count_phases(Length before, Length after, WindowPhases& phases) const noexcept {
    for (const Length window : windows_) {
        phases.count(before, after, window);
    }
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include "properties/model.h"

#include <algorithm>

namespace kvpane::testing {

namespace {

bool any_negative(std::span<const Token> tokens) {
    return std::any_of(tokens.begin(), tokens.end(), [](Token token) { return token < 0; });
}

Answer refusal(Error error) {
    Answer answer;
    answer.error = error;
    return answer;
}

}  // namespace

// --- verdicts -------------------------------------------------------------------------------------------------------

// Everybody else is gone, and the open steps have ended.
void Model::leave_only(const std::set<Name>& names) {
    while (!open_.empty()) {
        step_end(*open_.begin());
    }
    for (auto at = sequences_.begin(); at != sequences_.end();) {
        if (names.contains(at->first)) {
            ++at;
        } else {
            cut(at->second, 0);
            at = sequences_.erase(at);
        }
    }
}

template <class Play>
Answer Model::attempt(const std::set<Name>& names, Play play) {
    const Model before = *this;
    try {
        Answer answer = play(*this);
        end_call();
        return answer;
    } catch (const NoRoom&) {
        *this = before;
    }
    Model alone = before;
    alone.leave_only(names);
    try {
        play(alone);
        return refusal(Error::later);
    } catch (const NoRoom&) {
        return refusal(Error::never);
    }
}

bool Model::passes_a_limit(const std::vector<Ask>& batch) const {
    for (const Ask& ask : batch) {
        const ModelSequence& sequence = sequences_.at(ask.name);
        const Length end = sequence.covered() + ask.cells;
        if (config_.max_length != 0 && end > config_.max_length) {
            return true;
        }
        for (const ModelTable& table : sequence.tables) {
            if (table.row_entries && blocks_for(end) > Length{*table.row_entries}) {
                return true;
            }
        }
    }
    return false;
}

std::optional<Error> Model::refused(const std::vector<Ask>& batch) const {
    std::set<Name> seen;
    for (const Ask& ask : batch) {
        if (ask.cells < 1 || !seen.insert(ask.name).second) {
            return Error::invalid_argument;
        }
    }
    if (passes_a_limit(batch)) {
        return Error::never;
    }
    return std::nullopt;
}

// --- operations -----------------------------------------------------------------------------------------------------

Answer Model::admit(Name name, std::span<const Token> prompt, std::optional<Length> compute) {
    if (prompt.empty() || any_negative(prompt) || compute.value_or(0) < 0) {
        return refusal(Error::invalid_argument);
    }
    const auto count = static_cast<Length>(prompt.size());
    if (config_.max_length != 0 && count > config_.max_length) {
        return refusal(Error::never);
    }
    const Length written = std::min(count, compute.value_or(count));
    return attempt({}, [&](Model& model) {
        const Length needed = model.blocks_for(written) * Length{model.groups()};
        const Length left_free = model.sequences_.empty() ? 0 : model.config_.watermark;
        if (static_cast<Length>(model.queue_.size()) < needed + left_free) {
            throw NoRoom{};
        }
        ModelSequence& sequence = model.sequences_[name];
        sequence.tables.resize(model.groups());
        Answer answer;
        answer.slots.resize(model.groups());
        if (written > 0) {
            model.hand_out(sequence, written, answer);
            model.write(sequence, prompt.first(static_cast<std::size_t>(written)));
        }
        return answer;
    });
}

Answer Model::reserve(const std::vector<Ask>& batch) {
    if (const auto error = refused(batch)) {
        return refusal(*error);
    }
    std::set<Name> names;
    for (const Ask& ask : batch) {
        names.insert(ask.name);
    }
    return attempt(names, [&](Model& model) { return model.reserve_all(batch); });
}

Answer Model::commit(Name name, std::span<const Token> tokens) {
    ModelSequence& sequence = sequences_.at(name);
    if (any_negative(tokens)) {
        return refusal(Error::invalid_argument);
    }
    if (static_cast<Length>(tokens.size()) > sequence.reserved) {
        return refusal(Error::not_reserved);
    }
    write(sequence, tokens);
    return {};
}

Answer Model::cancel(Name name) {
    ModelSequence& sequence = sequences_.at(name);
    if (sequence.reserved > 0) {
        cut(sequence, sequence.length());
    }
    return {};
}

Answer Model::append(Name name, std::span<const Token> tokens) {
    if (tokens.empty() || any_negative(tokens)) {
        return refusal(Error::invalid_argument);
    }
    if (sequences_.at(name).reserved > 0) {
        return refusal(Error::busy);
    }
    const std::vector<Ask> batch{{name, static_cast<Length>(tokens.size())}};
    if (const auto error = refused(batch)) {
        return refusal(*error);
    }
    return attempt({name}, [&](Model& model) {
        Answer answer = model.reserve_all(batch);
        model.write(model.sequences_.at(name), tokens);
        return answer;
    });
}

Answer Model::append_batch(const std::vector<Name>& names, std::span<const Token> tokens) {
    if (names.size() != tokens.size() || any_negative(tokens)) {
        return refusal(Error::invalid_argument);
    }
    std::vector<Ask> batch;
    bool busy = false;
    for (const Name name : names) {
        batch.push_back({name, 1});
        busy = busy || sequences_.at(name).reserved > 0;
    }
    const auto error = refused(batch);
    if (error == Error::invalid_argument) {
        return refusal(*error);
    }
    if (busy) {
        return refusal(Error::busy);
    }
    if (error) {
        return refusal(*error);
    }
    return attempt({names.begin(), names.end()}, [&](Model& model) {
        Answer answer = model.reserve_all(batch);
        for (std::size_t i = 0; i < names.size(); ++i) {
            model.write(model.sequences_.at(names[i]), tokens.subspan(i, 1));
        }
        return answer;
    });
}

Answer Model::fork(Name parent, Name child, std::optional<Length> at) {
    const ModelSequence& from = sequences_.at(parent);
    const Length length = at.value_or(from.length());
    if (length < 0 || length > from.length()) {
        return refusal(Error::invalid_argument);
    }
    if (from.reserved > 0) {
        return refusal(Error::busy);
    }
    if (!needs_are_held(from, length)) {
        return refusal(Error::window_evicted);
    }
    ModelSequence copy = from;
    for (ModelTable& table : copy.tables) {
        table.row_entries.reset();
        for (const std::uint32_t id : table.ids) {
            refs_[id] += id != 0 ? 1 : 0;
        }
    }
    cut(copy, length);
    copy.history.resize(static_cast<std::size_t>(length));
    sequences_[child] = copy;
    return {};
}

Answer Model::truncate(Name name, Length length) {
    ModelSequence& sequence = sequences_.at(name);
    if (length < 0 || length > sequence.length()) {
        return refusal(Error::invalid_argument);
    }
    if (!needs_are_held(sequence, length)) {
        return refusal(Error::window_evicted);
    }
    cut(sequence, length);
    sequence.history.resize(static_cast<std::size_t>(length));
    return {};
}

Answer Model::release(Name name) {
    cut(sequences_.at(name), 0);
    sequences_.erase(name);
    return {};
}

Answer Model::step_begin(std::uint64_t step) {
    return open_.insert(step).second ? Answer{} : refusal(Error::invalid_argument);
}

Answer Model::step_end(std::uint64_t step) {
    if (open_.erase(step) == 0) {
        return refusal(Error::invalid_argument);
    }
    std::vector<std::uint32_t> ready;
    std::vector<Fenced> waiting;
    for (Fenced& fenced : fenced_) {
        fenced.waits_for.erase(step);
        if (fenced.waits_for.empty()) {
            ready.push_back(fenced.block);
        } else {
            waiting.push_back(fenced);
        }
    }
    fenced_ = waiting;
    join_queue(ready);
    return {};
}

Answer Model::bind_row(Name name, std::uint32_t group, std::uint32_t entries) {
    ModelTable& table = sequences_.at(name).tables[group];
    if (table.ids.size() > entries) {
        return refusal(Error::invalid_argument);
    }
    table.row_entries = entries;
    return {};
}

void Model::unbind_row(Name name, std::uint32_t group) { sequences_.at(name).tables[group].row_entries.reset(); }

// --- plans ----------------------------------------------------------------------------------------------------------

// Feeds a new sequence now, chunk by chunk; what the windows drop on the way is fenced while a step is open. Returns
// the most blocks that it used up at once.
std::int64_t Model::feed(Length count, Length chunk) {
    ModelSequence sequence;
    sequence.tables.resize(groups());
    const std::size_t room = queue_.size();
    std::int64_t peak = 0;
    while (sequence.length() < count) {
        const Length cells = std::min(chunk == 0 ? count : chunk, count - sequence.length());
        const Length left_free = sequence.length() == 0 && !sequences_.empty() ? config_.watermark : 0;
        Answer answer;
        answer.slots.resize(groups());
        hand_out(sequence, cells, answer);
        if (static_cast<Length>(queue_.size()) < left_free) {
            throw NoRoom{};
        }
        peak = std::max(peak, static_cast<std::int64_t>(room - queue_.size()));
        write(sequence, std::vector<Token>(static_cast<std::size_t>(cells)));
    }
    return peak;
}

Plan Model::plan_prompt(Length count, Length chunk) const {
    Config roomy = config_;
    roomy.blocks = blocks_for(count) * Length{groups()};
    Plan plan;
    plan.blocks_needed = Model(roomy).feed(count, chunk);
    const bool too_long = config_.max_length != 0 && count > config_.max_length;
    if (too_long || plan.blocks_needed > config_.blocks) {
        plan.verdict = Verdict::never;
        return plan;
    }
    try {
        Model(*this).feed(count, chunk);
    } catch (const NoRoom&) {
        plan.verdict = Verdict::later;
    }
    return plan;
}

std::pair<Plan, std::optional<Error>> Model::plan(const std::vector<Ask>& batch) const {
    Plan plan;
    Model tried = *this;
    const Answer answer = tried.reserve(batch);
    if (answer.error == Error::later) {
        plan.verdict = Verdict::later;
    } else if (answer.error == Error::never) {
        plan.verdict = Verdict::never;
    } else if (answer.error) {
        return {plan, answer.error};
    }
    if (passes_a_limit(batch)) {
        plan.blocks_needed = not_said;
        return {plan, std::nullopt};
    }
    Model roomy = *this;  // so much room that nothing is capped
    for (int more = 0; more < 10'000; ++more) {
        roomy.queue_.push_back(static_cast<std::uint32_t>(roomy.refs_.size()));
        roomy.refs_.push_back(0);
    }
    const Answer whole = roomy.reserve_all(batch);
    plan.blocks_needed = whole.taken;
    plan.copies = static_cast<std::int64_t>(whole.copies.size());
    return {plan, std::nullopt};
}

}  // namespace kvpane::testing

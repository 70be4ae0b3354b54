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

// Everybody else is gone, the open steps have ended, and nothing is cached.
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
    empty_cache();
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

std::optional<Error> Model::unsound(const ModelPrompt& prompt) {
    if (prompt.tokens.empty() || any_negative(prompt.tokens) || prompt.compute.value_or(0) < 0) {
        return Error::invalid_argument;
    }
    Length behind = 0;
    for (const Picture& picture : prompt.pictures) {
        const Length end = picture.at + picture.count;
        if (picture.at < behind || picture.count < 1 || end > static_cast<Length>(prompt.tokens.size())) {
            return Error::invalid_argument;
        }
        behind = end;
    }
    return std::nullopt;
}

Answer Model::play_admission(Name name, const ModelPrompt& prompt, const ModelMatch& match) {
    const auto count = static_cast<Length>(prompt.tokens.size());
    const Length written = std::min(count - match.cut, prompt.compute.value_or(count));
    const Length left_free = sequences_.empty() ? 0 : config_.watermark;
    ModelSequence& sequence = sequences_[name];
    adopt(sequence, match, prompt);
    Answer answer;
    answer.slots.resize(groups());
    answer.cached = match.cut;
    hand_out(sequence, written, answer, &match);
    if (static_cast<Length>(queue_.size()) < left_free) {
        throw NoRoom{};
    }
    const auto first = prompt.tokens.begin() + static_cast<std::ptrdiff_t>(match.cut);
    write(sequence, std::vector<Token>(first, first + static_cast<std::ptrdiff_t>(written)));
    return answer;
}

Answer Model::admit(Name name, const ModelPrompt& prompt) {
    if (const auto error = unsound(prompt)) {
        return refusal(*error);
    }
    const auto count = static_cast<Length>(prompt.tokens.size());
    if (config_.max_length != 0 && count > config_.max_length) {
        return refusal(Error::never);
    }
    const ModelMatch match = find(prompt, count - 1);
    const Answer answer = attempt({}, [&](Model& model) {
        const bool alone = model.sequences_.empty() && model.entries() == 0;
        return model.play_admission(name, prompt, alone ? model.find(prompt, 0) : match);
    });
    if (!answer.error && config_.prefix_cache.enabled) {
        totals_.queried += prompt.tokens.size();
        totals_.hit += static_cast<std::uint64_t>(match.cut);
    }
    return answer;
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
    forget(copy, length);
    copy.own_from = length;
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
    forget(sequence, length);
    return {};
}

Answer Model::release(Name name, bool keep_cached) {
    ModelSequence& sequence = sequences_.at(name);
    if (keep_cached) {
        publish_tails(sequence);
    } else {
        withdraw_own(sequence);
    }
    cut(sequence, 0);
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
    ++steps_ended_;
    end_priorities();
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

}  // namespace kvpane::testing

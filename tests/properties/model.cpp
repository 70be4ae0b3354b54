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

Model::Model(const Config& config) : config_(config), refs_(static_cast<std::size_t>(config.blocks) + 1) {
    for (std::uint32_t block = 1; block < refs_.size(); ++block) {
        queue_.push_back(block);
    }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

std::uint32_t Model::take() {
    if (queue_.empty()) {
        throw NoRoom{};
    }
    const std::uint32_t block = queue_.front();
    queue_.pop_front();
    refs_[block] = 1;
    return block;
}

// One batch, in the order in which it is given up.
void Model::give_back(const std::vector<std::uint32_t>& batch) {
    std::vector<std::uint32_t> idle;
    for (const std::uint32_t block : batch) {
        refs_[block] -= 1;
        if (refs_[block] == 0) {
            idle.push_back(block);
        }
    }
    if (open_.empty()) {
        join_queue(idle);
        return;
    }
    for (const std::uint32_t block : idle) {
        fenced_.push_back({block, open_});
    }
}

// None of these has content: to the front with the prefix cache on, to the end with it off.
void Model::join_queue(const std::vector<std::uint32_t>& batch) {
    queue_.insert(config_.prefix_cache.enabled ? queue_.begin() : queue_.end(), batch.begin(), batch.end());
}

// Holders that will be left when the call has ended.
std::size_t Model::holders(std::uint32_t block) const {
    return refs_[block] - static_cast<std::size_t>(std::count(sources_.begin(), sources_.end(), block));
}

// The source of a copy joins the queue after everything else that the call gives back.
void Model::end_call() {
    give_back(sources_);
    sources_.clear();
}

std::size_t Model::live() const {
    return static_cast<std::size_t>(std::count_if(refs_.begin(), refs_.end(), [](auto refs) { return refs > 0; }));
}

// --- windows --------------------------------------------------------------------------------------------------------

// The first position that the query at position n sees.
Length Model::need(std::uint32_t group, Length n) const {
    const Length window = config_.groups[group].window;
    return window == 0 ? 0 : std::max<Length>(0, n - window + 1);
}

// Releases the blocks wholly below `position`, deepest first; blocks that hold a sink stay.
void Model::drop_below(ModelSequence& sequence, std::uint32_t group, Length position) {
    ModelTable& table = sequence.tables[group];
    std::vector<std::uint32_t> batch;
    for (Length entry = static_cast<Length>(table.ids.size()) - 1; entry >= 0; --entry) {
        std::uint32_t& id = table.ids[static_cast<std::size_t>(entry)];
        if (id == 0 || (entry + 1) * size() > position || entry * size() < config_.groups[group].sinks) {
            continue;
        }
        batch.push_back(id);
        id = 0;
        for (Length cell = entry * size(); cell < (entry + 1) * size(); ++cell) {
            table.cells.erase(cell);
        }
    }
    give_back(batch);
}

// Forgets every cell from `length` on, and gives back the blocks that hold no cell any more.
void Model::cut(ModelSequence& sequence, Length length) {
    for (ModelTable& table : sequence.tables) {
        table.cells.erase(table.cells.lower_bound(length), table.cells.end());
        std::vector<std::uint32_t> batch;
        for (std::size_t entry = table.ids.size(); entry-- > 0;) {
            const auto begin = static_cast<Length>(entry) * size();
            const auto cell = table.cells.lower_bound(begin);
            const bool keeps_a_cell = cell != table.cells.end() && *cell < begin + size();
            if (table.ids[entry] != 0 && !keeps_a_cell) {
                batch.push_back(table.ids[entry]);
                table.ids[entry] = 0;
            }
        }
        table.ids.resize(static_cast<std::size_t>(blocks_for(length)));
        give_back(batch);
    }
    sequence.reserved = 0;
}

bool Model::needs_are_held(const ModelSequence& sequence, Length length) const {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        for (Length position = 0; position < length; ++position) {
            const bool needed = position >= need(group, length) || position < config_.groups[group].sinks;
            if (needed && !sequence.tables[group].cells.contains(position)) {
                return false;
            }
        }
    }
    return true;
}

Length Model::first_resident(Name name, std::uint32_t group) const {
    const ModelSequence& sequence = sequences_.at(name);
    Length first = sequence.covered();
    while (first > 0 && sequence.tables[group].cells.contains(first - 1)) {
        --first;
    }
    return first;
}

// --- handing out and writing cells ----------------------------------------------------------------------------------

void Model::take_in_group(ModelSequence& sequence, std::uint32_t group, Length cells, Answer& answer) {
    ModelTable& table = sequence.tables[group];
    const Length begin = sequence.covered();
    for (Length position = begin; position < begin + cells; ++position) {
        const auto entry = static_cast<std::size_t>(position / size());
        const Length offset = position % size();
        if (entry == table.ids.size()) {
            table.ids.push_back(0);
        }
        std::uint32_t& id = table.ids[entry];
        if (id == 0) {
            id = take();
            ++answer.taken;
        } else if (holders(id) > 1) {
            const std::uint32_t destination = take();
            ++answer.taken;
            answer.copies.push_back({group, id, destination, offset});
            sources_.push_back(id);
            id = destination;
        }
        table.cells.insert(position);
        answer.slots[group].push_back(Slot{id} * size() + offset);
    }
}

void Model::hand_out(ModelSequence& sequence, Length cells, Answer& answer) {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        drop_below(sequence, group, need(group, sequence.length()) - config_.rewind_slack);
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        take_in_group(sequence, group, cells, answer);
    }
    sequence.reserved += cells;
    answer.cells += cells;
}

void Model::write(ModelSequence& sequence, std::span<const Token> tokens) {
    if (tokens.empty()) {
        return;
    }
    sequence.history.insert(sequence.history.end(), tokens.begin(), tokens.end());
    sequence.reserved -= static_cast<Length>(tokens.size());
    if (config_.window_release != WindowRelease::commit) {
        return;
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const Length window = config_.groups[group].window;
        if (window != 0) {
            drop_below(sequence, group, sequence.length() - window - config_.rewind_slack);
        }
    }
}

Answer Model::reserve_all(const std::vector<Ask>& batch) {
    Answer answer;
    answer.slots.resize(groups());
    for (const Ask& ask : batch) {
        hand_out(sequences_.at(ask.name), ask.cells, answer);
    }
    return answer;
}

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

// Feeds a new sequence now, chunk by chunk; what the windows drop on the way is fenced while a step is open. Returns the
// most blocks that it used up at once.
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

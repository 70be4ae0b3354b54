// SPDX-License-Identifier: Apache-2.0
#include "properties/lockstep.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "properties/lockstep_check.h"

namespace kvpane::testing {

namespace {

constexpr const char* kind_names[] = {
    "admit",        "admit_part",     "reserve",     "reserve_batch", "commit",      "cancel",
    "append",       "append_batch",   "fork",        "fork_at",       "truncate",    "release",
    "step_begin",   "step_end",       "plan_prompt", "plan_batch",    "bind_row",    "unbind_row",
    "wrong_handle", "wrong_argument", "admit_again", "probe",         "plan_again",  "release_uncached",
    "evict",        "uncache",        "pin",         "unpin",         "reset_cache",
};

// More would only make the runs slower: everything happens between a few sequences.
constexpr std::size_t most_sequences = 7;

}  // namespace

std::ostream& operator<<(std::ostream& out, const Op& op) {
    return out << kind_names[static_cast<std::size_t>(op.kind)] << "(" << op.who << ", " << op.much << ", " << op.which
               << ", " << op.tokens << ")";
}

std::string describe(const Config& config) {
    std::ostringstream out;
    out << "block_size " << config.block_size << ", blocks " << config.blocks << ", watermark " << config.watermark
        << ", max_length " << config.max_length << ", slack " << config.rewind_slack << ", release at "
        << (config.window_release == WindowRelease::commit ? "commit" : "reserve") << ", cache "
        << (config.prefix_cache.enabled ? "on" : "off")
        << (config.prefix_cache.granularity == Granularity::token ? ", by token" : "")
        << (config.prefix_cache.policy == EvictionPolicy::lfu ? ", lfu" : "")
        << (config.prefix_cache.constant_hash ? ", constant hash" : "") << ", most pinned "
        << config.prefix_cache.most_pinned;
    for (const GroupConfig& group : config.groups) {
        out << ", (window " << group.window << ", sinks " << group.sinks << ")";
    }
    return out.str();
}

Lockstep::Lockstep(const Config& config) : config_(config), kv_(config), twin_(config), model_(config) {
    now_ = "at the start";
    compare_all();
}

// --- choosing -------------------------------------------------------------------------------------------------------

std::optional<Name> Lockstep::pick(int who) const {
    if (handles_.empty()) {
        return std::nullopt;
    }
    return std::next(handles_.begin(), who % static_cast<int>(handles_.size()))->first;
}

// Neighbours from `who` on, parents before or after their children; each asks for another number of cells.
std::vector<Ask> Lockstep::pick_batch(const Op& op) const {
    std::vector<Ask> batch;
    const int most = 1 + op.which % 4;
    for (int i = 0; i < std::min(most, static_cast<int>(handles_.size())); ++i) {
        batch.push_back({*pick(op.who + i), 1 + (op.much + 3 * i) % 6});
    }
    if (op.which >= 32) {
        std::ranges::reverse(batch);
    }
    return batch;
}

int Lockstep::draw(int below) {
    drawn_ = drawn_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((drawn_ >> 33U) % static_cast<std::uint64_t>(below));
}

// Few different ones, so that equal histories are met all the time.
std::vector<Token> Lockstep::next_tokens(Length count) {
    std::vector<Token> tokens;
    for (Length i = 0; i < count; ++i) {
        tokens.push_back(draw(8) == 0 ? 2 : draw(3) / 2);
    }
    return tokens;
}

std::vector<Reservation> Lockstep::reservations(const std::vector<Ask>& batch) const {
    std::vector<Reservation> out;
    for (const Ask& ask : batch) {
        out.push_back({handles_.at(ask.name), ask.cells});
    }
    return out;
}

// --- operations -----------------------------------------------------------------------------------------------------

void Lockstep::apply(const Op& op) {
    std::ostringstream text;
    text << op << " (operation " << reached_["operations"] << ")";
    now_ = text.str();
    ++reached_["operations"];
    drawn_ = static_cast<std::uint64_t>(op.tokens);
    if (draw(16) == 0) {
        replace_twin();
    }
    const std::optional<Name> name = pick(op.who);
    switch (op.kind) {
        case Kind::admit: apply_admit(new_prompt(1 + op.much % 20)); break;
        case Kind::admit_part: {
            ModelPrompt prompt = op.who % 2 == 0 ? new_prompt(1 + op.much % 20) : old_prompt();
            prompt.compute = op.which % 8;
            apply_admit(prompt);
            break;
        }
        case Kind::admit_again: apply_admit(old_prompt()); break;
        case Kind::probe:
        case Kind::evict:
        case Kind::pin:
        case Kind::unpin:
        case Kind::reset_cache: apply_cache(op); break;
        case Kind::reserve_batch:
        case Kind::append_batch: apply_batch(op); break;
        case Kind::step_begin:
        case Kind::step_end: apply_step(op); break;
        case Kind::plan_prompt:
        case Kind::plan_again:
        case Kind::plan_batch: apply_plan(op); break;
        case Kind::wrong_handle: apply_wrong_handle(op); break;
        default:
            if (name) {
                apply_to(*name, op);
            }
    }
    compare_all();
}

void Lockstep::apply_admit(const ModelPrompt& prompt) {
    if (handles_.size() >= most_sequences) {
        return apply_release(*pick(draw(64)));
    }
    const Spoken spoken(prompt);
    const Answer answer = model_.admit(next_name_, prompt);
    const auto got = both([&](Manager& kv) { return kv.admit(spoken.prompt); });
    check_error(got, answer);
    remember(prompt);
    if (got.has_value()) {
        check_equal(got->cached_tokens, answer.cached, "cached_tokens");
        check_step(expected<Step>(got->step), answer);
        handles_[next_name_] = got->sequence;
        ++next_name_;
        count_what_a_prompt_meets(prompt, *got);
    }
}

void Lockstep::apply_to(Name name, const Op& op) {
    const SequenceHandle handle = handles_.at(name);
    const ModelSequence& sequence = model_.sequences().at(name);
    switch (op.kind) {
        case Kind::reserve: {
            const std::vector<Ask> one{{name, 1 + op.much % 9}};
            const std::vector<Reservation> asked = reservations(one);
            const Answer answer = model_.reserve(one);
            check_step(both([&](Manager& kv) { return kv.reserve(asked); }), answer);
            break;
        }
        case Kind::commit: {
            const std::vector<Token> tokens = next_tokens(op.much % (sequence.reserved + 2));
            const Answer answer = model_.commit(name, tokens);
            check_error(both([&](Manager& kv) { return kv.commit(handle, tokens); }), answer);
            break;
        }
        case Kind::cancel: {
            const Answer answer = model_.cancel(name);
            check_error(both([&](Manager& kv) { return kv.cancel(handle); }), answer);
            break;
        }
        case Kind::append: {
            const std::vector<Token> tokens = next_tokens(1 + op.much % 9);
            const Answer answer = model_.append(name, tokens);
            check_step(both([&](Manager& kv) { return kv.append(handle, tokens); }), answer);
            break;
        }
        case Kind::truncate: {
            const Length back = op.which % 4 == 0 ? op.much : op.much % 5;
            const Length length = std::max<Length>(0, sequence.length() - back);
            const Answer answer = model_.truncate(name, length);
            check_error(both([&](Manager& kv) { return kv.truncate(handle, length); }), answer);
            break;
        }
        case Kind::fork: return apply_fork(name, std::nullopt);
        case Kind::fork_at: return apply_fork(name, std::max<Length>(0, sequence.length() - op.much % 6));
        case Kind::release: return apply_release(name);
        case Kind::release_uncached: return apply_release(name, false);
        case Kind::uncache: return apply_uncache(name, op);
        case Kind::wrong_argument: return apply_wrong_argument(name, op);
        default: apply_row(name, op);
    }
}

void Lockstep::apply_fork(Name parent, std::optional<Length> at) {
    if (handles_.size() >= most_sequences) {
        return apply_release(parent);
    }
    const Answer answer = model_.fork(parent, next_name_, at);
    const auto got = both([&](Manager& kv) { return kv.fork(handles_.at(parent), at); });
    check_error(got, answer);
    if (got.has_value()) {
        handles_[next_name_] = *got;
        ++next_name_;
    }
}

void Lockstep::apply_release(Name name, bool keep_cached) {
    const SequenceHandle handle = handles_.at(name);
    const ModelSequence& ended = model_.sequences().at(name);
    if (ended.length() > 0) {
        ModelPrompt history{.tokens = {}, .compute = {}, .scope = ended.scope, .pictures = ended.pictures};
        for (const ModelCell& cell : ended.history) {
            history.tokens.push_back(cell.token);
        }
        remember(history);
    }
    const Answer answer = model_.release(name, keep_cached);
    check_error(both([&](Manager& kv) { return kv.release(handle, keep_cached); }), answer);
    handles_.erase(name);
    ended_.push_back(handle);
    std::erase_if(rows_, [&](const auto& row) { return row.first.first == name; });
}

void Lockstep::apply_batch(const Op& op) {
    const std::vector<Ask> batch = pick_batch(op);
    if (batch.empty()) {
        return;
    }
    if (op.kind == Kind::reserve_batch) {
        const std::vector<Reservation> asked = reservations(batch);
        const Answer answer = model_.reserve(batch);
        return check_step(both([&](Manager& kv) { return kv.reserve(asked); }), answer);
    }
    std::vector<Name> names;
    std::vector<SequenceHandle> handles;
    for (const Ask& ask : batch) {
        names.push_back(ask.name);
        handles.push_back(handles_.at(ask.name));
    }
    const std::vector<Token> tokens = next_tokens(static_cast<Length>(batch.size()));
    const Answer answer = model_.append_batch(names, tokens);
    check_step(both([&](Manager& kv) { return kv.append_batch(handles, tokens); }), answer);
}

void Lockstep::apply_plan(const Op& op) {
    const std::uint64_t before = kv_.digest();
    if (op.kind == Kind::plan_prompt) {
        const Length count = 1 + op.much % 40;
        const Length chunk = op.which % 7;
        check_plan(kv_.plan_prompt(count, chunk), model_.plan_prompt(count, chunk));
    } else if (op.kind == Kind::plan_again) {
        const ModelPrompt prompt = old_prompt();
        const Length chunk = op.which % 7;
        std::ostringstream text;
        text << now_ << ", cached " << model_.probe(prompt).cached << " of " << prompt.tokens.size();
        now_ = text.str();
        const auto got = kv_.plan_prompt(Spoken(prompt).prompt, chunk);
        check_plan(got, model_.plan_prompt(prompt, chunk));
    } else if (const std::vector<Ask> batch = pick_batch(op); !batch.empty()) {
        check_plan(kv_.plan(reservations(batch)), model_.plan(batch).first);
    }
    check_equal(kv_.digest(), before, "digest after a plan");
}

void Lockstep::apply_step(const Op& op) {
    const auto& open = model_.open_steps();
    if (op.kind == Kind::step_begin) {
        const std::uint64_t step = op.which % 8 == 0 && !open.empty() ? *open.begin() : next_step_++;
        const Answer answer = model_.step_begin(step);
        return check_error(both([&](Manager& kv) { return kv.step_begin(StepId{step}); }), answer);
    }
    std::uint64_t step = next_step_;
    if (!open.empty()) {
        step = *std::next(open.begin(), op.who % static_cast<int>(open.size()));
    }
    const Answer answer = model_.step_end(step);
    check_error(both([&](Manager& kv) { return kv.step_end(StepId{step}); }), answer);
}

void Lockstep::apply_row(Name name, const Op& op) {
    const auto group = static_cast<std::uint32_t>(op.which) % model_.groups();
    const SequenceHandle handle = handles_.at(name);
    if (op.kind == Kind::unbind_row) {
        const auto got = both([&](Manager& kv) { return kv.unbind_row(handle, GroupId{group}); });
        check(got.has_value(), "unbinding a row");
        model_.unbind_row(name, group);
        rows_.erase({name, group});
        return;
    }
    if (rows_.contains({name, group})) {
        return;
    }
    const auto entries = static_cast<std::size_t>(1 + op.much % 30);
    const Answer answer = model_.bind_row(name, group, static_cast<std::uint32_t>(entries));
    Row row{std::vector<std::int32_t>(entries, -1), {}, std::vector<std::int32_t>(entries, -1)};
    const auto got =
        both([&](Manager& kv) { return kv.bind_row(handle, GroupId{group}, &kv == &kv_ ? row.ids : row.of_twin); });
    check_error(got, answer);
    if (got.has_value()) {
        const auto change = kv_.take_row_change(handle, GroupId{group});
        check(change.has_value() && change->begin == 0 && change->end == entries, "a new row counts as changed");
        row.before = row.ids;
        rows_[{name, group}] = std::move(row);
    }
}

// The twin goes on as a copy of the Manager: whatever it was, from here on it must answer like the original.
void Lockstep::replace_twin() {
    twin_.assign(kv_);
    for (auto& [key, row] : rows_) {
        const auto bound = twin_.bind_row(handles_.at(key.first), GroupId{key.second}, row.of_twin);
        check(bound.has_value(), "a row binds to the copy");
    }
    ++reached_["assigned"];
}

void Lockstep::finish() {
    now_ = "at the end";
    while (!model_.open_steps().empty()) {
        apply_step({Kind::step_end, 0, 0, 0, 0});
    }
    while (!handles_.empty()) {
        apply_release(handles_.begin()->first);
        compare_all();
    }
    const auto pinned = static_cast<std::int64_t>(model_.pinned());
    check_equal(kv_.pool().idle_blocks(), config_.blocks - pinned, "idle blocks when everything has ended");
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_worker.h>

#include <algorithm>
#include <bit>

#include <kvpane/allocator/digest.h>
#include <kvpane/invariants/explorer_audit.h>
#include <kvpane/invariants/explorer_fingerprint.h>
#include <kvpane/invariants/explorer_moves.h>
#include <kvpane/invariants/explorer_recount.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::explorer {

namespace {

thread_local const Worker* at_work = nullptr;

// Says who is at work on this thread, as long as it lives.
struct AtWork {
    explicit AtWork(const Worker* worker) { at_work = worker; }
    ~AtWork() { at_work = nullptr; }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
};

}  // namespace

Worker::Worker(Shared& shared)
    : shared_(shared), config_(shared.config), setting_(shared.setting),
      path_(shared.config, shared.setting, shared.origins), next_(shared.config, shared.setting),
      fed_(shared.config, shared.setting) {}

void Worker::expand(std::uint32_t state, std::vector<NewState>& found) {
    const AtWork working(this);
    state_ = state;
    move_.reset();
    is_fresh_ = false;
    behaviour_ = 0;
    const World& here = path_.at(state);
    digest_ = here.manager().digest();
    if (digest_ != shared_.digests[state - shared_.level_begin]) {
        report({Invariant::A2, "a second Manager that received the same calls is in another state"}, {}, {});
        return;
    }
    if (const std::uint32_t nodes = count_nodes(setting_, here); nodes != here.seen().nodes) {
        report({Invariant::X3, text("the index names ", here.seen().nodes, " prefixes, ", nodes, " are in use")}, {}, {});
        return;
    }
    if (const Found wrong = audit_exports(here)) {
        report(*wrong, {}, {});
        return;
    }
    list_moves(config_, setting_, here, moves_);
    for (const Move& move : moves_) {
        if (shared_.is_over.load(std::memory_order_relaxed)) {
            return;
        }
        try_move(here, move, found);
    }
    if (config_.observe) {
        const std::scoped_lock lock(shared_.lock);
        config_.observe(fingerprint(setting_, here), behaviour_);
    }
}

void Worker::try_move(const World& here, const Move& move, std::vector<NewState>& found) {
    if (!is_fresh_) {
        next_.assign(here);
        is_fresh_ = true;
    }
    ++transitions;
    move_ = move;
    if (move.verb == Verb::plan && move.number > 0) {
        if (const Found wrong = feed(here, move)) {
            report(*wrong, {}, {});
        }
        return;
    }
    const Due due = explorer::due(setting_, here, move);
    const auto foreseen = foresee(move);
    const std::uint64_t taken_before = next_.manager().statistics().blocks_taken;
    const Result result = next_.apply(move);
    VerbCount& count = counts[static_cast<std::size_t>(move.verb)];
    ++(result.error ? count.refused[static_cast<std::size_t>(*result.error)] : count.succeeded);
    Found wrong = audit_outcome(setting_, move, result, due, foreseen);
    const std::uint64_t taken = next_.manager().statistics().blocks_taken - taken_before;
    if (!wrong && taken != static_cast<std::uint64_t>(result.step.blocks_taken)) {
        wrong = Finding{Invariant::A1, "the statistics count other blocks than the step names"};
    }
    wrong = wrong ? wrong : check(here, move, due, result, found);
    if (wrong) {
        report(*wrong, result.error, due);
    }
}

// The state behind an operation that ended as it should.
Found Worker::check(const World& here, const Move& move, const Due& due, const Result& result,
                    std::vector<NewState>& found) {
    if (result.error || only_asks(move.verb)) {
        note(move, result.error);
        return audit_nothing_changed(here, next_, digest_);
    }
    is_fresh_ = false;
    Found wrong = settle(next_, move, result, config_, setting_);
    wrong = wrong ? wrong : audit_state(setting_, here, next_, move, due);
    wrong = wrong ? wrong : audit_queue(here, move, result);
    wrong = wrong ? wrong : reach(move, found);
    if (!wrong) {
        note(move, std::nullopt);
    } else if (wrong->invariant == Invariant::X1 && setting_.is_cached) {
        entries_due_ = count_entries_due(setting_, here, next_, move);
    }
    return wrong;
}

// A new state has another digest than the one that it was reached from (A2).
Found Worker::reach(const Move& move, std::vector<NewState>& found) {
    const Fingerprint name = config_.rename ? fingerprint(setting_, next_) : raw_fingerprint(setting_, next_);
    if (!shared_.states.insert(name)) {
        return std::nullopt;
    }
    found.push_back({{state_, move}, next_.manager().digest()});
    if (shared_.states.size() >= config_.limit) {
        shared_.is_over = true;
    }
    if (found.back().digest == digest_) {
        return Finding{Invariant::A2, "the operation led to another state, and the digest is the same"};
    }
    return std::nullopt;
}

// P3: which blocks were taken, and where in the queue those stand that joined it.
Found Worker::audit_queue(const World& here, const Move& move, const Result& result) {
    if (Found wrong = find_P3(scene_of(next_))) {
        return wrong;
    }
    queue_.before(here.manager(), here.shadow().handles[move.sequence]);
    Outcome outcome;
    outcome.cached_tokens = move.verb == Verb::admit ? result.value : 0;
    outcome.step = result.step;
    auto wrong = queue_.wrong_order(next_.manager(), to_operation(move, setting_), outcome, result.handle);
    return wrong ? Found{{Invariant::P3, std::move(*wrong)}} : std::nullopt;
}

// T1: what is exported of all sequences.
Found Worker::audit_exports(const World& here) {
    std::vector<Record> records(setting_.sequences);
    std::vector<const Record*> living;
    for (std::uint32_t index = 0; index < setting_.sequences; ++index) {
        const Shadow::Sequence& sequence = here.shadow().sequences[index];
        if (sequence.is_alive) {
            Record& record = records[index];
            start(record, index, here.shadow().handles[index], 0, std::span(setting_.rules).first(setting_.groups));
            for (std::size_t group = 0; group < setting_.groups; ++group) {
                record.groups[group].holding = sequence.holdings[group];
            }
            living.push_back(&record);
        }
    }
    return find_wrong_exports({here.manager(), no_cells_, living, no_spellings_});
}

Scene Worker::scene_of(const World& world) const { return {world.manager(), no_cells_, {}, no_spellings_}; }

// A1: a prompt that a plan lets in can be fed in chunks now; one that it calls `later` cannot, but an empty Manager
// takes it; one that it calls `never` not even that.
Found Worker::feed(const World& here, const Move& move) {
    const Result result = next_.apply(move);
    VerbCount& count = counts[static_cast<std::size_t>(move.verb)];
    ++(result.error ? count.refused[static_cast<std::size_t>(*result.error)] : count.succeeded);
    if (!result.plan) {
        return Finding{Invariant::A1, "the plan of a prompt in chunks was refused"};
    }
    if (Found wrong = audit_nothing_changed(here, next_, digest_)) {
        return wrong;
    }
    Verdict due = Verdict::ok;
    if (!can_be_fed(here, move)) {
        due = can_be_fed(path_.root(), move) ? Verdict::later : Verdict::never;
    }
    if (due != result.plan->verdict) {
        return Finding{Invariant::A1, text("the plan of the prompt in chunks of ", int{move.number}, " says ",
                                           to_string(result.plan->verdict), ", feeding it says ", to_string(due))};
    }
    return std::nullopt;
}

bool Worker::can_be_fed(const World& from, const Move& move) {
    fed_.assign(from);
    Prompt prompt = fed_.prompt(move);
    prompt.compute = move.number;
    const auto admitted = fed_.manager().admit(prompt);
    if (!admitted) {
        return false;
    }
    const auto length = static_cast<Length>(prompt.tokens.size());
    for (Length done = admitted->cached_tokens + admitted->step.cells; done < length;) {
        const Length cells = std::min<Length>(move.number, length - done);
        const auto chunk = prompt.tokens.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(cells));
        if (!fed_.manager().append(admitted->sequence, chunk)) {
            return false;
        }
        done += cells;
    }
    return true;
}

// The Manager's own plan of an operation that takes blocks.
std::optional<expected<Plan>> Worker::foresee(const Move& move) {
    const Handles& handles = next_.shadow().handles;
    // What a move names beside its sequence is another one only here; of an admission it is the priority.
    if (move.verb == Verb::append_batch) {
        const std::array<Reservation, 2> batch{{{handles[move.sequence], 1}, {handles[move.other], 1}}};
        return next_.manager().plan(batch);
    }
    if (move.verb != Verb::reserve && move.verb != Verb::append) {
        return std::nullopt;
    }
    const Length cells = move.verb == Verb::reserve ? move.number : setting_.length_of(move.tokens);
    const std::array<Reservation, 1> batch{{{handles[move.sequence], cells}}};
    return next_.manager().plan(batch);
}

KVPANE_WRAPS void Worker::note(const Move& move, const std::optional<Error>& error) {
    if (!config_.observe) {
        return;
    }
    Digest digest;
    digest.add(static_cast<std::uint64_t>(move.verb));
    digest.add(error ? 1 + static_cast<std::uint64_t>(*error) : 0);
    const Fingerprint name = fingerprint(setting_, next_);
    digest.add(name.high);
    digest.add(name.low);
    behaviour_ += digest.value();
}

std::vector<Operation> Worker::operations() const {
    std::vector<Operation> operations;
    for (std::uint32_t state = state_; state != 0; state = shared_.origins[state].parent) {
        operations.push_back(to_operation(shared_.origins[state].move, setting_));
    }
    std::reverse(operations.begin(), operations.end());
    if (move_) {
        operations.push_back(to_operation(*move_, setting_));
    }
    return operations;
}

void Worker::report(const Finding& finding, const std::optional<Error>& got, const Due& due) {
    const std::scoped_lock lock(shared_.lock);
    shared_.is_over = true;
    ExploreViolation violation{finding.invariant, finding.what, operations(), {}, {}, got, due.value, entries_due_};
    if (due.errors != 0) {
        violation.due = static_cast<Error>(std::countr_zero(due.errors));
    }
    // Which steps a block waits for shows when they end.
    for (std::size_t i = 0; finding.invariant == Invariant::P1 && i < next_.shadow().n_open; ++i) {
        violation.coda.push_back(to_operation({.verb = Verb::step_end, .number = next_.shadow().open[i]}, setting_));
    }
    // Another thread may be quicker, with a longer trace.
    if (!shared_.violation || violation.trace.size() < shared_.violation->trace.size()) {
        shared_.violation = std::move(violation);
    }
}

}  // namespace kvpane::invariants::explorer

namespace kvpane::invariants {

std::vector<Operation> operations_under_way() {
    return explorer::at_work == nullptr ? std::vector<Operation>{} : explorer::at_work->operations();
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/recorder.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace kvpane::invariants {

namespace {

constexpr Name no_name = journal_format::most_names - 1;

// Whatever is asked for beyond it is refused, or means everything there is, as it is.
Length held(Length number) noexcept { return std::min(number, journal_format::largest_length); }

std::optional<Length> held(std::optional<Length> number) noexcept {
    return number ? std::optional(held(*number)) : std::nullopt;
}

[[gnu::always_inline]] inline Name name_of(const Manager& manager, SequenceHandle handle) noexcept {
    return manager.is_alive(handle) ? std::min(Name{handle.index}, no_name) : no_name;
}

bool has_worked(const Manager& manager) {
    const Statistics& past = manager.statistics();
    return past.admitted > 0 || manager.sequences() > 0 || manager.index_entries() > 0 || manager.pool().step_is_open();
}

JournalHeader header_of(const Manager& manager, const RecorderOptions& options) {
    if (has_worked(manager)) {
        throw std::invalid_argument("a journal must be there before the first operation of its Manager");
    }
    if (manager.config().prefix_cache.ranking != nullptr) {
        throw std::invalid_argument("a journal cannot hold an eviction ranking of the engine's own");
    }
    return {manager.config(), CheckMode::off, options.digests, 0, options.seed};
}

}  // namespace

Recorder::Recorder(Manager& manager, JournalSink& sink, RecorderOptions options)
    : manager_(manager), writer_(sink, header_of(manager, options)) {
    manager.attach(this);
}

Recorder::~Recorder() { manager_.attach(nullptr); }

// What decode steps consist of is written as it comes; all else takes the way over an Operation. Both ways are functions
// of their own, so that the short one saves no registers for the long one.
void Recorder::before(const Manager& manager, const Call& call) {
    if (!ok()) {
        return;
    }
    try {
        if (call.verb == Verb::commit || call.verb == Verb::append) {
            writer_.announce_tokens(call.verb, name_of(manager, call.sequence), call.tokens);
        } else if (call.verb == Verb::reserve && call.batch.size() == 1) {
            const Reservation& one = call.batch.front();
            writer_.announce_reserve(name_of(manager, one.sequence), held(one.cells));
        } else {
            announce(manager, call);
        }
    } catch (const std::exception&) {
        ended_ = true;
    }
}

void Recorder::announce(const Manager& manager, const Call& call) {
    describe(manager, call);
    writer_.announce(operation_);
}

std::uint32_t Recorder::after(const Manager& manager, const Call& call, const CallResult& result) {
    const bool is_birth = call.verb == Verb::admit || call.verb == Verb::fork;
    if (!ok() || is_birth || writer_.wants_digests()) {
        return conclude(manager, call, result);
    }
    writer_.conclude(result.error, 0, result.step->blocks_taken);
    return 0;
}

std::uint32_t Recorder::conclude(const Manager& manager, const Call& call, const CallResult& result) {
    const bool has_child = !result.error && (call.verb == Verb::admit || call.verb == Verb::fork);
    if (!ok() || (has_child && !name_child(call, result))) {
        ended_ = true;
        return std::numeric_limits<std::uint32_t>::max();
    }
    const Length cached_tokens = call.verb == Verb::admit ? result.count : 0;
    const auto digest = writer_.wants_digests() ? std::optional(manager.digest()) : std::nullopt;
    writer_.conclude({result.error, cached_tokens, result.step->blocks_taken, std::nullopt, digest});
    return 0;
}

// Only now is it known how the new sequence is called: the announcement is made again.
bool Recorder::name_child(const Call& call, const CallResult& result) {
    if (result.sequence.index >= no_name) {
        return false;
    }
    (call.verb == Verb::admit ? operation_.sequence : operation_.child) = result.sequence.index;
    writer_.announce(operation_);
    return true;
}

// A new sequence has no name yet.
void Recorder::describe(const Manager& manager, const Call& call) {
    Operation& out = operation_;
    out.verb = call.verb;
    out.sequence = name_of(manager, call.sequence);
    out.child = no_name;
    out.sequences.clear();
    out.counts.clear();
    out.tokens.assign(call.tokens.begin(), call.tokens.end());
    out.blocks.clear();
    switch (call.verb) {
        case Verb::admit:
        case Verb::pin:
        case Verb::unpin: describe(*call.prompt); break;
        case Verb::reserve:
            out.is_batch = true;
            for (const Reservation& reservation : call.batch) {
                out.sequences.push_back(name_of(manager, reservation.sequence));
                out.counts.push_back(held(reservation.cells));
            }
            break;
        case Verb::append_batch:
            for (const SequenceHandle sequence : call.sequences) {
                out.sequences.push_back(name_of(manager, sequence));
            }
            break;
        case Verb::fork: out.at = held(call.at); break;
        case Verb::truncate: out.length = held(call.count); break;
        case Verb::evict: out.count = held(call.count); break;
        case Verb::uncache:
            std::ranges::transform(call.entries, std::back_inserter(out.blocks),
                                   [](Length entry) { return held(entry); });
            break;
        case Verb::release: out.keep_cached = call.keep_cached; break;
        case Verb::step_begin:
        case Verb::step_end: out.step = static_cast<std::uint64_t>(call.step); break;
        default: break;  // nothing but the sequence, if any
    }
}

void Recorder::describe(const Prompt& prompt) {
    Operation& out = operation_;
    out.tokens.assign(prompt.tokens.begin(), prompt.tokens.end());
    out.scope.model = prompt.scope.model;
    out.scope.tenant = prompt.scope.tenant;
    out.scope.lora = prompt.scope.adapter;
    out.scope.salt = prompt.scope.salt;
    out.scope.lora_id = prompt.scope.adapter_id;
    out.extra.resize(prompt.extra.size());
    for (std::size_t i = 0; i < prompt.extra.size(); ++i) {
        out.extra[i].at = held(prompt.extra[i].at);
        out.extra[i].count = held(prompt.extra[i].count);
        out.extra[i].id = prompt.extra[i].id;
    }
    out.compute = held(prompt.compute);
    out.priority = prompt.priority;
    out.priority_steps = prompt.priority_steps;
}

}  // namespace kvpane::invariants

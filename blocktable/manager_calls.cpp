// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include <kvpane/blocktable/manager.h>

// The operations as they are called: each is reported to the observer, if there is one.
namespace kvpane {

namespace {

void fill(CallResult& out, const Step& step) { out.step = &step; }
void fill(CallResult& out, SequenceHandle sequence) { out.sequence = sequence; }
void fill(CallResult& out, Length count) { out.count = count; }
void fill(CallResult& out, const Admission& admission) {
    out.sequence = admission.sequence;
    out.count = admission.cached_tokens;
    out.step = &admission.step;
}

template <class T>
CallResult result_of(const expected<T>& result) {
    CallResult out;
    if (!result) {
        out.error = result.error();
    } else if constexpr (!std::is_void_v<T>) {
        fill(out, *result);
    }
    return out;
}

}  // namespace

// The arguments stay in registers: who has no observer pays for the test alone.
template <class Describe, class Run, class... Arguments>
auto Manager::observed(Describe describe, Run run, Arguments... arguments) {
    if (unseen_ > 0) [[likely]] {
        --unseen_;
        return run(*this, arguments...);
    }
    return reported(describe, run, arguments...);
}

template <class Describe, class Run, class... Arguments>
[[gnu::noinline]] auto Manager::reported(Describe describe, Run run, Arguments... arguments) {
    const Call call = describe(arguments...);
    observer_->before(*this, call);
    auto result = run(*this, arguments...);
    const std::uint32_t unseen = observer_->after(*this, call, result_of(result));
    if (observer_ != nullptr) {  // it may have let go
        unseen_ = unseen;
    }
    return result;
}

expected<Admission> Manager::admit(const Prompt& prompt) {
    return observed([](const Prompt* p) { return Call{.verb = Verb::admit, .prompt = p}; },
                    [](Manager& kv, const Prompt* p) { return kv.do_admit(*p); }, &prompt);
}

expected<Step> Manager::reserve(std::span<const Reservation> batch) {
    return observed([](auto b) { return Call{.verb = Verb::reserve, .batch = b}; },
                    [](Manager& kv, auto b) { return kv.do_reserve(b); }, batch);
}

expected<void> Manager::commit(SequenceHandle sequence, std::span<const Token> tokens) {
    return observed([](auto s, auto t) { return Call{.verb = Verb::commit, .sequence = s, .tokens = t}; },
                    [](Manager& kv, auto s, auto t) { return kv.do_commit(s, t); }, sequence, tokens);
}

expected<void> Manager::cancel(SequenceHandle sequence) {
    return observed([](auto s) { return Call{.verb = Verb::cancel, .sequence = s}; },
                    [](Manager& kv, auto s) { return kv.do_cancel(s); }, sequence);
}

expected<Step> Manager::append(SequenceHandle sequence, std::span<const Token> tokens) {
    return observed([](auto s, auto t) { return Call{.verb = Verb::append, .sequence = s, .tokens = t}; },
                    [](Manager& kv, auto s, auto t) { return kv.do_append(s, t); }, sequence, tokens);
}

expected<Step> Manager::append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens) {
    return observed([](auto s, auto t) { return Call{.verb = Verb::append_batch, .sequences = s, .tokens = t}; },
                    [](Manager& kv, auto s, auto t) { return kv.do_append_batch(s, t); }, sequences, tokens);
}

expected<SequenceHandle> Manager::fork(SequenceHandle parent, std::optional<Length> at) {
    return observed([](auto p, auto a) { return Call{.verb = Verb::fork, .sequence = p, .at = a}; },
                    [](Manager& kv, auto p, auto a) { return kv.do_fork(p, a); }, parent, at);
}

expected<void> Manager::truncate(SequenceHandle sequence, Length length) {
    return observed([](auto s, auto n) { return Call{.verb = Verb::truncate, .sequence = s, .count = n}; },
                    [](Manager& kv, auto s, auto n) { return kv.do_truncate(s, n); }, sequence, length);
}

expected<void> Manager::release(SequenceHandle sequence, bool keep_cached) {
    return observed([](auto s, bool keep) { return Call{.verb = Verb::release, .sequence = s, .keep_cached = keep}; },
                    [](Manager& kv, auto s, bool keep) { return kv.do_release(s, keep); }, sequence, keep_cached);
}

expected<void> Manager::step_begin(StepId step) {
    return observed([](StepId id) { return Call{.verb = Verb::step_begin, .step = id}; },
                    [](Manager& kv, StepId id) { return kv.pool_.step_begin(id); }, step);
}

expected<void> Manager::step_end(StepId step) {
    return observed([](StepId id) { return Call{.verb = Verb::step_end, .step = id}; },
                    [](Manager& kv, StepId id) { return kv.do_step_end(id); }, step);
}

expected<Length> Manager::evict(Length blocks) {
    return observed([](Length n) { return Call{.verb = Verb::evict, .count = n}; },
                    [](Manager& kv, Length n) { return kv.do_evict(n); }, blocks);
}

expected<void> Manager::uncache(SequenceHandle sequence, std::span<const Length> entries) {
    return observed([](auto s, auto e) { return Call{.verb = Verb::uncache, .sequence = s, .entries = e}; },
                    [](Manager& kv, auto s, auto e) { return kv.do_uncache(s, e); }, sequence, entries);
}

expected<Length> Manager::pin(const Prompt& prompt) {
    return observed([](const Prompt* p) { return Call{.verb = Verb::pin, .prompt = p}; },
                    [](Manager& kv, const Prompt* p) { return kv.do_pin(*p); }, &prompt);
}

expected<Length> Manager::unpin(const Prompt& prompt) {
    return observed([](const Prompt* p) { return Call{.verb = Verb::unpin, .prompt = p}; },
                    [](Manager& kv, const Prompt* p) { return kv.do_unpin(*p); }, &prompt);
}

void Manager::reset_cache() {
    observed([] { return Call{.verb = Verb::reset_cache}; },
             [](Manager& kv) {
                 kv.do_reset_cache();
                 return expected<void>();
             });
}

}  // namespace kvpane

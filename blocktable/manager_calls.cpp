// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include <kvpane/blocktable/manager.h>

// The operations as they are called: each is reported to the observer, if there is one.
namespace kvpane {

namespace {

void fill(CallResult& out, const Step& step) { out.step = step; }
void fill(CallResult& out, SequenceHandle sequence) { out.sequence = sequence; }
void fill(CallResult& out, Length count) { out.count = count; }
void fill(CallResult& out, const Admission& admission) {
    out.sequence = admission.sequence;
    out.count = admission.cached_tokens;
    out.step = admission.step;
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

// Kept out of line: who has no observer pays for the test alone.
template <class Run>
[[gnu::noinline]] auto report(Observer& observer, const Manager& manager, const Call& call, Run run,
                              std::uint32_t& unseen) {
    observer.before(manager, call);
    auto result = run();
    unseen = observer.after(manager, call, result_of(result));
    return result;
}

}  // namespace

template <class Describe, class Run>
auto Manager::observed(Describe describe, Run run) {
    if (unseen_ > 0) [[likely]] {
        --unseen_;
        return run();
    }
    std::uint32_t unseen = 0;
    auto result = report(*observer_, *this, describe(), run, unseen);
    if (observer_ != nullptr) {  // it may have let go
        unseen_ = unseen;
    }
    return result;
}

expected<Admission> Manager::admit(const Prompt& prompt) {
    return observed([&] { return Call{.verb = Verb::admit, .prompt = &prompt}; },
                    [&] { return do_admit(prompt); });
}

expected<Step> Manager::reserve(std::span<const Reservation> batch) {
    return observed([&] { return Call{.verb = Verb::reserve, .batch = batch}; },
                    [&] { return do_reserve(batch); });
}

expected<void> Manager::commit(SequenceHandle sequence, std::span<const Token> tokens) {
    return observed([&] { return Call{.verb = Verb::commit, .sequence = sequence, .tokens = tokens}; },
                    [&] { return do_commit(sequence, tokens); });
}

expected<void> Manager::cancel(SequenceHandle sequence) {
    return observed([&] { return Call{.verb = Verb::cancel, .sequence = sequence}; },
                    [&] { return do_cancel(sequence); });
}

expected<Step> Manager::append(SequenceHandle sequence, std::span<const Token> tokens) {
    return observed([&] { return Call{.verb = Verb::append, .sequence = sequence, .tokens = tokens}; },
                    [&] { return do_append(sequence, tokens); });
}

expected<Step> Manager::append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens) {
    return observed([&] { return Call{.verb = Verb::append_batch, .sequences = sequences, .tokens = tokens}; },
                    [&] { return do_append_batch(sequences, tokens); });
}

expected<SequenceHandle> Manager::fork(SequenceHandle parent, std::optional<Length> at) {
    return observed([&] { return Call{.verb = Verb::fork, .sequence = parent, .at = at}; },
                    [&] { return do_fork(parent, at); });
}

expected<void> Manager::truncate(SequenceHandle sequence, Length length) {
    return observed([&] { return Call{.verb = Verb::truncate, .sequence = sequence, .count = length}; },
                    [&] { return do_truncate(sequence, length); });
}

expected<void> Manager::release(SequenceHandle sequence, bool keep_cached) {
    return observed([&] { return Call{.verb = Verb::release, .sequence = sequence, .keep_cached = keep_cached}; },
                    [&] { return do_release(sequence, keep_cached); });
}

expected<void> Manager::step_begin(StepId step) {
    return observed([&] { return Call{.verb = Verb::step_begin, .step = step}; },
                    [&] { return pool_.step_begin(step); });
}

expected<void> Manager::step_end(StepId step) {
    return observed([&] { return Call{.verb = Verb::step_end, .step = step}; },
                    [&] { return do_step_end(step); });
}

expected<Length> Manager::evict(Length blocks) {
    return observed([&] { return Call{.verb = Verb::evict, .count = blocks}; },
                    [&] { return do_evict(blocks); });
}

expected<void> Manager::uncache(SequenceHandle sequence, std::span<const Length> entries) {
    return observed([&] { return Call{.verb = Verb::uncache, .sequence = sequence, .entries = entries}; },
                    [&] { return do_uncache(sequence, entries); });
}

expected<Length> Manager::pin(const Prompt& prompt) {
    return observed([&] { return Call{.verb = Verb::pin, .prompt = &prompt}; },
                    [&] { return do_pin(prompt); });
}

expected<Length> Manager::unpin(const Prompt& prompt) {
    return observed([&] { return Call{.verb = Verb::unpin, .prompt = &prompt}; },
                    [&] { return do_unpin(prompt); });
}

void Manager::reset_cache() {
    observed([] { return Call{.verb = Verb::reset_cache}; },
             [&] {
                 do_reset_cache();
                 return expected<void>();
             });
}

}  // namespace kvpane

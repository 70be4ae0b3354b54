// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include <kvpane/blocktable/manager.h>

// The operations as they are called: each is reported to the observer, if there is one.
namespace kvpane {

namespace {

void fill(Answer& answer, const Step& step) { answer.step = step; }
void fill(Answer& answer, SequenceHandle sequence) { answer.sequence = sequence; }
void fill(Answer& answer, Length count) { answer.count = count; }
void fill(Answer& answer, const Admission& admission) {
    answer.sequence = admission.sequence;
    answer.count = admission.cached_tokens;
    answer.step = admission.step;
}

template <class T>
Answer answer_of(const expected<T>& result) {
    Answer answer;
    if (!result) {
        answer.error = result.error();
    } else if constexpr (!std::is_void_v<T>) {
        fill(answer, *result);
    }
    return answer;
}

// Kept out of line: who has no observer pays for the test alone.
template <class Run>
[[gnu::noinline]] auto observed(const Manager& manager, Observer& observer, const Call& call, Run run) {
    observer.before(manager, call);
    auto result = run();
    observer.after(manager, call, answer_of(result));
    return result;
}

}  // namespace

expected<Admission> Manager::admit(const Prompt& prompt) {
    const auto run = [&] { return do_admit(prompt); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::admit, .prompt = &prompt}, run);
}

expected<Step> Manager::reserve(std::span<const Reservation> batch) {
    const auto run = [&] { return do_reserve(batch); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::reserve, .batch = batch}, run);
}

expected<void> Manager::commit(SequenceHandle sequence, std::span<const Token> tokens) {
    const auto run = [&] { return do_commit(sequence, tokens); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_, {.verb = Verb::commit, .sequence = sequence, .tokens = tokens}, run);
}

expected<void> Manager::cancel(SequenceHandle sequence) {
    const auto run = [&] { return do_cancel(sequence); };
    return observer_ == nullptr ? run()
                                : observed(*this, *observer_, {.verb = Verb::cancel, .sequence = sequence}, run);
}

expected<Step> Manager::append(SequenceHandle sequence, std::span<const Token> tokens) {
    const auto run = [&] { return do_append(sequence, tokens); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_, {.verb = Verb::append, .sequence = sequence, .tokens = tokens}, run);
}

expected<Step> Manager::append_batch(std::span<const SequenceHandle> sequences, std::span<const Token> tokens) {
    const auto run = [&] { return do_append_batch(sequences, tokens); };
    return observer_ == nullptr ? run()
                                : observed(*this, *observer_,
                                           {.verb = Verb::append_batch, .sequences = sequences, .tokens = tokens}, run);
}

expected<SequenceHandle> Manager::fork(SequenceHandle parent, std::optional<Length> at) {
    const auto run = [&] { return do_fork(parent, at); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_, {.verb = Verb::fork, .sequence = parent, .at = at}, run);
}

expected<void> Manager::truncate(SequenceHandle sequence, Length length) {
    const auto run = [&] { return do_truncate(sequence, length); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_, {.verb = Verb::truncate, .sequence = sequence, .length = length}, run);
}

expected<void> Manager::release(SequenceHandle sequence, bool keep_cached) {
    const auto run = [&] { return do_release(sequence, keep_cached); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_,
                          {.verb = Verb::release, .sequence = sequence, .keep_cached = keep_cached}, run);
}

expected<void> Manager::step_begin(StepId step) {
    const auto run = [&] { return pool_.step_begin(step); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::step_begin, .step = step}, run);
}

expected<void> Manager::step_end(StepId step) {
    const auto run = [&] { return do_step_end(step); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::step_end, .step = step}, run);
}

expected<Length> Manager::evict(Length blocks) {
    const auto run = [&] { return do_evict(blocks); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::evict, .count = blocks}, run);
}

expected<void> Manager::uncache(SequenceHandle sequence, std::span<const Length> entries) {
    const auto run = [&] { return do_uncache(sequence, entries); };
    return observer_ == nullptr
               ? run()
               : observed(*this, *observer_, {.verb = Verb::uncache, .sequence = sequence, .entries = entries}, run);
}

expected<Length> Manager::pin(const Prompt& prompt) {
    const auto run = [&] { return do_pin(prompt); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::pin, .prompt = &prompt}, run);
}

expected<Length> Manager::unpin(const Prompt& prompt) {
    const auto run = [&] { return do_unpin(prompt); };
    return observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::unpin, .prompt = &prompt}, run);
}

void Manager::reset_cache() {
    const auto run = [&] {
        do_reset_cache();
        return expected<void>();
    };
    observer_ == nullptr ? run() : observed(*this, *observer_, {.verb = Verb::reset_cache}, run);
}

}  // namespace kvpane

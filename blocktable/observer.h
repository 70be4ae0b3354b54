// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/plan.h>
#include <kvpane/blocktable/step.h>
#include <kvpane/blocktable/verb.h>

namespace kvpane {

class Manager;

// One call of a Manager. Only what its verb takes is set; the spans are the caller's.
struct Call {
    Verb verb = Verb::check;
    SequenceHandle sequence{};                     // of all that work on one sequence
    const Prompt* prompt = nullptr;                // admit, probe, plan, pin, unpin
    std::span<const Reservation> batch{};          // reserve, plan
    std::span<const SequenceHandle> sequences{};   // append_batch
    std::span<const Token> tokens{};               // commit, append, append_batch
    std::span<const Length> entries{};             // uncache
    std::optional<Length> at{};                    // fork
    Length count = 0;                              // plan of a length; evict (blocks)
    Length chunk = 0;                              // plan
    Length length = 0;                             // truncate
    StepId step{};                                 // step_begin, step_end
    bool keep_cached = true;                       // release
};

// What it gave back.
struct Answer {
    std::optional<Error> error{};
    SequenceHandle sequence{};  // admit, fork: the new one
    Length count = 0;           // admit, probe: tokens found; evict, pin, unpin: blocks
    Step step{};                // admit, reserve, append, append_batch
    std::optional<Plan> plan{};
};

// Sees every call of a Manager that it is attached to (Manager::attach), and may ask the Manager anything that is
// const; a judge, a journal. While none is attached, a call costs one test of a pointer more.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // Before anything was changed.
    virtual void before(const Manager& manager, const Call& call) = 0;

    // Afterwards, in whatever way it ended. The step's spans are valid during this call.
    virtual void after(const Manager& manager, const Call& call, const Answer& answer) = 0;
};

}  // namespace kvpane

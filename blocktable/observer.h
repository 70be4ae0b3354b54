// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/step.h>
#include <kvpane/blocktable/verb.h>

namespace kvpane {

class Manager;

// One call of a Manager. Only what its verb takes is set; the spans are the caller's.
struct Call {
    Verb verb = Verb::check;
    SequenceHandle sequence{};                    // of all that work on one sequence
    const Prompt* prompt = nullptr;               // admit, pin, unpin
    std::span<const Reservation> batch{};         // reserve
    std::span<const SequenceHandle> sequences{};  // append_batch
    std::span<const Token> tokens{};              // commit, append, append_batch
    std::span<const Length> entries{};            // uncache
    std::optional<Length> at{};                   // fork
    Length count = 0;                             // truncate (tokens), evict (blocks)
    StepId step{};                                // step_begin, step_end
    bool keep_cached = true;                      // release
};

inline constexpr Step nothing_handed_out{};

// What it gave back.
struct CallResult {
    std::optional<Error> error{};
    SequenceHandle sequence{};               // admit, fork: the new one
    Length count = 0;                        // admit: tokens found; evict, pin, unpin: blocks
    const Step* step = &nothing_handed_out;  // admit, reserve, append, append_batch; not copied: that would cost 3 ns
};

// Sees the operations of the Manager that it is attached to (Manager::attach), and may ask the Manager anything that is
// const: a judge, a journal. While none is attached, a call costs one test more.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // Before anything was changed.
    virtual void before(const Manager& manager, const Call& call) = 0;

    // Afterwards, in whatever way it ended; the step's spans are valid during this call. Returns how many of the next
    // operations it does not want to see: a sample costs next to nothing.
    virtual std::uint32_t after(const Manager& manager, const Call& call, const CallResult& result) = 0;
};

}  // namespace kvpane

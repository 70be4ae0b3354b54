// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kvpane {

// The operations of the Manager. `check` is none of them: in streams of operations it stands for a look at the state.
enum class Verb : std::uint8_t {
    admit, probe, plan, reserve, commit, cancel, append, append_batch, fork, truncate, release,
    step_begin, step_end, evict, uncache, pin, unpin, reset_cache, check,
};

// The name as scenarios and journals spell it.
constexpr std::string_view to_string(Verb verb) noexcept {
    switch (verb) {
        case Verb::admit: return "admit";
        case Verb::probe: return "probe";
        case Verb::plan: return "plan";
        case Verb::reserve: return "reserve";
        case Verb::commit: return "commit";
        case Verb::cancel: return "cancel";
        case Verb::append: return "append";
        case Verb::append_batch: return "append_batch";
        case Verb::fork: return "fork";
        case Verb::truncate: return "truncate";
        case Verb::release: return "release";
        case Verb::step_begin: return "step_begin";
        case Verb::step_end: return "step_end";
        case Verb::evict: return "evict";
        case Verb::uncache: return "uncache";
        case Verb::pin: return "pin";
        case Verb::unpin: return "unpin";
        case Verb::reset_cache: return "reset_cache";
        case Verb::check: return "check";
    }
    return "";
}

}  // namespace kvpane

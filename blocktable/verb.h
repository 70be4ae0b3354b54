// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvpane {

// The operations of the Manager. `check` is none of them: in streams of operations it stands for a look at the state.
enum class Verb : std::uint8_t {
    admit, probe, plan, reserve, commit, cancel, append, append_batch, fork, truncate, release,
    step_begin, step_end, evict, uncache, pin, unpin, reset_cache, check,
};

}  // namespace kvpane

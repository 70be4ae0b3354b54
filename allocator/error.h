// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <tl/expected.hpp>

namespace kvpane {

// Every expected way in which an operation can fail. The set is closed: a switch over it needs no default.
// An operation that returns an Error has changed nothing (Manager::digest() is the same as before).
enum class Error : std::uint8_t {
    later,             // no room now; possible once other sequences end or open device steps finish
    never,             // this very call cannot fit, even with every other sequence gone and the cache empty
    window_evicted,    // a cell that the result needs has left its window
    unknown_sequence,  // the handle is stale, foreign, or was never handed out
    invalid_argument,  // the arguments make no sense whatever the state
    not_reserved,      // more cells were committed than are reserved
    busy,              // the sequence has reserved cells (commit or cancel them first)
};

// The name as scenarios, journals and messages spell it, e.g. "window_evicted".
constexpr std::string_view to_string(Error error) noexcept {
    switch (error) {
        case Error::later: return "later";
        case Error::never: return "never";
        case Error::window_evicted: return "window_evicted";
        case Error::unknown_sequence: return "unknown_sequence";
        case Error::invalid_argument: return "invalid_argument";
        case Error::not_reserved: return "not_reserved";
        case Error::busy: return "busy";
    }
    return "";
}

template <class T>
using expected = tl::expected<T, Error>;

using tl::unexpected;

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <kvpane/allocator/ids.h>

namespace kvpane {

enum class Verdict : std::uint8_t {
    ok,
    later,  // not now; possible once other sequences end or open device steps finish
    never,  // not even with every other sequence gone and the cache empty
};

constexpr std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::ok: return "ok";
        case Verdict::later: return "later";
        case Verdict::never: return "never";
    }
    return "";
}

// What an operation would need.
struct Plan {
    Verdict verdict = Verdict::ok;
    std::int64_t blocks_needed = 0;  // new blocks at the peak, exact, not capped by the pool
    std::int64_t copies = 0;         // block copies, each into one of those blocks
};

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include <kvpane/allocator/ids.h>

namespace kvpane {

// What must be equal beside the tokens for a prefix to be shared. The parts are typed: none can stand for another, and
// nothing is ever concatenated. Empty strings and 0 are absent parts. The views are the caller's.
struct Scope {
    std::string_view model{};
    std::string_view adapter{};
    std::int64_t adapter_id = 0;
    std::string_view tenant{};
    std::string_view salt{};

    friend bool operator==(const Scope&, const Scope&) = default;
};

// External content behind placeholder tokens (multimodal input): positions [at, at + count) stand for content `id`.
struct ExternalContent {
    Length at = 0;
    Length count = 0;
    std::string_view id{};
};

}  // namespace kvpane

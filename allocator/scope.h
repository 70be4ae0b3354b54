// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
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

// The characters of its texts.
inline std::size_t text_size(const Scope& scope) {
    return scope.model.size() + scope.adapter.size() + scope.tenant.size() + scope.salt.size();
}

// A copy of `scope` whose views point into `text`, which is overwritten; it allocates only for long texts.
inline Scope copy_scope(const Scope& scope, std::string& text) {
    text.assign(scope.model).append(scope.adapter).append(scope.tenant).append(scope.salt);
    std::string_view rest = text;
    const auto next = [&rest](std::string_view part) {
        const std::string_view copy = rest.substr(0, part.size());
        rest.remove_prefix(part.size());
        return copy;
    };
    Scope copy = scope;
    copy.model = next(scope.model);
    copy.adapter = next(scope.adapter);
    copy.tenant = next(scope.tenant);
    copy.salt = next(scope.salt);
    return copy;
}

// External content behind placeholder tokens (multimodal input): positions [at, at + count) stand for content `id`.
struct ExternalContent {
    Length at = 0;
    Length count = 0;
    std::string_view id{};
};

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/printable.h>

#include <algorithm>

#include <fmt/format.h>

namespace kvpane::cli {

std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    const bool beyond = first == 0xF4 && byte(1) >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

std::string printable(std::string_view text) {
    std::string spelled;
    spelled.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const auto first = static_cast<unsigned char>(text[0]);
        if (length == 0 || first < 0x20 || first == 0x7F) {
            spelled += fmt::format("\\x{:02X}", first);
        } else {
            spelled += text.substr(0, length);
        }
        text.remove_prefix(std::max(length, std::size_t{1}));
    }
    return spelled;
}

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/ids.h>

namespace kvpane {

// A hash finds a candidate, equality decides: it need not be strong, only quick and well spread.
class ContentHash {
public:
    // With `constant` everything hashes alike: slow, and still right.
    explicit constexpr ContentHash(bool constant) noexcept : constant_(constant) {}

    // The content `tokens` behind a prefix of hash `before`. COST one multiplication for two tokens.
    std::uint64_t tokens(std::uint64_t before, std::span<const Token> tokens) const noexcept {
        std::uint64_t hash = before ^ tokens.size();
        std::size_t i = 0;
        for (; i + 2 <= tokens.size(); i += 2) {
            std::uint64_t pair = 0;
            std::memcpy(&pair, tokens.data() + i, sizeof pair);
            hash = fold(hash ^ pair);
        }
        if (i < tokens.size()) {
            hash = fold(hash ^ static_cast<std::uint32_t>(tokens[i]));
        }
        return constant_ ? 0 : fold(hash);
    }

    std::uint64_t number(std::uint64_t before, std::uint64_t value) const noexcept {
        return constant_ ? 0 : fold(fold(before) ^ value);
    }

    std::uint64_t text(std::uint64_t before, std::string_view text) const noexcept {
        std::uint64_t hash = number(before, text.size());
        for (const char c : text) {
            hash = number(hash, static_cast<unsigned char>(c));
        }
        return hash;
    }

private:
    // Both halves of a 128-bit product, folded: the mixing step of multiplicative hashes.
    KVPANE_WRAPS static std::uint64_t fold(std::uint64_t x) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(x ^ 0x9e3779b97f4a7c15U) * 0xd6e8feb86659fd93U;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }

    bool constant_;
};

}  // namespace kvpane

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

    // The content `tokens` behind a prefix of hash `before`. `before` comes last: of a chain of blocks only one
    // multiplication each has to wait for the one before. COST one multiplication for four tokens.
    std::uint64_t tokens(std::uint64_t before, std::span<const Token> tokens) const noexcept {
        std::uint64_t hash = tokens.size();
        std::size_t i = 0;
        for (; i + 4 <= tokens.size(); i += 4) {
            std::uint64_t first = 0;
            std::uint64_t second = 0;
            std::memcpy(&first, tokens.data() + i, sizeof first);
            std::memcpy(&second, tokens.data() + i + 2, sizeof second);
            hash = multiply(hash ^ first ^ odd_bits, second ^ more_bits);
        }
        for (; i < tokens.size(); ++i) {
            hash = fold(hash ^ static_cast<std::uint32_t>(tokens[i]));
        }
        return constant_ ? 0 : fold(before ^ hash);
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
    // Random bits. A pair of tokens never has its highest bit set, `more_bits` has: the second factor is never 0.
    static constexpr std::uint64_t odd_bits = 0x9e3779b97f4a7c15U;
    static constexpr std::uint64_t more_bits = 0xd6e8feb86659fd93U;

    // Both halves of a 128-bit product, folded: the mixing step of multiplicative hashes.
    KVPANE_WRAPS static std::uint64_t multiply(std::uint64_t x, std::uint64_t y) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(x) * y;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }
    static std::uint64_t fold(std::uint64_t x) noexcept { return multiply(x ^ odd_bits, more_bits); }

    bool constant_;
};

}  // namespace kvpane

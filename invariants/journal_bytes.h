// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <kvpane/invariants/text.h>

// The numbers of a journal as bytes: varints (7 bits a byte, the lowest first), signed ones zigzag.
namespace kvpane::invariants {

inline constexpr std::size_t most_varint_bytes = 10;

// Writes where somebody made room: nothing is checked.
class JournalEncoder {
public:
    explicit JournalEncoder(std::byte* at) noexcept : at_(at) {}

    void byte(std::uint8_t value) noexcept { *at_++ = static_cast<std::byte>(value); }
    void varint(std::uint64_t value) noexcept {
        while (value >= 0x80U) {
            byte(static_cast<std::uint8_t>(value | 0x80U));
            value >>= 7U;
        }
        byte(static_cast<std::uint8_t>(value));
    }
    // Small numbers of either sign stay short: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
    void zigzag(std::int64_t value) noexcept {
        const auto bits = static_cast<std::uint64_t>(value);
        varint((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0U));
    }
    void fixed(std::uint64_t value, std::size_t bytes) noexcept {
        for (std::size_t i = 0; i < bytes; ++i) {
            byte(static_cast<std::uint8_t>(value >> (8U * i)));
        }
    }
    void text(std::string_view text) noexcept {
        varint(text.size());
        if (!text.empty()) {
            std::memcpy(at_, text.data(), text.size());
            at_ += text.size();
        }
    }

    std::byte* at() const noexcept { return at_; }

private:
    std::byte* at_;
};

// Reads within bounds. The first fault is kept, with its place; behind it every value is 0 or empty.
class JournalDecoder {
public:
    // `base` is the offset of the first byte in the journal, for messages.
    JournalDecoder(std::span<const std::byte> bytes, std::uint64_t base) noexcept : bytes_(bytes), base_(base) {}

    std::uint8_t byte(const char* what) {
        if (left() == 0) {
            fail(kvpane::invariants::text("ends within ", what));
            return 0;
        }
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }

    // At most `largest`.
    std::uint64_t varint(const char* what, std::uint64_t largest = ~std::uint64_t{0}) {
        const std::size_t begin = at_;
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint64_t part = byte(what);
            if (shift == 63 && part > 1) {
                break;  // beyond 64 bits, or an eleventh byte
            }
            value |= (part & 0x7FU) << shift;
            if (part < 0x80U) {
                if (value > largest) {
                    refuse(begin, kvpane::invariants::text(what, " is ", value, ", at most ", largest, " makes sense"));
                    return 0;
                }
                return failed() ? 0 : value;
            }
        }
        refuse(begin, kvpane::invariants::text(what, " is no number of 64 bits"));
        return 0;
    }

    std::int64_t zigzag(const char* what) {
        const std::uint64_t bits = varint(what);
        return static_cast<std::int64_t>((bits >> 1U) ^ ((bits & 1U) != 0 ? ~std::uint64_t{0} : 0U));
    }

    // -largest..largest
    std::int64_t zigzag(const char* what, std::int64_t largest) {
        const std::size_t begin = at_;
        const std::int64_t value = zigzag(what);
        if (value > largest || value < -largest) {
            refuse(begin, kvpane::invariants::text(what, " is ", value, ", beyond ", largest));
            return 0;
        }
        return value;
    }

    std::uint64_t fixed(const char* what, std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            value |= std::uint64_t{byte(what)} << (8U * i);
        }
        return failed() ? 0 : value;
    }

    // The number of things that follow, each of `least_bytes` at least: no more than can be there, so that a wrong
    // number cannot ask for memory.
    std::size_t count(const char* what, std::size_t least_bytes) {
        const std::size_t begin = at_;
        const std::uint64_t value = varint(what);
        if (value > left() / least_bytes) {
            refuse(begin, kvpane::invariants::text(what, " is ", value, ", but only ", left(), " bytes follow"));
            return 0;
        }
        return static_cast<std::size_t>(value);
    }

    void text(const char* what, std::string& out) {
        const std::size_t size = count(what, 1);
        out.assign(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
        at_ += size;
    }

    // Notes a fault at the offset `begin` of these bytes, if it is the first.
    void refuse(std::size_t begin, std::string what) {
        if (!failed()) {
            fault_ = std::move(what);
            fault_at_ = base_ + begin;
        }
        at_ = bytes_.size();
    }

    bool failed() const noexcept { return !fault_.empty(); }
    const std::string& fault() const noexcept { return fault_; }
    std::uint64_t fault_at() const noexcept { return fault_at_; }
    std::size_t at() const noexcept { return at_; }
    std::size_t left() const noexcept { return bytes_.size() - at_; }

private:
    void fail(std::string what) { refuse(at_, std::move(what)); }

    std::span<const std::byte> bytes_;
    std::uint64_t base_;
    std::size_t at_ = 0;
    std::string fault_;
    std::uint64_t fault_at_ = 0;
};

}  // namespace kvpane::invariants

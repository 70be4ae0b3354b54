// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_bytes.h>
#include <kvpane/invariants/operation.h>

// One operation and one answer as the bytes of a frame's payload; the writer and the reader meet here.
namespace kvpane::invariants {

// [bytes] An operation and its answer never take more. COST O(pieces of `extra`).
std::size_t most_bytes(const Operation& operation) noexcept;
inline constexpr std::size_t most_token_bytes = 5;  // 32 bits
inline constexpr std::size_t most_number_bytes = 16 * most_varint_bytes;  // without lists and texts

// REQUIRES room for most_bytes(). Only the fields of the verb are written. Returns the place behind what was written:
// an encoder is handed on by value, for one behind a reference has to be stored after every byte (a byte may alias it).
[[nodiscard]] JournalEncoder encode(JournalEncoder out, const Operation& operation) noexcept;
[[nodiscard]] JournalEncoder encode(JournalEncoder out, const Answer& answer) noexcept;

// The arguments of the operations of a decode step, behind their verb: of a reserve of one sequence, of commit and
// append.
[[nodiscard]] inline JournalEncoder encode_count(JournalEncoder out, Name sequence, Length count) noexcept {
    out.varint(sequence);
    out.zigzag(count);
    return out;
}
[[nodiscard]] inline JournalEncoder encode_tokens(JournalEncoder out, std::span<const Token> tokens) noexcept {
    out.varint(tokens.size());
    for (const Token token : tokens) {
        out.varint(static_cast<std::uint32_t>(token));  // a negative one, which is refused, takes five bytes
    }
    return out;
}
[[nodiscard]] inline JournalEncoder encode_growth(JournalEncoder out, Name sequence,
                                                  std::span<const Token> tokens) noexcept {
    out.varint(sequence);
    return encode_tokens(out, tokens);
}

// The beginning of an answer: its head, and the numbers that most have.
[[nodiscard]] inline JournalEncoder encode_answer(JournalEncoder out, std::optional<Error> error, Length cached_tokens,
                                                  std::int64_t blocks_taken, int more = 0) noexcept {
    using namespace journal_format;
    const int head = (error ? static_cast<int>(*error) + 1 : 0) | (cached_tokens != 0 ? has_cached : 0) |
                     (blocks_taken != 0 ? has_taken : 0) | more;
    out.byte(static_cast<std::uint8_t>(head));
    if (cached_tokens != 0) {
        out.zigzag(cached_tokens);
    }
    if (blocks_taken != 0) {
        out.zigzag(blocks_taken);
    }
    return out;
}

// Overwrites all of `operation`; its vectors keep their memory. A value out of range is a fault of the decoder.
void decode(JournalDecoder& in, Operation& operation);

// False when the operation has no answer: the process ended within it.
bool decode(JournalDecoder& in, Answer& answer);

}  // namespace kvpane::invariants

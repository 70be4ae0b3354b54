// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_bytes.h>
#include <kvpane/invariants/operation.h>

// One operation and one answer as the bytes of a frame's payload; the writer and the reader meet here.
namespace kvpane::invariants {

// [bytes] An operation and its answer never take more. COST O(pieces of `extra`).
std::size_t most_bytes(const Operation& operation) noexcept;

// REQUIRES room for most_bytes(). Only the fields of the verb are written. Returns the place behind what was written:
// an encoder is handed on by value, for one behind a reference has to be stored after every byte (a byte may alias it).
[[nodiscard]] JournalEncoder encode(JournalEncoder out, const Operation& operation) noexcept;
[[nodiscard]] JournalEncoder encode(JournalEncoder out, const Answer& answer) noexcept;

// Overwrites all of `operation`; its vectors keep their memory. A value out of range is a fault of the decoder.
void decode(JournalDecoder& in, Operation& operation);

// False when the operation has no answer: the process ended within it.
bool decode(JournalDecoder& in, Answer& answer);

}  // namespace kvpane::invariants

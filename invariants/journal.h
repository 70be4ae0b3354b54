// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kvpane/allocator/error.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/plan.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>

// A journal: every operation of a run, with what came of it, so that the run can be made again. The bytes are described
// in docs/journal.md; journal_writer.h writes them, journal_reader.h reads them.
namespace kvpane::invariants {

// What a journal begins with.
struct JournalHeader {
    // Of the Manager. Room made in advance (expected_sequences, expected_length) decides nothing and is not kept; a
    // `ranking` of one's own cannot be written down: the reader refuses a journal of such a Manager.
    Config config;
    CheckMode check = CheckMode::off;  // how often the judge looked
    bool digests = false;              // each answer has the digest of the state
    std::uint64_t source_digest = 0;   // of the configuration file; 0 = none
    std::uint64_t seed = 0;            // that the operations were drawn from
};

// What came of an operation, as far as it is written down.
struct Answer {
    std::optional<Error> error;
    Length cached_tokens = 0;       // admit, probe
    std::int64_t blocks_taken = 0;  // in all groups
    std::optional<Plan> plan;       // plan
    std::optional<std::uint64_t> digest;

    friend bool operator==(const Answer& a, const Answer& b) noexcept {
        const auto same = [](const Plan& x, const Plan& y) {
            return x.verdict == y.verdict && x.blocks_needed == y.blocks_needed && x.copies == y.copies;
        };
        return a.error == b.error && a.cached_tokens == b.cached_tokens && a.blocks_taken == b.blocks_taken &&
               a.plan.has_value() == b.plan.has_value() && (!a.plan || same(*a.plan, *b.plan)) && a.digest == b.digest;
    }
};

inline Answer answer_of(const Outcome& outcome, std::optional<std::uint64_t> digest = std::nullopt) noexcept {
    return {outcome.error, outcome.cached_tokens, outcome.step.blocks_taken, outcome.plan, digest};
}

// Where a journal stops making sense, and why. What stands before it is sound.
struct JournalError {
    enum class Kind : std::uint8_t {
        not_a_journal,   // other bytes at the start
        other_version,   // of another version of kvpane
        cut_off,         // ends within the header or a frame, as after a crash
        wrong_checksum,  // some byte has changed
        out_of_range,    // a value that no operation or configuration has
        out_of_order,    // a frame is missing, or stands twice
    };
    Kind kind = Kind::not_a_journal;
    std::uint64_t offset = 0;  // [bytes] from the start of the journal
    std::string what;          // one sentence
};

// The format. All numbers of a fixed width are little-endian.
namespace journal_format {

// No text starts like this, and every change of line ends breaks it.
inline constexpr std::array<unsigned char, 8> magic = {0x89, 'K', 'V', 'J', '\r', '\n', 0x1A, '\n'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t prologue_bytes = 16;  // magic, version, length of the body
inline constexpr std::size_t checksum_bytes = 8;
inline constexpr std::size_t most_body_bytes = 1U << 20U;

inline constexpr std::uint32_t frame_mark = 0x4D52464BU;     // "KFRM"
inline constexpr std::size_t frame_head_bytes = 20;          // mark, length of the payload, first number, operations
inline constexpr std::size_t usual_frame_bytes = 1U << 16U;  // a frame ends with the operation that reaches it
inline constexpr std::size_t most_payload_bytes = 1U << 30U;

// Names index arrays and lengths are added up: an operation beyond these is refused.
inline constexpr Name most_names = 1U << 20U;
inline constexpr Length largest_length = 1'000'000'000'000'000;

// The head of an answer: the error (0 = none) in the low bits, then what follows it.
enum AnswerBit : std::uint8_t {
    error_bits = 0x07,
    has_cached = 0x08,
    has_taken = 0x10,
    has_plan = 0x20,
    has_digest = 0x40,
    unanswered = 0x80,  // the process ended within the operation
};

// Which parts of a prompt follow its tokens.
enum PromptBit : std::uint8_t {
    has_scope = 0x01,
    has_extra = 0x02,
    has_compute = 0x04,
    has_priority = 0x08,
    has_priority_steps = 0x10,
};

enum ConfigBit : std::uint8_t {
    cache_enabled = 0x01,
    by_token = 0x02,
    by_frequency = 0x04,
    constant_hash = 0x08,
    int32_slots = 0x10,
    own_ranking = 0x20,
    release_on_reserve = 0x40,
};

}  // namespace journal_format

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_bytes.h>
#include <kvpane/invariants/journal_operation.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// Where the bytes of a journal go.
class JournalSink {
public:
    JournalSink() = default;
    JournalSink(const JournalSink&) = delete;
    JournalSink& operator=(const JournalSink&) = delete;
    virtual ~JournalSink() = default;

    // Takes all of the bytes, or says that it cannot; then it is not called again.
    virtual bool write(std::span<const std::byte> bytes) noexcept = 0;
};

class MemorySink : public JournalSink {
public:
    bool write(std::span<const std::byte> bytes) noexcept override;
    const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

// Writes a journal: each operation is announced before it runs and answered behind it, so that one in which the process
// dies can still be written down. Knows nothing of who runs the operations.
//
// What is recorded lies in memory until a frame of 64 KiB is full, flush() is called, or the writer goes; frames are
// written whole, one call of the sink each. In steady state nothing is allocated.
class JournalWriter {
public:
    // Writes the header. The sink must live as long. REQUIRES validate(header.config) finds nothing.
    // ERRORS std::length_error when the groups' names make a header of more than 1 MiB.
    JournalWriter(JournalSink& sink, const JournalHeader& header);
    ~JournalWriter() { flush(); }
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    // An operation, then what came of it. REQUIRES names < journal_format::most_names, lengths at most
    // journal_format::largest_length: beyond that the reader refuses the journal. COST O(bytes), about
    // 15 ns for each operation of a decode step of one token.
    void record(const Operation& operation, const Answer& answer) {
        announce(operation);
        conclude(answer);
    }
    void announce(const Operation& operation);     // replaces one that was announced and not concluded
    void conclude(const Answer& answer) noexcept;  // REQUIRES an announced operation

    // The same for what decode steps consist of, inline and from its parts: a reserve of one sequence; commit or append; an answer
    // without a plan and a digest.
    void announce_reserve(Name sequence, Length cells) {
        announce_within(most_number_bytes, Verb::reserve,
                        [&](JournalEncoder out) { return encode_count(out, sequence, cells); });
    }
    void announce_tokens(Verb verb, Name sequence, std::span<const Token> tokens) {
        announce_within(most_number_bytes + tokens.size() * most_token_bytes, verb,
                        [&](JournalEncoder out) { return encode_growth(out, sequence, tokens); });
    }
    void conclude(std::optional<Error> error, Length cached_tokens, std::int64_t blocks_taken) noexcept {
        if (error || cached_tokens != 0 || blocks_taken != 0) {
            return conclude_in_full(error, cached_tokens, blocks_taken);
        }
        *announced_++ = std::byte{0};  // what most answers are: it went well, and nothing else is to say
        conclude_at(announced_);
    }

    // Writes the frame that was begun; an announced operation stays for the next.
    void flush() noexcept;

    // For a signal handler of a process that dies: writes all there is, an operation that was announced and not
    // concluded included, and closes the journal. Allocates nothing.
    void last_words() noexcept;

    // Whether each answer should have the digest of the state, as the header says.
    bool wants_digests() const noexcept { return digests_; }

    // False once the sink has refused something: the journal ends before it.
    bool ok() const noexcept { return ok_; }
    std::int64_t operations() const noexcept { return operations_; }   // concluded
    std::uint64_t bytes_written() const noexcept { return written_; }  // given to the sink

private:
    void put(std::span<const std::byte> bytes) noexcept;
    void close_frame() noexcept;
    void make_room(std::size_t bytes);
    template <class Encode>
    void announce_within(std::size_t bytes, Verb verb, Encode encode) {
        if (bytes > room()) [[unlikely]] {
            make_room(bytes);
        }
        JournalEncoder out(concluded_);
        out.byte(static_cast<std::uint8_t>(verb));
        announced_ = encode(out).at();
    }
    std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - concluded_); }            // [bytes]
    std::size_t used() const noexcept { return static_cast<std::size_t>(concluded_ - buffer_.data()); }  // [bytes]
    void begin_frame() noexcept;
    void conclude_in_full(std::optional<Error> error, Length cached_tokens, std::int64_t blocks_taken) noexcept;
    void conclude_at(std::byte* end) noexcept {
        concluded_ = end;
        announced_ = end;
        ++in_frame_;
        ++operations_;
        if (concluded_ >= full_) [[unlikely]] {
            flush();
        }
    }

    JournalSink& sink_;
    std::vector<std::byte> buffer_;  // the frame in the making, from its head on
    std::byte* concluded_;           // the end of what is concluded of it
    std::byte* announced_;           // the end of an operation that is announced behind that; there again = none is
    const std::byte* full_;          // a frame that reaches this place is written
    const std::byte* end_;           // of the room for operations and answers: a checksum fits behind it
    std::uint32_t in_frame_ = 0;     // operations
    std::int64_t first_ = 1;         // the number of the first of them
    std::int64_t operations_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t salt_ = 0;  // the checksum of the header: frames of another journal do not fit
    bool digests_;
    bool ok_ = true;
    bool closed_ = false;
};

}  // namespace kvpane::invariants

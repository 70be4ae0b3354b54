// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/prefix_tree.h>

namespace kvpane {

// A change of what the prefix cache can serve, for routers that mirror it.
struct CacheEvent {
    enum class Kind : std::uint8_t {
        stored,   // the first copy of this content appeared in this group
        removed,  // the last one is gone
        cleared,  // the whole index is empty now
    };
    Kind kind = Kind::stored;
    GroupId group{0};
    std::uint64_t number = 0;         // from 1, without gaps: a missing number is a lost event
    std::uint64_t content = 0;        // names the content as long as any event refers to it; never used twice
    std::uint64_t parent = 0;         // the content before it; of the first block a number of the scope's own
    std::span<const Token> tokens{};  // stored only: [1..block_size]
    Scope scope{};                    // stored only
};

// The latest events, in a ring of fixed size: a reader that is too slow sees a gap in the numbers, nothing else stops.
class CacheEvents {
public:
    CacheEvents(std::size_t capacity, std::uint32_t block_size);

    // A copy owns the texts that its events point into. COST O(events held).
    CacheEvents(const CacheEvents& other);
    CacheEvents(CacheEvents&&) = default;
    CacheEvents& operator=(const CacheEvents& other);
    CacheEvents& operator=(CacheEvents&&) = default;
    ~CacheEvents() = default;

    // After this, events with such a scope need no memory. COST O(capacity) when it is longer than any before.
    void make_room(const Scope& scope);

    // COST O(tokens). A full ring loses its oldest event. Needs no memory for scopes that there is room for.
    void emit(CacheEvent event);

    // The number that the next event gets; events [first(), next()) can be read.
    std::uint64_t next() const noexcept { return next_; }
    std::uint64_t first() const noexcept { return next_ - held_; }

    // REQUIRES first() <= number < next(). Its tokens and scope are valid until the next change.
    CacheEvent read(std::uint64_t number) const noexcept;

    // Running totals, of blocks; `cleared` counts the blocks that were forgotten.
    struct Totals {
        std::uint64_t stored = 0;
        std::uint64_t removed = 0;
        std::uint64_t cleared = 0;
    };
    const Totals& totals() const noexcept { return totals_; }
    void count_cleared(std::uint64_t blocks) noexcept { totals_.cleared += blocks; }

private:
    friend struct Tamper;

    std::size_t slot(std::uint64_t number) const noexcept { return number % events_.size(); }
    void keep(std::size_t at, CacheEvent event);

    std::vector<CacheEvent> events_;       // [capacity]
    std::vector<Token> tokens_;            // [capacity, block_size]
    std::vector<std::uint32_t> n_tokens_;  // [capacity]
    std::vector<std::string> scopes_;      // [capacity] the text that the event's scope points into
    std::size_t room_ = 0;             // characters that each of them has room for
    std::uint32_t block_size_;
    std::uint64_t next_ = 1;
    std::uint64_t held_ = 0;
    Totals totals_;
};

}  // namespace kvpane

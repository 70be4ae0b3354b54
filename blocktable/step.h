// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/scope.h>

// What the operations of the Manager take and hand out.
namespace kvpane {

// One sequence's share of a reserve() call.
struct Reservation {
    SequenceHandle sequence;
    Length cells = 1;
};

// A prompt to admit.
struct Prompt {
    std::span<const Token> tokens;             // [length], at least one
    std::optional<Length> compute{};           // commit only the first so many uncached tokens; nothing = all
    Scope scope{};                             // what must be equal beside the tokens to share a prefix
    std::span<const ExternalContent> extra{};  // ascending, apart, within the tokens
    std::int64_t priority = 0;         // of its cached blocks: lower ones are evicted first; each level costs a list
    std::uint64_t priority_steps = 0;  // after so many ended device steps the priority is 0 again; 0 = it stays
};

// One copy-on-write: the engine copies the first `cells` cells of `source` to `destination` in the layers of `group`,
// in the order in which copies were handed out and before it writes any slot of the same Step. No block is the source
// of one copy and the destination of another within one Step.
struct BlockCopy {
    GroupId group;
    BlockId source;
    BlockId destination;
    std::uint32_t cells;

    friend bool operator==(const BlockCopy&, const BlockCopy&) = default;
};

// What an operation handed out. The spans point into the Manager and stay valid until its next non-const call.
struct Step {
    std::span<const Slot> slots;        // [n_groups, cells] of each reservation in order, positions ascending
    std::span<const BlockCopy> copies;  // [n_copies]
    Length cells = 0;                   // of the whole batch
    std::int64_t blocks_taken = 0;      // in all groups, destinations of copies included

    // [cells]
    std::span<const Slot> slots_of(GroupId group) const {
        return slots.subspan(to_index(group) * static_cast<std::size_t>(cells), static_cast<std::size_t>(cells));
    }
};

}  // namespace kvpane

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/explorer_limits.h>
#include <kvpane/invariants/explorer_spelling.h>

namespace kvpane::invariants::explorer {

using Handles = std::array<SequenceHandle, most_sequences>;

// Everything that a Manager answers about its state, copied into fixed arrays: what the audit looks at, and what the
// fingerprint is made of. Unused parts are zero, so that equal states compare equal byte by byte.
struct Snapshot {
    struct Block {
        std::uint64_t serial = 0;  // of its content's node
        ContentId content = no_content;
        Prefix prefix = 0;         // that its content ends, read from the tree of the index
        std::uint8_t cells = 0;    // of its content
        std::uint8_t group = 0;    // of its content
        std::uint8_t age = 0;      // older copies of the same content in the index
        std::uint8_t refs = 0;
        std::uint8_t pins = 0;
        std::uint8_t waits = 0;    // open steps that it waits for, the oldest ones
        std::uint8_t priority = 0; // of a block with content
        BlockState state = BlockState::free;
        bool is_found = false;     // under its content

        friend bool operator==(const Block&, const Block&) = default;
    };
    struct Table {
        std::array<std::uint8_t, most_length> entries{};
        std::uint8_t size = 0;
        std::uint8_t run_begin = 0;
        std::uint8_t run = 0;  // entries of the run
        std::uint8_t first_resident = 0;

        friend bool operator==(const Table&, const Table&) = default;
    };
    struct Sequence {
        std::array<Table, most_groups> tables{};
        bool is_alive = false;
        std::uint8_t length = 0;
        std::uint8_t reserved = 0;

        friend bool operator==(const Sequence&, const Sequence&) = default;
    };
    // A walk that found more blocks than there are stops at `overflow`.
    struct Walk {
        static constexpr std::uint8_t overflow = most_blocks + 1;
        std::array<std::uint8_t, most_blocks + 1> blocks{};
        std::uint8_t size = 0;

        friend bool operator==(const Walk&, const Walk&) = default;
    };

    std::array<Block, most_blocks + 1> blocks{};
    std::array<Sequence, most_sequences> sequences{};
    Walk queue;   // taken next first
    Walk fenced;  // given up first, first
    std::array<std::uint32_t, 4> states{};  // the pool's counters, by BlockState
    std::uint32_t idle = 0;
    std::uint32_t pinned = 0;
    std::uint32_t alive = 0;
    std::uint32_t index_entries = 0;
    std::uint32_t nodes = 0;  // of the tree
    bool is_step_open = false;

    const Block& at(std::size_t block) const { return blocks[block <= most_blocks ? block : 0]; }

    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// COST O(blocks + table entries). REQUIRES a configuration within the limits.
Snapshot look(const Manager& manager, const Handles& handles, std::uint32_t sequences, const Spelling& spelling);

}  // namespace kvpane::invariants::explorer

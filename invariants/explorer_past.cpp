// SPDX-License-Identifier: Apache-2.0
// What of the past decides the future and stands in no table: how old an entry is, how dear, and what may still be read.
#include <algorithm>

#include <kvpane/invariants/explorer_due.h>
#include <kvpane/invariants/explorer_world.h>

namespace kvpane::invariants::explorer {

// A hit by a dearer request raises the priority of what it takes, for as long as the request says.
void World::raise_priorities(const Move& move) {
    if (move.verb != Verb::admit || move.other == 0) {
        return;
    }
    const Length length = setting_.length_of(move.tokens);
    const Hit hit = longest_hit(setting_, *this, move.tokens, length, length - 1);
    for (std::size_t group = 0; group < setting_.groups; ++group) {
        for (const std::uint8_t block : hit.blocks[group]) {
            if (block != 0 && shadow_.ranks[block].priority < move.other) {
                shadow_.ranks[block] = {move.other, setting_.priority_steps};
            }
        }
    }
}

// With the last of its steps a priority is 0 again.
void World::end_priorities() {
    for (Shadow::Rank& rank : shadow_.ranks) {
        if (rank.steps > 0 && --rank.steps == 0) {
            rank.priority = 0;
        }
    }
}

// Which entry is older decides which one a hit takes. A block whose content this operation committed entered the index
// in it, even if it was known by the same content before: it was taken and filled anew. With it comes the priority.
void World::stamp_new_entries(const Snapshot& before) {
    const auto stamp = [&](std::size_t block) {
        const std::uint8_t priority = published_for_[block];
        shadow_.stamps[block] = ++shadow_.last_stamp;
        shadow_.ranks[block] = {priority, priority > 0 ? setting_.priority_steps : std::uint8_t{0}};
    };
    for (std::size_t block = 1; block <= setting_.blocks; ++block) {
        const Snapshot::Block& was = before.blocks[block];
        const Snapshot::Block& is = seen_.blocks[block];
        if (is.content == no_content) {
            const bool was_idle = was.state == BlockState::free || was.state == BlockState::cached;
            const bool keeps_place = was_idle && is.state == BlockState::free && (handed_out_ >> block & 1U) == 0;
            shadow_.stamps[block] = 0;
            shadow_.ranks[block] = {keeps_place ? shadow_.ranks[block].priority : std::uint8_t{0}, 0};
        } else if (was.content == no_content || was.prefix != is.prefix || was.group != is.group) {
            stamp(block);
        }
    }
    for (std::size_t i = 0; i < n_written_; ++i) {
        if (seen_.blocks[written_[i]].content != no_content) {
            stamp(written_[i]);
        }
    }
}

// Cells that neither a sequence nor a hit can read must not be read: so that the cells follow from the rest of the
// state, and reading them is seen.
void World::poison_what_nobody_reads() {
    std::array<Length, most_blocks + 1> readable{};
    for (std::size_t block = 1; block <= setting_.blocks; ++block) {
        readable[block] = seen_.blocks[block].cells;
    }
    for (std::size_t i = 0; i < setting_.sequences; ++i) {
        const Shadow::Sequence& sequence = shadow_.sequences[i];
        for (std::size_t group = 0; sequence.is_alive && group < setting_.groups; ++group) {
            const Snapshot::Table& table = seen_.sequences[i].tables[group];
            for (std::size_t entry = 0; entry < std::min<std::size_t>(table.size, most_length); ++entry) {
                const std::size_t block = std::min<std::size_t>(table.entries[entry], most_blocks);
                const Length cells = sequence.length - static_cast<Length>(entry) * setting_.block_size;
                readable[block] = std::max(readable[block], std::min(cells, setting_.block_size));
            }
        }
    }
    for (std::size_t block = 1; block <= setting_.blocks; ++block) {
        auto& cells = shadow_.cells[block];
        std::fill(cells.begin() + std::clamp<Length>(readable[block], 0, setting_.block_size), cells.end(), 0U);
    }
}

}  // namespace kvpane::invariants::explorer

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_due.h>

#include <algorithm>

namespace kvpane::invariants::explorer {

namespace {

using Counts = std::array<std::int32_t, most_blocks + 1>;

// Prefixes are compared by their numbers: blocks of another length have other numbers.
struct Contents {
    const Setting& setting;
    const World& world;

    // The oldest block of the group that holds the cells of `prefix` from the beginning of its last block on, among
    // others; `cells` are those that it must have. 0 when there is none.
    std::uint8_t oldest(std::size_t group, Prefix prefix, Length cells) const {
        std::uint8_t best = 0;
        for (std::uint8_t block = 1; block <= setting.blocks; ++block) {
            const Snapshot::Block& seen = world.seen().blocks[block];
            if (seen.content == no_content || seen.group != group || Length{seen.cells} < cells) {
                continue;
            }
            if (setting.beginning(seen.prefix, seen.cells, cells) == prefix &&
                (best == 0 || world.shadow().stamps[block] < world.shadow().stamps[best])) {
                best = block;
            }
        }
        return best;
    }

    // Whether a cut serves in a group; notes the blocks.
    bool serves(std::size_t group, Prefix prompt, Length length, Length cut, Hit& hit) const {
        const Length whole = cut / setting.block_size;
        auto& blocks = hit.blocks[group];
        blocks = {};
        for (Length block = 0; block < whole; ++block) {
            if ((setting.hit_needs[group][static_cast<std::size_t>(cut)] >> block & 1U) == 0) {
                continue;
            }
            const Prefix wanted = setting.beginning(prompt, length, (block + 1) * setting.block_size);
            blocks[static_cast<std::size_t>(block)] = oldest(group, wanted, setting.block_size);
            if (blocks[static_cast<std::size_t>(block)] == 0) {
                return false;
            }
        }
        if (const Length part = cut % setting.block_size; part != 0) {
            blocks[static_cast<std::size_t>(whole)] = oldest(group, setting.beginning(prompt, length, cut), part);
            return blocks[static_cast<std::size_t>(whole)] != 0;
        }
        return true;
    }
};

// Plays reservations through on paper, sequence by sequence: first what the windows give up, then what is taken.
class OnPaper {
public:
    // `holders` and `room` as they are before. What is given up is room, unless a step is open.
    OnPaper(const Setting& setting, const World& world, const Counts& holders, std::int64_t room, bool given_up_is_room)
        : setting_(setting), world_(world), holders_(holders), room_(room), given_up_is_room_(given_up_is_room) {}

    void reserve(std::size_t index, Length cells) {
        for (std::size_t group = 0; group < setting_.groups; ++group) {
            release(index, group);
        }
        for (std::size_t group = 0; group < setting_.groups; ++group) {
            take(index, group, cells);
        }
        fits_ = fits_ && room_ >= 0;
    }

    bool fits() const { return fits_; }
    std::int64_t blocks = 0;
    std::int64_t copies = 0;
    std::int64_t copied_cells = 0;

private:
    void release(std::size_t index, std::size_t group) {
        const Shadow::Sequence& sequence = world_.shadow().sequences[index];
        spec::Holding after = sequence.holdings[group];
        after.release_before(sequence.length);
        const Snapshot::Table& table = world_.seen().sequences[index].tables[group];
        for (std::size_t entry = 0; entry < table.size; ++entry) {
            const std::uint8_t block = table.entries[entry];
            if (block != 0 && !after.has_block(static_cast<Length>(entry)) && --holders_[block] == 0 &&
                given_up_is_room_ && !is_source_[block]) {
                ++room_;
            }
        }
    }

    void take(std::size_t index, std::size_t group, Length cells) {
        const Shadow::Sequence& sequence = world_.shadow().sequences[index];
        spec::Holding holding = sequence.holdings[group];
        holding.release_before(sequence.length);
        const Length tail = holding.end / setting_.block_size;  // the block of the first new cell
        const bool has_tail = holding.has_block(tail);
        std::int64_t taken = spec::blocks_for(holding.end + cells, holding.rule) - tail - (has_tail ? 1 : 0);
        const Snapshot::Table& table = world_.seen().sequences[index].tables[group];
        const std::uint8_t block = has_tail ? table.entries[static_cast<std::size_t>(tail)] : std::uint8_t{0};
        if (has_tail && holders_[block] > 1) {
            --holders_[block];
            is_source_[block] = true;  // joins the queue behind the call: no room for it
            ++taken;
            ++copies;
            copied_cells += holding.end % setting_.block_size;
        }
        blocks += taken;
        room_ -= taken;
    }

    const Setting& setting_;
    const World& world_;
    Counts holders_;
    std::array<bool, most_blocks + 1> is_source_{};
    std::int64_t room_;
    bool given_up_is_room_;
    bool fits_ = true;
};

struct Asked {
    std::size_t index;
    Length cells;
};

void due_to_reserve(const Setting& setting, const World& world, std::span<const Asked> asked, bool reserves, Due& due) {
    Counts now{};
    Counts alone{};
    std::int64_t held_alone = 0;
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& seen = world.seen().blocks[block];
        now[block] = seen.refs + (seen.pins > 0 ? 1 : 0);
    }
    bool is_too_long = false;
    for (const Asked& one : asked) {
        const Shadow::Sequence& sequence = world.shadow().sequences[one.index];
        is_too_long = is_too_long || sequence.length + sequence.reserved + one.cells > setting.limit;
        due.cells += one.cells;
        if (!reserves && sequence.reserved > 0) {
            due.errors |= Due::bit(Error::busy);
        }
        for (std::size_t group = 0; group < setting.groups; ++group) {
            const Snapshot::Table& table = world.seen().sequences[one.index].tables[group];
            for (std::size_t entry = 0; entry < table.size; ++entry) {
                const std::uint8_t block = table.entries[entry];
                held_alone += block != 0 && alone[block]++ == 0 ? 1 : 0;
            }
        }
    }
    if (is_too_long) {
        due.errors |= Due::bit(Error::never);
        return;
    }
    OnPaper paper(setting, world, now, world.seen().idle, !world.seen().is_step_open);
    OnPaper paper_alone(setting, world, alone, Length{setting.blocks} - held_alone, true);
    for (const Asked& one : asked) {
        paper.reserve(one.index, one.cells);
        paper_alone.reserve(one.index, one.cells);
    }
    if (!paper.fits()) {
        due.errors |= Due::bit(paper_alone.fits() ? Error::later : Error::never);
    }
    due.takes = true;
    due.blocks = paper.blocks;
    due.copies = paper.copies;
    due.copied_cells = paper.copied_cells;
}

void due_to_admit(const Setting& setting, const World& world, const Move& move, Due& due) {
    const Snapshot& seen = world.seen();
    const Length length = setting.length_of(move.tokens);
    if (length > setting.limit) {
        due.errors = Due::bit(Error::never);
        return;
    }
    due.hit = longest_hit(setting, world, move.tokens, length, length - 1);
    const Length hit = due.hit.tokens;
    const bool is_partial = move.verb == Verb::admit && move.number > 0;
    const Length asked = is_partial ? std::min<Length>(move.number - 1, length) : length;
    due.cells = std::min(length - hit, asked);
    due.value = hit;
    std::int64_t room = seen.idle;
    std::int64_t cold = 0;
    for (std::size_t group = 0; group < setting.groups; ++group) {
        const spec::Rule& rule = setting.rules[group];
        spec::Holding after{rule, 0, hit};
        if (due.cells > 0) {
            after.release_before(hit);
        }
        const Length whole = hit / setting.block_size;
        for (Length entry = 0; entry <= whole && entry < Length{most_length}; ++entry) {
            const std::uint8_t block = due.hit.blocks[group][static_cast<std::size_t>(entry)];
            const Snapshot::Block& at = seen.blocks[block];
            if (block == 0 || at.refs > 0 || at.pins > 0) {
                continue;
            }
            // An idle hit is no room, but what the first query does not see is given up before anything is taken.
            room -= at.waits == 0 ? 1 : 0;
            room += entry < whole && !after.has_block(entry) && !seen.is_step_open ? 1 : 0;
        }
        due.blocks += spec::blocks_for(hit + due.cells, rule) - whole;
        due.copies += hit % setting.block_size != 0 ? 1 : 0;
        due.copied_cells += hit % setting.block_size;
        cold += spec::blocks_for(asked, rule);
    }
    due.takes = true;
    const std::int64_t left = room - due.blocks;
    if (left < 0 || left < (seen.alive > 0 ? setting.watermark : 0)) {
        due.errors = Due::bit(cold > std::int64_t{setting.blocks} ? Error::never : Error::later);
    }
}

void due_to_cut(const Setting& setting, const Shadow::Sequence& sequence, Length length, Due& due) {
    if (length > sequence.length) {
        due.errors |= Due::bit(Error::invalid_argument);
        return;
    }
    for (std::size_t group = 0; group < setting.groups; ++group) {
        if (!sequence.holdings[group].can_cut(length)) {
            due.errors |= Due::bit(Error::window_evicted);
        }
    }
}

// How many idle blocks are known by a content and not pinned.
Length evictable(const Snapshot& seen, const Setting& setting) {
    return std::count_if(seen.blocks.begin() + 1, seen.blocks.begin() + 1 + setting.blocks,
                         [](const Snapshot::Block& b) { return b.state == BlockState::cached && b.pins == 0; });
}

void due_to_pin(const Setting& setting, const World& world, const Move& move, Due& due) {
    const Length length = setting.length_of(move.tokens);
    due.hit = longest_hit(setting, world, move.tokens, length, length);
    Length all = 0;
    Length unpinned = 0;
    for (std::size_t group = 0; group < setting.groups; ++group) {
        for (const std::uint8_t block : due.hit.blocks[group]) {
            all += block != 0 ? 1 : 0;
            unpinned += block != 0 && world.seen().blocks[block].pins == 0 ? 1 : 0;
        }
    }
    due.value = all;
    if (move.verb == Verb::unpin && (all == 0 || unpinned > 0)) {
        due.errors = Due::bit(Error::invalid_argument);
    }
    if (move.verb == Verb::pin && setting.most_pinned > 0 && world.seen().pinned + unpinned > setting.most_pinned) {
        due.errors = Due::bit(Error::later);
    }
}

bool is_open(const Shadow& shadow, std::uint8_t step) {
    const auto end = shadow.open.begin() + shadow.n_open;
    return std::find(shadow.open.begin(), end, step) != end;
}

}  // namespace

Hit longest_hit(const Setting& setting, const World& world, Prefix prompt, Length length, Length most) {
    Hit hit;
    const Contents contents{setting, world};
    for (Length cut = setting.is_cached && world.seen().index_entries > 0 ? most : 0; cut > 0; --cut) {
        if (cut % setting.block_size != 0 && !setting.by_token) {
            continue;
        }
        bool all = true;
        for (std::size_t group = 0; group < setting.groups && all; ++group) {
            all = contents.serves(group, prompt, length, cut, hit);
        }
        if (all) {
            hit.tokens = cut;
            return hit;
        }
    }
    return {};
}

Due due(const Setting& setting, const World& world, const Move& move) {
    Due due;
    const Shadow& shadow = world.shadow();
    const Shadow::Sequence& sequence = shadow.sequences[move.sequence];
    const Length length = setting.length_of(move.tokens);
    switch (move.verb) {
        case Verb::admit:
        case Verb::plan: due_to_admit(setting, world, move, due); break;
        case Verb::probe:
            due.value = longest_hit(setting, world, move.tokens, length, length - 1).tokens;
            break;
        case Verb::reserve:
            due_to_reserve(setting, world, std::array{Asked{move.sequence, move.number}}, true, due);
            break;
        case Verb::append: due_to_reserve(setting, world, std::array{Asked{move.sequence, length}}, false, due); break;
        case Verb::append_batch:
            due_to_reserve(setting, world, std::array{Asked{move.sequence, 1}, Asked{move.other, 1}}, false, due);
            break;
        case Verb::commit:
            if (length > sequence.reserved) {
                due.errors = Due::bit(Error::not_reserved);
            }
            break;
        case Verb::fork:
            if (sequence.reserved > 0) {
                due.errors = Due::bit(Error::busy);
            }
            due_to_cut(setting, sequence, move.number > 0 ? move.number - 1 : sequence.length, due);
            break;
        case Verb::truncate: due_to_cut(setting, sequence, move.number, due); break;
        case Verb::step_begin:
        case Verb::step_end:
            if (is_open(shadow, move.number) == (move.verb == Verb::step_begin)) {
                due.errors = Due::bit(Error::invalid_argument);
            }
            break;
        case Verb::evict: due.value = std::min<Length>(move.number, evictable(world.seen(), setting)); break;
        case Verb::uncache:
            if (move.number >= world.seen().sequences[move.sequence].tables[0].size) {
                due.errors = Due::bit(Error::invalid_argument);
            }
            break;
        case Verb::pin:
        case Verb::unpin: due_to_pin(setting, world, move, due); break;
        default: break;
    }
    return due;
}

}  // namespace kvpane::invariants::explorer

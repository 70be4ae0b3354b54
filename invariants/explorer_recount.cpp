// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_recount.h>

#include <algorithm>
#include <array>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::explorer {

namespace {

Found found(Invariant invariant, std::string what) { return Finding{invariant, std::move(what)}; }

std::string label(std::size_t sequence) { return text("sequence #", sequence); }

Found recount_states(const Setting& setting, const Snapshot& seen, const Shadow& shadow) {
    if (seen.is_step_open != (shadow.n_open > 0)) {
        return found(Invariant::P1, text(int{shadow.n_open}, " steps are open, the pool says otherwise"));
    }
    std::array<std::uint32_t, 4> counted{};
    std::uint32_t pinned = 0;
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& at = seen.blocks[block];
        const bool known = at.content != no_content;
        if ((at.state == BlockState::live) != (at.refs > 0) || (at.state == BlockState::free && known) ||
            (at.state == BlockState::cached && !known)) {
            return found(Invariant::P1, text("block ", block, " with ", int{at.refs}, " references is in state ",
                                             static_cast<int>(at.state)));
        }
        if (known && at.priority != shadow.ranks[block].priority) {
            return found(Invariant::P3, text("block ", block, " has priority ", int{at.priority}, ", due is ",
                                             int{shadow.ranks[block].priority}));
        }
        if (at.pins > 0 && !known) {
            return found(Invariant::P2, text("block ", block, " is pinned and known by nothing"));
        }
        ++counted[static_cast<std::size_t>(at.state)];
        pinned += at.pins > 0 ? 1U : 0U;
    }
    if (counted != seen.states) {
        return found(Invariant::P1, "the pool's counters differ from the blocks");
    }
    if (seen.states[static_cast<std::size_t>(BlockState::fenced)] > 0 && !seen.is_step_open) {
        return found(Invariant::P1, "blocks are fenced, and no step is open");
    }
    if (pinned != seen.pinned) {
        return found(Invariant::P2, text(pinned, " blocks are pinned, the pool counts ", seen.pinned));
    }
    return std::nullopt;
}

Found recount_walks(const Setting& setting, const Snapshot& seen) {
    std::uint32_t queued = 0;
    std::uint32_t fenced = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(seen.queue.size, most_blocks); ++i) {
        queued |= 1U << seen.queue.blocks[i];
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(seen.fenced.size, most_blocks); ++i) {
        fenced |= 1U << seen.fenced.blocks[i];
    }
    std::uint32_t due = 0;
    std::uint32_t due_fenced = 0;
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& at = seen.blocks[block];
        const bool is_idle = at.state == BlockState::free || at.state == BlockState::cached;
        due |= is_idle && at.pins == 0 ? 1U << block : 0U;
        due_fenced |= at.state == BlockState::fenced ? 1U << block : 0U;
    }
    const auto n = static_cast<std::uint32_t>(__builtin_popcount(due));
    if (queued != due || seen.queue.size != n || seen.idle != n) {
        return found(Invariant::P3, text("the queue has ", int{seen.queue.size}, " entries, the pool counts ",
                                         seen.idle, ", and ", n, " blocks are idle"));
    }
    if (fenced != due_fenced || seen.fenced.size != __builtin_popcount(due_fenced)) {
        return found(Invariant::P3, "the fence does not hold exactly the fenced blocks");
    }
    return std::nullopt;
}

// P2, and what concerns all tables: T1, no block twice in the tables of one sequence, nor in those of two groups.
Found recount_references(const Setting& setting, const Snapshot& seen, const Shadow& shadow) {
    std::array<std::uint32_t, most_blocks + 1> refs{};
    std::array<std::uint32_t, most_groups> in_group{};
    std::uint32_t alive = 0;
    for (std::size_t index = 0; index < setting.sequences; ++index) {
        if (shadow.sequences[index].is_alive != seen.sequences[index].is_alive) {
            return found(Invariant::T1, text(label(index), ": its handle is stale, or lives on"));
        }
        std::uint32_t in_sequence = 0;
        for (std::size_t group = 0; seen.sequences[index].is_alive && group < setting.groups; ++group) {
            const Snapshot::Table& table = seen.sequences[index].tables[group];
            for (std::size_t entry = 0; entry < std::min<std::size_t>(table.size, most_length); ++entry) {
                const std::uint8_t block = table.entries[entry];
                if (block > setting.blocks) {
                    return found(Invariant::P2, text(label(index), ": there is no block ", int{block}));
                }
                if (block != 0 && (in_sequence >> block & 1U) != 0) {
                    return found(Invariant::T1, text(label(index), ": block ", int{block}, " stands twice"));
                }
                in_sequence |= block != 0 ? 1U << block : 0U;
                in_group[group] |= block != 0 ? 1U << block : 0U;
                ++refs[block];
            }
        }
        alive += seen.sequences[index].is_alive ? 1U : 0U;
    }
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        if (refs[block] != seen.blocks[block].refs) {
            return found(Invariant::P2, text("block ", block, " has ", int{seen.blocks[block].refs},
                                             " references and stands in ", refs[block], " tables"));
        }
    }
    if (alive != seen.alive) {
        return found(Invariant::P2, text("the Manager has ", seen.alive, " sequences, ", alive, " are alive"));
    }
    if ((in_group[0] & in_group[1]) != 0) {
        return found(Invariant::T1, "a block stands in tables of two groups");
    }
    return std::nullopt;
}

// T5: the cell at a position behind the committed ones stands where it was handed out.
Found recount_reserved(const Setting& setting, const Snapshot& seen, const Shadow& shadow, std::size_t index,
                       std::size_t group) {
    const Shadow::Sequence& sequence = shadow.sequences[index];
    for (Length i = 0; i < sequence.reserved; ++i) {
        const Length position = sequence.length + i;
        const auto entry = static_cast<std::size_t>(position / setting.block_size);
        const std::uint8_t block = seen.sequences[index].tables[group].entries[entry];
        const Length slot = block * setting.block_size + position % setting.block_size;
        if (slot != sequence.slots[group][static_cast<std::size_t>(i)]) {
            return found(Invariant::T5, text(label(index), ", position ", position, ": slot ",
                                             int{sequence.slots[group][static_cast<std::size_t>(i)]},
                                             " was handed out, the table says ", slot));
        }
        if (seen.blocks[block].refs != 1 || seen.blocks[block].content != no_content) {
            return found(Invariant::T5, text(label(index), ", position ", position, " is reserved in block ",
                                             int{block}, ", which others hold or may hit"));
        }
    }
    return std::nullopt;
}

// T1 and T2 of one table: an entry has a block exactly where the specification holds a cell of it.
Found recount_table(const Snapshot::Table& table, const spec::Holding& holding, std::size_t index) {
    if (Length{table.size} != spec::blocks_for(holding.end, holding.rule)) {
        return found(Invariant::T1, text(label(index), ": the table has ", int{table.size}, " entries for ",
                                         holding.end, " positions"));
    }
    for (std::size_t entry = 0; entry < table.size; ++entry) {
        const bool is_held = table.entries[entry] != 0;
        if (is_held != holding.has_block(static_cast<Length>(entry))) {
            return found(Invariant::T2, text(label(index), ", logical block ", entry, " is ",
                                             is_held ? "kept, and wholly outside" : "gone, and a query may see it",
                                             " (cells from ", holding.low, " on are due)"));
        }
    }
    if (Length{table.first_resident} != holding.first_resident()) {
        return found(Invariant::T2, text(label(index), ": the first resident position is ", holding.first_resident(),
                                         ", the table says ", int{table.first_resident}));
    }
    return std::nullopt;
}

}  // namespace

Found recount_pool(const Setting& setting, const Snapshot& seen, const Shadow& shadow) {
    Found wrong = recount_states(setting, seen, shadow);
    wrong = wrong ? wrong : recount_walks(setting, seen);
    return wrong ? wrong : recount_references(setting, seen, shadow);
}

Found recount_tables(const Setting& setting, const Snapshot& seen, const Shadow& shadow) {
    for (std::size_t index = 0; index < setting.sequences; ++index) {
        const Shadow::Sequence& sequence = shadow.sequences[index];
        if (!sequence.is_alive) {
            continue;
        }
        const Snapshot::Sequence& says = seen.sequences[index];
        if (says.length != sequence.length || says.reserved != sequence.reserved) {
            return found(Invariant::T1, text(label(index), ": expected length ", int{sequence.length}, " and ",
                                             int{sequence.reserved}, " reserved, found ", int{says.length}, " and ",
                                             int{says.reserved}));
        }
        for (std::size_t group = 0; group < setting.groups; ++group) {
            Found wrong = recount_table(says.tables[group], sequence.holdings[group], index);
            wrong = wrong ? wrong : recount_reserved(setting, seen, shadow, index, group);
            if (wrong) {
                return wrong;
            }
        }
    }
    return std::nullopt;
}

Found recount_adoption(const Setting& setting, const Snapshot& seen, const Shadow::Sequence& sequence,
                       std::size_t index, const Due& due) {
    for (std::size_t group = 0; group < setting.groups; ++group) {
        const Length whole = due.hit.tokens / setting.block_size;
        for (Length entry = 0; entry < whole; ++entry) {
            const std::uint8_t block = due.hit.blocks[group][static_cast<std::size_t>(entry)];
            const std::uint8_t is = seen.sequences[index].tables[group].entries[static_cast<std::size_t>(entry)];
            const std::uint8_t wanted = sequence.holdings[group].has_block(entry) ? block : std::uint8_t{0};
            if (is != wanted) {
                return found(Invariant::X2, text(label(index), ", logical block ", entry, ": the oldest copy is block ",
                                                 int{wanted}, ", block ", int{is}, " was hit"));
            }
        }
    }
    return std::nullopt;
}

Found read_back(const Setting& setting, const Snapshot& seen, const Shadow& shadow, std::size_t index,
                bool just_committed) {
    const Shadow::Sequence& sequence = shadow.sequences[index];
    for (std::uint32_t group = 0; sequence.is_alive && group < setting.groups; ++group) {
        const spec::Rule& rule = setting.rules[group];
        const spec::Holding& holding = sequence.holdings[group];
        const Snapshot::Table& table = seen.sequences[index].tables[group];
        const spec::Visible due = just_committed ? spec::visible(sequence.length, rule.window, rule.sinks)
                                                 : spec::seen_next(sequence.length, rule.window, rule.sinks);
        Prefix prefix = sequence.prefix;
        for (Length position = sequence.length - 1; position >= 0; --position, prefix /= setting.spelling.base) {
            const std::uint8_t block = table.entries[static_cast<std::size_t>(position / setting.block_size)];
            if (!holding.has(position) || block == 0) {
                if (due.has(position)) {
                    return found(Invariant::T3, text(label(index), ", position ", position, " of group ", group,
                                                     ": a query sees it, and there is a hole"));
                }
                continue;
            }
            const Shadow::Cell cell = shadow.cells[block][static_cast<std::size_t>(position % setting.block_size)];
            if (cell != Shadow::cell(prefix, group)) {
                const Prefix stands = cell & 0xffffffU;
                const bool is_elsewhere = stands != 0 && setting.length_of(stands) != position + 1;
                return found(is_elsewhere ? Invariant::T4 : Invariant::T3,
                             text(label(index), ", position ", position, " of group ", group, ", block ", int{block},
                                  ": expected the prefix ", prefix, ", found ", stands, " of group ", cell >> 24U));
            }
        }
    }
    return std::nullopt;
}

Found recount_index(const Setting& setting, const Snapshot& seen, const Shadow& shadow) {
    std::uint32_t known = 0;
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& at = seen.blocks[block];
        if (at.content == no_content) {
            continue;
        }
        ++known;
        if (!setting.is_cached || at.cells == 0 || Length{at.cells} > setting.block_size ||
            (!setting.by_token && Length{at.cells} != setting.block_size) || at.group >= setting.groups) {
            return found(Invariant::X1, text("block ", block, " is indexed with ", int{at.cells}, " cells"));
        }
        Prefix prefix = at.prefix;
        for (std::size_t offset = at.cells; offset-- > 0; prefix /= setting.spelling.base) {
            if (shadow.cells[block][offset] != Shadow::cell(prefix, at.group)) {
                return found(Invariant::X1, text("block ", block, ", cell ", offset, ": the index says prefix ", prefix,
                                                 ", found ", shadow.cells[block][offset] & 0xffffffU));
            }
        }
        std::uint8_t older = 0;
        for (std::size_t other = 1; other <= setting.blocks; ++other) {
            const Snapshot::Block& that = seen.blocks[other];
            older += that.content != no_content && that.prefix == at.prefix && that.cells == at.cells &&
                     that.group == at.group && shadow.stamps[other] < shadow.stamps[block];
        }
        if (!at.is_found || at.age != older) {
            return found(Invariant::X3, text("block ", block, " is known, and not found under its content behind ",
                                             int{older}, " older copies"));
        }
    }
    if (known != seen.index_entries) {
        return found(Invariant::X3, text(known, " blocks are known, the index counts ", seen.index_entries));
    }
    return std::nullopt;
}

std::uint32_t count_nodes(const Setting& setting, const World& world) {
    constexpr std::size_t most = (most_blocks + most_sequences) * (most_length + 1);
    std::array<Prefix, most> names{};
    std::uint32_t n = 0;
    const auto add_all = [&](Prefix prefix, Length length) {
        for (; length >= 0; length -= setting.block_size) {
            if (std::find(names.begin(), names.begin() + n, prefix) == names.begin() + n) {
                names[n++] = prefix;
            }
            prefix = length >= setting.block_size ? setting.beginning(prefix, setting.block_size, 0) : prefix;
        }
    };
    for (std::size_t index = 0; setting.is_cached && index < setting.sequences; ++index) {
        const Shadow::Sequence& sequence = world.shadow().sequences[index];
        if (sequence.is_alive) {
            const Length whole = sequence.length - sequence.length % setting.block_size;
            add_all(setting.beginning(sequence.prefix, sequence.length, whole), whole);
        }
    }
    for (std::size_t block = 1; block <= setting.blocks; ++block) {
        const Snapshot::Block& at = world.seen().blocks[block];
        if (at.content != no_content) {
            const Length length = setting.length_of(at.prefix);
            names[n] = at.prefix;
            n += std::find(names.begin(), names.begin() + n, at.prefix) == names.begin() + n ? 1U : 0U;
            add_all(setting.beginning(at.prefix, at.cells, 0), length - at.cells);
        }
    }
    return n;
}

}  // namespace kvpane::invariants::explorer

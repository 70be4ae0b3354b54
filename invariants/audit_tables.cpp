// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

Found found(Invariant invariant, Site site, std::string what) {
    return Finding{invariant, std::move(what), std::move(site)};
}

Site in(const Record& record, std::uint32_t group) { return {.sequence = record.name, .group = group}; }

Site at(const Record& record, std::uint32_t group, Length position) {
    return {.sequence = record.name, .group = group, .position = position};
}

Site at(const Record& record, std::uint32_t group, BlockId block) {
    return {.sequence = record.name, .group = group, .block = block};
}

// A cell that is not what the history says.
Site at(const Record& record, std::uint32_t group, const HeldCell& held, BlockId block) {
    return {.sequence = record.name,
            .group = group,
            .position = held.position,
            .block = block,
            .expected = due_cell(record, group, held.position),
            .found = held.cell};
}

// The groups of one sequence, until one says something.
template <class Find>
Found first_in_groups(const Record& record, Find find) {
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        if (Found finding = find(group)) {
            return finding;
        }
    }
    return std::nullopt;
}

TableView table_of(const Scene& scene, const Record& record, std::uint32_t group) {
    return *scene.manager.table(record.handle, GroupId{group});
}

}  // namespace

Found find_T1(const Scene& scene, const Record& record) {
    const auto length = scene.manager.length(record.handle);
    const auto reserved = scene.manager.reserved(record.handle);
    if (!length || !reserved || *length != record.length() || *reserved != record.reserved()) {
        return found(Invariant::T1, {.sequence = record.name},
                     text(scene.label(record.name), ": expected length ", record.length(), " and ", record.reserved(),
                          " reserved, found ", length ? text(*length, " and ", *reserved) : "an unknown handle"));
    }
    std::vector<BlockId> held;
    Found finding = first_in_groups(record, [&](std::uint32_t group) -> Found {
        const TableView table = table_of(scene, record, group);
        const spec::Holding& holding = record.groups[group].holding;
        if (Length{table.size} != spec::blocks_for(holding.end, holding.rule)) {
            return found(Invariant::T1, in(record, group),
                         text(scene.label(record, group), ": the table has ", table.size, " entries for ", holding.end,
                              " positions"));
        }
        const auto first = static_cast<std::uint32_t>(table.first_resident / holding.rule.block_size);
        for (std::uint32_t entry = 0; entry < table.size; ++entry) {
            const BlockId block = table[entry];
            const bool resident = entry >= first && table.first_resident < holding.end;
            if (block == null_block && resident) {
                return found(Invariant::T1, at(record, group, entry * holding.rule.block_size),
                             text(scene.label(record, group), ": positions from ", table.first_resident,
                                  " on are resident, logical block ", entry, " is a hole"));
            }
            if (block != null_block && !scene.shadow.covers(block)) {
                return found(Invariant::T1, in(record, group),
                             text(scene.label(record, group), ", logical block ", entry, ": there is no block ",
                                  to_index(block)));
            }
            if (block != null_block) {
                held.push_back(block);
            }
        }
        return std::nullopt;
    });
    std::ranges::sort(held);
    const auto twice = std::ranges::adjacent_find(held);
    if (!finding && twice != held.end()) {
        finding = found(Invariant::T1, {.sequence = record.name, .block = *twice},
                        text(scene.label(record.name), ": block ", to_index(*twice),
                             " stands twice in the tables of this sequence"));
    }
    return finding;
}

Found find_T1(const Scene& scene) {
    constexpr std::uint32_t none = 0xffffffffU;
    std::vector<std::uint32_t> group_of(scene.manager.pool().blocks() + std::size_t{1}, none);
    for (const Record* record : scene.living) {
        Found finding = first_in_groups(*record, [&](std::uint32_t group) -> Found {
            const TableView table = table_of(scene, *record, group);
            for (const std::span<const BlockId> part : {table.sinks, table.run}) {
                for (const BlockId block : part) {
                    std::uint32_t& owner = group_of[to_index(block)];
                    if (owner != none && owner != group) {
                        return found(Invariant::T1, at(*record, group, block),
                                     text(scene.label(*record, group), ": block ", to_index(block),
                                          " stands in tables of two groups"));
                    }
                    owner = group;
                }
            }
            return std::nullopt;
        });
        if (finding) {
            return finding;
        }
    }
    return std::nullopt;
}

Found find_T2(const Scene& scene, const Record& record) {
    return first_in_groups(record, [&](std::uint32_t group) -> Found {
        const TableView table = table_of(scene, record, group);
        const spec::Holding& holding = record.groups[group].holding;
        for (std::uint32_t entry = 0; entry < table.size; ++entry) {
            const bool held = table[entry] != null_block;
            if (held != holding.has_block(entry)) {
                return found(Invariant::T2, at(record, group, entry * holding.rule.block_size),
                             text(scene.label(record, group), ", position ", entry * holding.rule.block_size,
                                  ": its block is ", held ? "kept, and wholly outside" : "gone, and a query may see it",
                                  " (cells from ", holding.low, " on are due)"));
            }
        }
        if (table.first_resident != holding.first_resident()) {
            return found(Invariant::T2, in(record, group),
                         text(scene.label(record, group), ": the first resident position is ", holding.first_resident(),
                              ", the table says ", table.first_resident));
        }
        const Length cells = holding.end - record.length_at_reserve;
        const Length most = spec::most_blocks(cells, holding.rule);
        if (holding.rule.window > 0 && static_cast<Length>(table.run.size()) > most) {
            return found(Invariant::T2, in(record, group),
                         text(scene.label(record, group), ": ", table.run.size(),
                              " blocks stand behind the sinks, at most ", most, " are needed"));
        }
        return std::nullopt;
    });
}

Found find_T5(const Scene& scene, const Record& record) {
    return first_in_groups(record, [&](std::uint32_t group) -> Found {
        const TableView table = table_of(scene, record, group);
        const std::vector<Slot>& reserved = record.groups[group].reserved;
        const Length block_size = scene.shadow.block_size();
        for (std::size_t i = 0; i < reserved.size(); ++i) {
            const Length position = record.length() + static_cast<Length>(i);
            const BlockId block = table[static_cast<std::size_t>(position / block_size)];
            const Slot slot = Slot{to_index(block)} * block_size + position % block_size;
            if (slot != reserved[i]) {
                return found(Invariant::T5, at(record, group, position),
                             text(scene.label(record, group), ", position ", position, ": slot ", reserved[i],
                                  " was handed out, the table says ", slot));
            }
            if (scene.manager.pool().content(block) != no_content) {
                return found(Invariant::T5, at(record, group, position),
                             text(scene.label(record, group), ", position ", position, " is reserved in block ",
                                  to_index(block), ", which can be hit"));
            }
            if (scene.manager.pool().refs(block) != 1) {
                return found(Invariant::T5, at(record, group, position),
                             text(scene.label(record, group), ", position ", position, " is reserved in block ",
                                  to_index(block), " with ", scene.manager.pool().refs(block), " references"));
            }
        }
        return std::nullopt;
    });
}

Found find_T5(const Scene& scene) {
    std::unordered_set<Slot> seen;
    for (const Record* record : scene.living) {
        for (std::uint32_t group = 0; group < record->groups.size(); ++group) {
            for (const Slot slot : record->groups[group].reserved) {
                if (!seen.insert(slot).second) {
                    return found(Invariant::T5, in(*record, group),
                                 text(scene.label(*record, group), ": slot ", slot, " is reserved twice"));
                }
            }
        }
    }
    return std::nullopt;
}

Found find_T4(const Scene& scene, const Record& record, std::uint32_t group, std::span<const HeldCell> cells) {
    for (const HeldCell& held : cells) {
        if (!held.cell.is_poison() && held.cell.position != held.position) {
            return found(
                Invariant::T4, at(record, group, held, scene.shadow.block_of(held.slot)),
                text(scene.label(record, group), ", position ", held.position, ", slot ", held.slot, ": expected ",
                     describe(due_cell(record, group, held.position)), ", found ", describe(held.cell)));
        }
    }
    return std::nullopt;
}

Found find_T3(const Scene& scene, const Record& record, std::uint32_t group, std::span<const HeldCell> cells) {
    const spec::Rule& rule = record.groups[group].holding.rule;
    const Length length = record.length();
    const spec::Visible due = record.just_committed ? spec::visible(length, rule.window, rule.sinks)
                                                    : spec::seen_next(length, rule.window, rule.sinks);
    auto held = cells.begin();
    for (const spec::Range range : {due.sinks, due.last}) {
        for (Length position = range.begin; position < range.end; ++position) {
            held = std::find_if(held, cells.end(), [&](const HeldCell& cell) { return cell.position >= position; });
            if (held == cells.end() || held->position != position) {
                Site hole = at(record, group, position);
                hole.expected = due_cell(record, group, position);
                return found(Invariant::T3, hole,
                             text(scene.label(record, group), ", position ", position, ": expected ",
                                  describe(due_cell(record, group, position)), ", found a hole"));
            }
        }
    }
    for (const HeldCell& cell : cells) {
        const ShadowCell expected = due_cell(record, group, cell.position);
        if (!cell.cell.same_as(expected)) {
            return found(Invariant::T3, at(record, group, cell, scene.shadow.block_of(cell.slot)),
                         text(scene.label(record, group), ", position ", cell.position, ", slot ", cell.slot,
                              ": expected ", describe(expected), ", found ", describe(cell.cell)));
        }
    }
    return std::nullopt;
}

Found audit_sequence(const Scene& scene, const Record& record) {
    for (Found (*find)(const Scene&, const Record&) : {&find_T1, &find_T2, &find_T5}) {
        if (Found finding = find(scene, record)) {
            return finding;
        }
    }
    return first_in_groups(record, [&](std::uint32_t group) -> Found {
        const std::vector<HeldCell> cells = interpret(table_of(scene, record, group), scene.shadow, record.length());
        if (Found finding = find_T4(scene, record, group, cells)) {
            return finding;
        }
        return find_T3(scene, record, group, cells);
    });
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
// Behind an operation: all that the C++ and the machine both show.
#include <algorithm>
#include <array>

#include <kvpane/invariants/proof/oracle/oracle_check.h>
#include <kvpane/invariants/spec.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

namespace {

// A block as kv_oracle_blocks() tells it.
struct Block {
    std::int64_t refs, state, waits, pins, entry;

    Block(const Numbers& blocks, std::uint32_t block) {
        const std::int64_t* const at = blocks.data() + std::size_t{block - 1} * 5;
        refs = at[0], state = at[1], waits = at[2], pins = at[3], entry = at[4];
    }
    bool is_cached() const { return state == 0 && entry != 0; }
};

std::string spelled(BlockState state) {
    static constexpr std::array names{"free", "cached", "live", "fenced"};
    switch (state) {
        case BlockState::free: return names[0];
        case BlockState::cached: return names[1];
        case BlockState::live: return names[2];
        case BlockState::fenced: return names[3];
    }
    return "";
}

std::string spelled(const Block& block) {
    switch (block.state) {
        case 0: return block.is_cached() ? "cached" : "free";
        case 1: return "live";
        case 2: return "fenced";
        default: return "lost";
    }
}

template <class Here, class There>
std::optional<std::string> differ(const std::string& what, const Here& here, const There& there) {
    if (here == there) {
        return std::nullopt;
    }
    return text(what, ": ", here, " in C++, ", there, " in the machine");
}

std::string spelled(const CellNumbers& cells, std::span<const std::int64_t> numbers) {
    std::string out = "[";
    for (const std::int64_t number : numbers) {
        out += (out.size() > 1 ? " " : "") + std::to_string(cells.token(number));
    }
    return out + "]";
}

}  // namespace

std::optional<std::string> OracleCheck::after(const Operation& operation, const Outcome& outcome,
                                              const Subject& subject) {
    ++counts_->operations;
    Difference difference = mirror(operation, outcome, subject);
    difference = difference ? difference : compare(operation, subject);
    return difference ? Difference(text(to_string(operation.verb), ": ", *difference)) : std::nullopt;
}

OracleCheck::Difference OracleCheck::compare(const Operation& operation, const Subject& subject) {
    const Manager& manager = subject.manager();
    look_at_blocks();
    tell_what_was_forgotten(manager);
    if (Difference difference = compare_blocks(manager.pool())) {
        return difference;
    }
    std::uint32_t alive = 0;
    for (Name name = 0; name < names_.size(); ++name) {
        if (names_[name].slot < 0) {
            continue;
        }
        ++alive;
        if (Difference difference = compare_sequence(name, subject)) {
            return difference;
        }
    }
    if (Difference difference = differ("living sequences", manager.sequences(), alive)) {
        return difference;
    }
    if (Difference difference = compare_entries(manager)) {
        return difference;
    }
    const bool all = counts_->operations % all_windows_every_ == 0;
    const auto is_touched = [&](Name name) {
        return operation.sequence == name || operation.child == name ||
               std::ranges::find(operation.sequences, name) != operation.sequences.end();
    };
    for (Name name = 0; name < names_.size(); ++name) {
        for (std::uint32_t group = 0; group < config_.groups.size(); ++group) {
            if (names_[name].slot < 0 || (!all && !is_touched(name))) {
                continue;
            }
            if (Difference difference = compare_window(name, group, subject)) {
                return difference;
            }
        }
    }
    return std::nullopt;
}

void OracleCheck::look_at_blocks() {
    const KvOracleList all = kv_oracle_blocks(machine_.id());
    blocks_.assign(all.begin, all.begin + all.size);
}

// When an entry leaves the index is policy.
void OracleCheck::tell_what_was_forgotten(const Manager& manager) {
    bool any = false;
    for (std::uint32_t block = 1; block <= manager.pool().blocks(); ++block) {
        if (Block(blocks_, block).entry != 0 && manager.pool().content(BlockId{block}) == no_content) {
            kv_oracle_forget(machine_.id(), std::int64_t{block} - 1);
            any = true;
        }
    }
    if (any) {
        look_at_blocks();
    }
}

OracleCheck::Difference OracleCheck::compare_blocks(const BlockPool& pool) {
    std::array<std::uint32_t, 4> counts{};
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        const Block machine(blocks_, i);
        if (machine.refs == pool.refs(block) && spelled(machine) == spelled(pool.state(block)) &&
            machine.pins == pool.pins(block) && machine.waits == static_cast<std::int64_t>(pool.waits_for(block))) {
            ++counts[static_cast<std::size_t>(machine.is_cached() ? 3 : machine.state)];
            continue;
        }
        const std::string what = text("block ", i, ": ");
        Difference difference = differ(what + "references", pool.refs(block), machine.refs);
        difference = difference ? difference : differ(what + "state", spelled(pool.state(block)), spelled(machine));
        difference = difference ? difference : differ(what + "pins", pool.pins(block), machine.pins);
        const auto waits = static_cast<std::int64_t>(pool.waits_for(block));
        return difference ? difference : differ(what + "steps that it waits for", waits, machine.waits);
    }
    Difference difference = differ("free blocks", pool.free_blocks(), counts[0]);
    difference = difference ? difference : differ("live blocks", pool.live_blocks(), counts[1]);
    difference = difference ? difference : differ("fenced blocks", pool.fenced_blocks(), counts[2]);
    return difference ? difference : differ("cached blocks", pool.cached_blocks(), counts[3]);
}

// --- the index ------------------------------------------------------------------------------------------------------

OracleCheck::Difference OracleCheck::compare_entries(const Manager& manager) {
    for (std::uint32_t block = 1; block <= manager.pool().blocks() && manager.index() != nullptr; ++block) {
        if (Difference difference = compare_entry(BlockId{block}, manager, Block(blocks_, block).entry)) {
            return difference;
        }
    }
    return std::nullopt;
}

// An entry is read again where it may have changed here or there.
OracleCheck::Difference OracleCheck::compare_entry(BlockId block, const Manager& manager, std::int64_t stamp) {
    const PrefixTree& tree = manager.index()->tree();
    const ContentId content = manager.pool().content(block);
    Entry& entry = entries_[to_index(block)];
    const std::uint64_t serial = content == no_content ? 0 : tree.serial(content);
    if (entry.content == content && entry.serial == serial && entry.stamp == stamp) {
        return std::nullopt;
    }
    Numbers key;  // group, cells
    if (content != no_content) {
        key = cells_->cells_of(tree, content);
        key.insert(key.begin(), to_index(manager.index()->group(block)));
    }
    entry = {content, serial, stamp};
    const KvOracleList machine = kv_oracle_key(machine_.id(), std::int64_t{to_index(block)} - 1);
    if (std::ranges::equal(key, std::span(machine.begin, machine.size))) {
        return std::nullopt;
    }
    const auto told = [&](std::span<const std::int64_t> of) {
        return of.empty() ? "nothing" : text(spelled(*cells_, of.subspan(1)), " in group ", of.front());
    };
    return text("block ", to_index(block), " is indexed for ", told(key), " in C++, for ",
                told({machine.begin, machine.size}), " in the machine");
}

// --- sequences ------------------------------------------------------------------------------------------------------

OracleCheck::Difference OracleCheck::compare_sequence(Name name, const Subject& subject) {
    const auto handle = subject.handle(name);
    if (!handle) {
        return text(label(name), " has ended in C++ and lives in the machine");
    }
    const Manager& manager = subject.manager();
    const KvOracleList machine = kv_oracle_sequence(machine_.id(), names_[name].slot);
    Difference difference = differ(label(name) + ": length", manager.length(*handle).value(), machine.begin[0]);
    const Length reserved = manager.reserved(*handle).value();
    difference = difference ? difference : differ(label(name) + ": reserved cells", reserved, machine.begin[1]);
    std::size_t at = 2;
    for (std::uint32_t group = 0; group < config_.groups.size() && !difference; ++group) {
        difference = compare_table(name, group, manager.table(*handle, GroupId{group}).value(), machine, at);
    }
    return difference;
}

OracleCheck::Difference OracleCheck::compare_table(Name name, std::uint32_t group, const TableView& view,
                                                   KvOracleList table, std::size_t& at) {
    const std::int64_t low = table.begin[at];
    const auto size = static_cast<std::size_t>(table.begin[at + 1]);
    const std::int64_t* const entries = table.begin + at + 2;
    at += 2 + size;
    const auto what = [&](const char* of) { return text(label(name), ", group ", group, ": ", of); };
    if (Difference difference = differ(what("entries"), std::size_t{view.size}, size)) {
        return difference;
    }
    for (std::size_t entry = 0; entry < size; ++entry) {
        if (const std::int64_t block = to_index(view[entry]); block != entries[entry] + 1) {
            return differ(text(what("entry "), entry), block, entries[entry] + 1);
        }
    }
    const Length sinks = BlockShape(config_.block_size).blocks_for(config_.groups[group].sinks);
    return differ(what("first resident position"), view.first_resident, low <= sinks * config_.block_size ? 0 : low);
}

OracleCheck::Difference OracleCheck::compare_window(Name name, std::uint32_t group, const Subject& subject) {
    const KvOracleList machine = kv_oracle_window(machine_.id(), names_[name].slot, group);
    const Length from = machine.begin[0];
    const Length length = subject.manager().length(*subject.handle(name)).value();
    const auto cells = static_cast<std::size_t>(std::max<Length>(0, length - from));
    const auto what = [&](const char* of) { return text(label(name), ", group ", group, ": ", of); };
    // Right after a commit the last W cells, else what the next query sees: as the judge's specification says it.
    const Length window_size = config_.groups[group].window;
    if (from != spec::visible(length, window_size, 0).last.begin &&
        from != spec::seen_next(length, window_size, 0).last.begin) {
        return text(what("the window of "), length, " cells begins at ", from, " in the machine, at ",
                    spec::visible(length, window_size, 0).last.begin, " in spec.h");
    }
    if (machine.size != 1 + 3 * cells) {
        return text(what("the window from position "), from, " on: ", cells, " cells in C++, ", machine.size - 1,
                    " in the machine and its two specifications together");
    }
    const std::span read(machine.begin + 1, cells);
    const std::span due(machine.begin + 1 + cells, cells);
    const std::span fast(machine.begin + 1 + 2 * cells, cells);
    if (!std::ranges::equal(read, due) || !std::ranges::equal(fast, due)) {
        return text(what("the machine reads "), spelled(*cells_, read), ", its specification says ",
                    spelled(*cells_, due), ", the fast one ", spelled(*cells_, fast));
    }
    CheckedManager::WindowContents window = subject.window(name, GroupId{group});
    const auto beyond = std::ranges::lower_bound(window.positions, from) - window.positions.begin();
    const std::span positions = std::span(window.positions).subspan(static_cast<std::size_t>(beyond));
    const std::span tokens = std::span(window.tokens).subspan(static_cast<std::size_t>(beyond));
    for (std::size_t i = 0; i < cells; ++i) {
        const Length position = from + static_cast<Length>(i);
        if (i >= positions.size() || positions[i] != position) {
            return text(what("position "), position, " is not held in C++, and is in the machine");
        }
        if (tokens[i] != cells_->token(due[i])) {
            return differ(text(what("token at position "), position), tokens[i], cells_->token(due[i]));
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants::oracle

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/scenario_expect.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <kvpane/cli/tokens.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

// In the order of the enums, for their names.
constexpr std::array errors = {
    Error::later,        Error::never, Error::window_evicted, Error::unknown_sequence, Error::invalid_argument,
    Error::not_reserved, Error::busy};
constexpr std::array verdicts = {Verdict::ok, Verdict::later, Verdict::never};

template <class Enum, std::size_t n>
std::optional<Enum> named(Table& table, std::string_view key, const std::array<Enum, n>& values) {
    std::vector<std::string_view> words;
    for (const Enum value : values) {
        words.push_back(to_string(value));
    }
    const std::optional<std::size_t> index = table.choice_if(key, words);
    return index ? std::optional(values[*index]) : std::nullopt;
}

class ExpectationReader {
public:
    ExpectationReader(const Config& config, const ScenarioNames& names) : config_(config), names_(names) {}

    Expectation read(Table& expect, Verb verb) {
        Expectation wanted;
        wanted.error = named(expect, "error", errors);
        read_answers(expect, verb, wanted);
        wanted.copies = expect.integer_if("copies", any_count);
        wanted.copied_cells = expect.integer_if("copied_cells", any_count);
        wanted.free_queue = ints(expect, "free_queue");
        wanted.index_entries = expect.integer_if("index_entries", any_count);
        read_counts(expect, wanted);
        read_sequences(expect, wanted);
        read_csr(expect, wanted);
        read_slots(expect, wanted);
        expect.finish();
        return wanted;
    }

private:
    static std::optional<Ints> ints(Table& table, std::string_view key) {
        const Node* value = table.find(key);
        return value == nullptr ? std::nullopt
                                : std::optional(table.to_integers(*value, table.spelled(key), any_integer));
    }

    // Only some ops have a verdict or a cached prefix: of others nothing could be compared.
    static void only_of(Table& expect, std::string_view key, bool fits, std::string_view ops) {
        if (const Node* value = expect.find(key); value != nullptr && !fits) {
            expect.fail(value->place, fmt::format("{} is an answer of {} only", expect.spelled(key), ops));
        }
    }

    static void read_answers(Table& expect, Verb verb, Expectation& wanted) {
        only_of(expect, "verdict", verb == Verb::plan, "plan");
        only_of(expect, "blocks_needed", verb == Verb::plan, "plan");
        only_of(expect, "cached_tokens", verb == Verb::admit || verb == Verb::probe, "admit and probe");
        wanted.verdict = named(expect, "verdict", verdicts);
        wanted.blocks_needed = expect.integer_if("blocks_needed", any_count);
        wanted.cached_tokens = expect.integer_if("cached_tokens", any_count);
    }

    static void read_counts(Table& expect, Expectation& wanted) {
        if (std::optional<Table> events = expect.table_if("events", expect.name() + ".events")) {
            wanted.events_stored = events->integer_if("stored", any_count);
            wanted.events_removed = events->integer_if("removed", any_count);
            wanted.events_cleared = events->integer_if("cleared", any_count);
            events->finish();
        }
        if (std::optional<Table> pool = expect.table_if("pool", expect.name() + ".pool")) {
            wanted.pool_free = pool->integer_if("free", any_count);
            wanted.pool_cached = pool->integer_if("cached", any_count);
            wanted.pool_live = pool->integer_if("live", any_count);
            wanted.pool_fenced = pool->integer_if("fenced", any_count);
            wanted.pool_pinned = pool->integer_if("pinned", any_count);
            pool->finish();
        }
        if (std::optional<Table> stats = expect.table_if("stats", expect.name() + ".stats")) {
            wanted.queried_tokens = stats->integer_if("queried_tokens", any_count);
            wanted.hit_tokens = stats->integer_if("hit_tokens", any_count);
            wanted.evicted_blocks = stats->integer_if("evicted_blocks", any_count);
            wanted.preempted = stats->integer_if("preempted", any_count);
            stats->finish();
        }
    }

    void read_sequences(Table& expect, Expectation& wanted) {
        std::optional<Table> all = expect.table_if("seq", expect.name() + ".seq");
        if (!all) {
            return;
        }
        for (const Member& member : all->all_members()) {
            SequenceExpectation sequence;
            sequence.sequence = names_.refer(*all, member.place, member.key);
            Table table = all->to_table(member.value, all->spelled(member.key), all->name() + "." + member.key);
            sequence.length = table.integer_if("length", any_count);
            sequence.reserved = table.integer_if("reserved", any_count);
            sequence.groups.resize(config_.groups.size());
            read_by_group(table,
                          [&](Table& of_group, std::size_t group) { read_group(of_group, sequence.groups[group]); });
            wanted.sequences.push_back(std::move(sequence));
        }
    }

    void read_group(Table& table, GroupExpectation& group) const {
        if (const Node* window = table.find("window")) {
            const std::vector<Token> tokens = read_tokens(table, *window, table.spelled("window"));
            group.window.emplace(tokens.begin(), tokens.end());
        }
        group.positions = ints(table, "positions");
        group.first_resident = table.integer_if("first_resident", any_count);
        group.blocks = table.integer_if("blocks", any_count);
        group.table = ints(table, "table");
        group.refs = ints(table, "refs");
        if (std::optional<Table> shares = table.table_if("shares", table.name() + ".shares")) {
            for (const Member& other : shares->all_members()) {
                group.shares.emplace_back(names_.refer(*shares, other.place, other.key),
                                          shares->to_integer(other.value, shares->spelled(other.key), any_count));
            }
        }
    }

    void read_csr(Table& expect, Expectation& wanted) {
        std::optional<Table> csr = expect.table_if("csr", expect.name() + ".csr");
        if (!csr) {
            return;
        }
        wanted.csr.resize(config_.groups.size());
        read_by_group(*csr, [&](Table& table, std::size_t group) {
            CsrExpectation& arrays = wanted.csr[group];
            arrays.indptr = ints(table, "indptr");
            arrays.indices = ints(table, "indices");
            arrays.last_page_len = ints(table, "last_page_len");
            arrays.first_position = ints(table, "first_position");
        });
    }

    void read_slots(Table& expect, Expectation& wanted) {
        const Node* slots = expect.find("slots");
        if (slots == nullptr) {
            return;
        }
        wanted.slots.resize(config_.groups.size());
        if (slots->kind == NodeKind::array && wanted.slots.size() == 1) {
            wanted.slots[0] = ints(expect, "slots");
            return;
        }
        Table table =
            expect.to_table(*slots, expect.spelled("slots") + " (of several groups)", expect.name() + ".slots");
        Table by_group = table.table("group", table.name() + ".group");
        table.finish();
        for (const Member& member : by_group.all_members()) {
            const std::size_t group = find_group(by_group, member);
            wanted.slots[group] = by_group.to_integers(member.value, by_group.spelled(member.key), any_integer);
        }
    }

    // Calls read(table, group) for what stands under `group.NAME`, or directly in `table` when there is one group,
    // and finishes the tables.
    template <class Read>
    void read_by_group(Table& table, Read read) {
        std::optional<Table> by_group = table.table_if("group", table.name() + ".group");
        if (config_.groups.size() == 1 && !by_group) {
            read(table, 0);
            table.finish();
            return;
        }
        if (by_group) {
            for (const Member& member : by_group->all_members()) {
                const std::size_t group = find_group(*by_group, member);
                Table of_group = by_group->to_table(member.value, by_group->spelled(member.key),
                                                    by_group->name() + "." + member.key);
                read(of_group, group);
                of_group.finish();
            }
        }
        explain_group_keys(table);
        table.finish();
    }

    // `window` beside `group.NAME.window`, or without a group where there are several.
    static void explain_group_keys(Table& table) {
        constexpr std::array<std::string_view, 11> keys = {"window",  "positions",     "first_resident", "blocks",
                                                           "table",   "refs",          "shares",         "indptr",
                                                           "indices", "last_page_len", "first_position"};
        for (const Member& member : table.members()) {
            if (std::ranges::find(keys, member.key) != keys.end()) {
                table.fail(member.place,
                           fmt::format("'{0}' of a group goes under {1}.group.NAME.{0}", member.key, table.name()));
            }
        }
    }

    std::size_t find_group(const Table& table, const Member& member) const {
        std::vector<std::string_view> known;
        for (std::size_t i = 0; i < config_.groups.size(); ++i) {
            if (config_.groups[i].name == member.key) {
                return i;
            }
            known.push_back(config_.groups[i].name);
        }
        table.fail(member.place, fmt::format("unknown group '{}' in {}{}", member.key, table.name(),
                                             did_you_mean(member.key, known)));
    }

    const Config& config_;
    const ScenarioNames& names_;
};

}  // namespace

Expectation read_expectation(Table& expect, Verb verb, const Config& config, const ScenarioNames& names) {
    return ExpectationReader(config, names).read(expect, verb);
}

}  // namespace kvpane::cli

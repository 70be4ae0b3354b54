// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/scenario_compare.h>

#include <algorithm>
#include <set>
#include <string_view>

#include <kvpane/blocktable/exports.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

constexpr std::size_t most_listed = 100;  // values of a list that a message shows

std::string spell(std::int64_t value) { return text(value); }
std::string spell(std::string_view value) { return std::string(value); }
std::string spell(const Ints& values) {
    std::string out = "[";
    for (std::size_t i = 0; i < std::min(values.size(), most_listed); ++i) {
        out += (i == 0 ? "" : ", ") + std::to_string(values[i]);
    }
    return out + (values.size() > most_listed ? text(", ... ", values.size(), " in all]") : "]");
}

// Collects what is compared; keeps the first difference.
class Comparison {
public:
    template <class Value, class Got>
    void expect(const std::string& key, const std::optional<Value>& expected, const Got& got) {
        if (expected && !difference_ && !(*expected == got)) {
            difference_ = text("expected ", key, " = ", spell(*expected), ", got ", spell(got));
        }
    }

    void fail(std::string what) {
        if (!difference_) {
            difference_ = std::move(what);
        }
    }

    const std::optional<std::string>& difference() const { return difference_; }

private:
    std::optional<std::string> difference_;
};

struct Shown {
    const CheckedManager& checked;
    const Manager& manager;
    const std::vector<std::string>& names;
};

template <class Values>
Ints ints(const Values& values) {
    return Ints(values.begin(), values.end());
}

Ints queue_of(const BlockPool& pool) {
    Ints queue;
    for (BlockId block = pool.next_idle(null_block); block != null_block; block = pool.next_idle(block)) {
        queue.push_back(to_index(block));
    }
    return queue;
}

std::set<BlockId> blocks_of(const TableView& table) {
    std::set<BlockId> blocks(table.sinks.begin(), table.sinks.end());
    blocks.insert(table.run.begin(), table.run.end());
    return blocks;
}

void compare_pool(Comparison& comparison, const Expectation& expect, const Manager& manager) {
    const BlockPool& pool = manager.pool();
    comparison.expect("pool.free", expect.pool_free, std::int64_t{pool.free_blocks()});
    comparison.expect("pool.cached", expect.pool_cached, std::int64_t{pool.cached_blocks()});
    comparison.expect("pool.live", expect.pool_live, std::int64_t{pool.live_blocks()});
    comparison.expect("pool.fenced", expect.pool_fenced, std::int64_t{pool.fenced_blocks()});
    comparison.expect("pool.pinned", expect.pool_pinned, std::int64_t{pool.pinned_blocks()});
    comparison.expect("index_entries", expect.index_entries, std::int64_t{manager.index_entries()});
    if (expect.free_queue) {
        comparison.expect("free_queue", expect.free_queue, queue_of(pool));
    }
    const Statistics& statistics = manager.statistics();
    const auto total = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    comparison.expect("stats.queried_tokens", expect.queried_tokens, total(statistics.queried_tokens));
    comparison.expect("stats.hit_tokens", expect.hit_tokens, total(statistics.hit_tokens));
    comparison.expect("stats.evicted_blocks", expect.evicted_blocks, total(statistics.evicted_blocks));
    comparison.expect("stats.preempted", expect.preempted, total(statistics.preempted));
}

void compare_step(Comparison& comparison, const Expectation& expect, const StepResult& result) {
    const Plan plan = result.plan.value_or(Plan{});
    if ((expect.verdict || expect.blocks_needed) && !result.plan) {
        comparison.fail("expected a verdict, the step makes no plan");
    }
    comparison.expect("verdict", expect.verdict ? std::optional(to_string(*expect.verdict)) : std::nullopt,
                      to_string(plan.verdict));
    comparison.expect("blocks_needed", expect.blocks_needed, plan.blocks_needed);
    comparison.expect("cached_tokens", expect.cached_tokens, result.cached_tokens);
    comparison.expect("copies", expect.copies, result.copies);
    comparison.expect("copied_cells", expect.copied_cells, result.copied_cells);
    comparison.expect("events.stored", expect.events_stored, result.events.stored);
    comparison.expect("events.removed", expect.events_removed, result.events.removed);
    comparison.expect("events.cleared", expect.events_cleared, result.events.cleared);
}

void compare_group(Comparison& comparison, const std::string& key, const GroupExpectation& expect, const Shown& shown,
                   Name name, GroupId group) {
    const TableView table = shown.manager.table(*shown.checked.handle(name), group).value();
    if (expect.window || expect.positions) {
        const auto [tokens, positions] = shown.checked.window(name, group);
        comparison.expect(key + ".window", expect.window, ints(tokens));
        comparison.expect(key + ".positions", expect.positions, ints(positions));
    }
    comparison.expect(key + ".first_resident", expect.first_resident, table.first_resident);
    comparison.expect(key + ".blocks", expect.blocks, static_cast<std::int64_t>(table.held()));
    Ints ids;
    Ints refs;
    for (std::size_t entry = 0; entry < table.size; ++entry) {
        ids.push_back(to_index(table[entry]));
        if (table[entry] != null_block) {
            refs.push_back(shown.manager.pool().refs(table[entry]));
        }
    }
    comparison.expect(key + ".table", expect.table, ids);
    comparison.expect(key + ".refs", expect.refs, refs);
    for (const auto& [other, expected] : expect.shares) {
        const auto handle = shown.checked.handle(other);
        if (!handle) {
            comparison.fail(text("expected ", key, ".shares.", shown.names[other], " = ", expected,
                                 ", got no such sequence"));
            return;
        }
        std::int64_t shared = 0;
        const std::set<BlockId> ours = blocks_of(table);
        for (const BlockId block : blocks_of(shown.manager.table(*handle, group).value())) {
            shared += ours.contains(block) ? 1 : 0;
        }
        comparison.expect(text(key, ".shares.", shown.names[other]), std::optional(expected), shared);
    }
}

void compare_sequence(Comparison& comparison, const SequenceExpectation& expect, const Shown& shown) {
    const std::string key = "seq." + shown.names[expect.sequence];
    const auto handle = shown.checked.handle(expect.sequence);
    if (!handle) {
        comparison.fail(text("expected something of ", key, ", got no such sequence"));
        return;
    }
    comparison.expect(key + ".length", expect.length, shown.manager.length(*handle).value());
    comparison.expect(key + ".reserved", expect.reserved, shown.manager.reserved(*handle).value());
    for (std::uint32_t group = 0; group < expect.groups.size(); ++group) {
        const std::string& name = shown.manager.config().groups[group].name;
        const std::string in_group = shown.manager.groups() > 1 ? text(key, ".group.", name) : key;
        compare_group(comparison, in_group, expect.groups[group], shown, expect.sequence, GroupId{group});
    }
}

// Through the exports that an engine uses.
void compare_csr(Comparison& comparison, const std::string& key, const CsrExpectation& expect, const Manager& manager,
                 const std::vector<SequenceHandle>& sequences, GroupId group) {
    const auto entries = csr_entries(manager, sequences, group);
    if (!entries) {
        comparison.fail(text("expected ", key, ", got error ", to_string(entries.error())));
        return;
    }
    std::vector<std::int32_t> indptr(sequences.size() + 1);
    std::vector<std::int32_t> indices(static_cast<std::size_t>(*entries));
    std::vector<std::int32_t> last_page_len(sequences.size());
    std::vector<std::int64_t> first_position(sequences.size());
    const auto written =
        export_csr(manager, sequences, group, {indptr, indices, last_page_len, first_position});
    if (written != *entries) {
        comparison.fail(text(key, ": ", *entries, " entries were announced, ",
                             written ? text(*written, " were written") : text("got error ", to_string(written.error()))));
    }
    comparison.expect(key + ".indptr", expect.indptr, ints(indptr));
    comparison.expect(key + ".indices", expect.indices, ints(indices));
    comparison.expect(key + ".last_page_len", expect.last_page_len, ints(last_page_len));
    comparison.expect(key + ".first_position", expect.first_position, ints(first_position));
}

// The sequences that a step exports: those it names, else all in order of creation.
std::vector<SequenceHandle> exported(const Operation& operation, const CheckedManager& checked) {
    std::vector<SequenceHandle> handles;
    for (const Name name : operation.sequences.empty() ? checked.living() : operation.sequences) {
        handles.push_back(checked.handle(name).value_or(SequenceHandle{}));
    }
    return handles;
}

}  // namespace

std::optional<std::string> difference(const ScenarioStep& step, const StepResult& result,
                                      const CheckedManager& checked, const std::vector<std::string>& names) {
    const Shown shown{checked, checked.manager(), names};
    const Expectation& expect = step.expect;
    Comparison comparison;
    compare_step(comparison, expect, result);
    compare_pool(comparison, expect, shown.manager);
    for (const SequenceExpectation& sequence : expect.sequences) {
        compare_sequence(comparison, sequence, shown);
    }
    const std::vector<SequenceHandle> sequences = exported(step.operation, checked);
    for (std::uint32_t group = 0; group < shown.manager.groups(); ++group) {
        const std::string suffix = shown.manager.groups() > 1 ? ".group." + shown.manager.config().groups[group].name : "";
        if (group < expect.csr.size()) {
            compare_csr(comparison, "csr" + suffix, expect.csr[group], shown.manager, sequences, GroupId{group});
        }
        if (group < expect.slots.size()) {
            comparison.expect("slots" + suffix, expect.slots[group], result.slots[group]);
        }
    }
    return comparison.difference();
}

}  // namespace kvpane::invariants

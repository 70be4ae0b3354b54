// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/plan.h>
#include <kvpane/allocator/error.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/payload_options.h>

// A scenario: one Manager, a list of steps, and what a correct manager shows after each. The file format is read in
// cli/; here is what it means. All expectations are optional.
namespace kvpane::invariants {

using Ints = std::vector<std::int64_t>;

struct GroupExpectation {
    std::optional<Ints> window;     // token ids
    std::optional<Ints> positions;  // absolute
    std::optional<Length> first_resident;
    std::optional<std::int64_t> blocks;
    std::optional<Ints> table;      // 0 where nothing is held
    std::optional<Ints> refs;       // of the held blocks, in table order
    std::vector<std::pair<Name, std::int64_t>> shares;
};

struct SequenceExpectation {
    Name sequence = 0;
    std::optional<Length> length;
    std::optional<Length> reserved;
    std::vector<GroupExpectation> groups;  // [n_groups]
};

struct CsrExpectation {
    std::optional<Ints> indptr;
    std::optional<Ints> indices;
    std::optional<Ints> last_page_len;
    std::optional<Ints> first_position;
};

struct Expectation {
    std::optional<Error> error;
    std::optional<Verdict> verdict;
    std::optional<std::int64_t> blocks_needed;
    std::optional<std::int64_t> cached_tokens;
    std::optional<std::int64_t> copies;
    std::optional<std::int64_t> copied_cells;
    std::optional<std::int64_t> events_stored;
    std::optional<std::int64_t> events_removed;
    std::optional<std::int64_t> events_cleared;
    std::optional<std::int64_t> pool_free;
    std::optional<std::int64_t> pool_cached;
    std::optional<std::int64_t> pool_live;
    std::optional<std::int64_t> pool_fenced;
    std::optional<std::int64_t> pool_pinned;
    std::optional<Ints> free_queue;
    std::optional<std::int64_t> index_entries;
    std::optional<std::int64_t> queried_tokens;
    std::optional<std::int64_t> hit_tokens;
    std::optional<std::int64_t> evicted_blocks;
    std::optional<std::int64_t> preempted;
    std::vector<SequenceExpectation> sequences;
    std::vector<CsrExpectation> csr;            // [n_groups], of `seqs` of the step or all in creation order
    std::vector<std::optional<Ints>> slots;     // [n_groups], of the step's cells
};

struct ScenarioStep {
    Operation operation;
    std::int64_t repeat = 1;  // copies, events and slots add up
    Expectation expect;
    int line = 0;             // of the step in its file
};

struct Scenario {
    std::string file;
    std::string title;
    Config config;
    std::vector<std::string> names;  // Name -> as the file spells it
    std::vector<ScenarioStep> steps;
};

struct ScenarioFailure {
    int line = 0;
    std::int64_t step = 0;  // from 1
    std::string what;       // "expected pool.free = 5, got 4", or the broken invariant
};

// Runs all steps with the full audit after each, on real cells where `payload` is given; the first failure ends it. A
// step that expects no error must succeed.
std::optional<ScenarioFailure> run(const Scenario& scenario,
                                   const std::optional<PayloadOptions>& payload = std::nullopt);

}  // namespace kvpane::invariants

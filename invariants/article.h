// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/invariants/article_data.h>
#include <kvpane/invariants/paged_decoder.h>

// The article's table and those of its predecessors, computed again with K and V in kvpane blocks. What each number is:
// docs/article.md.
namespace kvpane::invariants::article {

// One number that must come out.
struct Check {
    std::string name;
    double expected = 0;
    double found = 0;
    double tolerance = 0;  // 0 = exactly

    bool holds() const { return std::abs(found - expected) <= tolerance; }  // false for NaN
};

// A count: it is what it must be, or it is wrong.
inline Check exactly(std::string name, std::int64_t expected, std::int64_t found) {
    return {std::move(name), static_cast<double>(expected), static_cast<double>(found), 0};
}

struct Section {
    std::string title;
    std::vector<Check> checks;
};

struct TableRow {
    const Case* wanted = nullptr;
    Length cut = 0;
    std::optional<std::int64_t> chosen_entry;  // of the store: the newest that holds every block of the hit
    std::int64_t projected_rows = 0;
    std::int64_t fresh_projected_rows = 0;
    Length copied_cells = 0;
    double error = 0;          // of the right path, against the full recompute
    double control_error = 0;  // of the stale-position control
    std::vector<Check> checks;
};

// The number of checks that hold, and whether all do. There is no such thing as right without a check.
std::size_t holding(const std::vector<Check>& checks);
bool all_hold(const std::vector<Check>& checks);

// What a window has released: evicted at once, so that the store holds what its sequences see and nothing else, or still
// cached until its block is needed.
enum class Released : std::uint8_t { gone, cached };

// A decoder for one window, with blocks of 4 cells and hits to the token; each entry of the store stays alive in it.
Config store_config(Length window);
SequenceHandle remember(PagedDecoder& decoder, const Model& model, const Remembered& entry, Released released);

// --- the parts; `fault` is planted in the paged decoder, see Fault ---------------------------------------------------

// One row of the table: a store is filled, the query runs, and once more in another store as a control: behind a hit its
// tokens get the position at which the stored entry ended. REQUIRES the weights of its seed.
TableRow table_row(const Data& data, const Case& wanted, Fault fault = Fault::none);

// The rows of window-edit, while what the window released is still cached: 4 tokens are found.
Section window_edits_while_cached(const Data& data, Fault fault = Fault::none);

// The probes: vectors from the inside of a pass, K and V as they lie in the blocks.
Section probes(const Data& data, Fault fault = Fault::none);

// Experiment 5: sliding through blocks, and four ways to get it wrong.
Section windows(const Data& data, Fault fault = Fault::none);

// Experiment 6: reuse under the identity of what was computed, and reuse without it.
Section identities(const Data& data, Fault fault = Fault::none);

// What a block table must not do: splice rows behind an edited token, relabel what a window left over, keep too little.
Section controls(const Data& data, Fault fault = Fault::none);

// Experiment 8: a trace of requests under a byte budget of cached blocks.
struct BudgetRun {
    std::int64_t projected_rows = 0;
    std::int64_t fresh_rows = 0;  // of the full recomputes
    std::int64_t hits = 0;        // requests that found something
    Length copied_cells = 0;
    double error = 0;  // the largest of any request, against its full recompute
};
BudgetRun run_budget(const Data& data, std::int64_t budget, const std::string& trace, Fault fault = Fault::none);
Section budgets(const Data& data, Fault fault = Fault::none);

// --- all of it -------------------------------------------------------------------------------------------------------

struct Report {
    std::vector<TableRow> rows;
    std::vector<Section> sections;
};
std::size_t right_rows(const Report& report);
bool is_right(const Report& report);

// The report points into `data`.
Report check_article(const Data& data, Fault fault = Fault::none);

}  // namespace kvpane::invariants::article

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/invariants/decoder.h>

// The published numbers of the article and its predecessors: what docs/article.md calls the reference data.
namespace kvpane::invariants::article {

// A prefix that the store holds.
struct Remembered {
    std::string scope;
    std::vector<Token> tokens;
};

// One row of the table: a query against the store, and what must come out.
struct Case {
    std::int64_t seed = 0;
    std::string condition;
    std::vector<Token> tokens;
    std::string scope;
    Length window = 0;
    Length cut = 0;
    std::optional<std::int64_t> chosen_entry;  // of the store, which the cut comes from; nothing where it is 0
    std::int64_t projected_rows = 0;
    std::int64_t fresh_projected_rows = 0;
    std::optional<double> control_error;  // nothing where the stale position makes no difference
    double other_control_error = 0;       // the same by another implementation, rounding errors included
    Rows fresh;                           // [tokens - cut] of the full recompute, from the cut on
    std::optional<Rows> control;          // [tokens - cut] of the stale-position control
};

// Vectors from the inside of a pass over tokens 1..12.
struct Probe {
    std::int64_t seed = 0;
    std::vector<double> first_embedding;  // the first elements of the first row
    std::vector<double> last_weight;      // the last elements of the last row
    Row input{};                          // all of row 11, as the ones below
    Row layer0_key{};
    Row layer1_value{};
    Row full_out{};
    Row window4_out{};
    std::vector<Length> window4_kept;  // positions
};

// Experiment 5: a window, token by token.
struct WindowErrors {
    std::int64_t seed = 0;
    double reset_position = 0;
    double cropped_recompute = 0;
    double wrong_chunk_mask = 0;
    double unmasked_future = 0;
};
struct WindowStudy {
    Length window = 0;
    std::vector<WindowErrors> errors;
    Effort prefix;  // recomputing the whole prefix for each token
    Effort cached;
    std::int64_t full_bytes = 0;  // of K and V
    std::int64_t window_bytes = 0;
};

// Experiment 6: reuse that does not ask what it reuses.
struct IdentityErrors {
    std::int64_t seed = 0;
    double edited_prefix = 0;
    double different_weights = 0;
    double different_window = 0;
};
inline constexpr std::array<const char*, 6> identity_conditions = {
    "same-prefix", "new-suffix", "edited-prefix", "different-weights", "different-window", "different-scope"};
struct IdentityStudy {
    std::vector<Token> prefix;
    std::vector<Token> suffix;
    std::vector<Token> new_suffix;
    std::vector<IdentityErrors> errors;
    std::map<std::string, std::int64_t> projected_rows;  // by identity_conditions
};

// Experiment 8: prefixes under a byte budget, with blocks that are shared.
inline constexpr std::array<const char*, 3> budget_traces = {"hot-prefix", "alternating-branches", "three-scopes"};
struct BudgetStudy {
    std::int64_t bytes_per_token = 0;
    std::int64_t requests = 0;
    std::vector<Token> prefix_a;
    std::vector<Token> prefix_b;
    std::int64_t fresh_rows = 0;  // projected without a cache, in every trace
    struct Entry {
        std::int64_t budget = 0;  // [bytes]
        std::string trace;
        std::int64_t projected_rows = 0;
    };
    std::vector<Entry> entries;
};

// The decoders of all of these.
inline constexpr std::array<std::int64_t, 5> seeds = {7, 11, 19, 23, 41};

struct Data {
    std::map<std::int64_t, Weights> weights;  // by seed, all of them
    std::vector<Remembered> store;            // in the order in which they were remembered
    double tolerance = 0;
    std::vector<Case> cases;
    std::vector<Probe> probes;
    WindowStudy windows;
    IdentityStudy identity;
    BudgetStudy budgets;
};

// How many conditions the table has for each seed.
inline constexpr std::size_t conditions = 9;

}  // namespace kvpane::invariants::article

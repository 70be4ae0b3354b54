// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/article_data.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/json_file.h>

namespace kvpane::cli {

using namespace invariants::article;

namespace {

constexpr std::uint64_t most_weight_bytes = 1U << 20U;
constexpr std::size_t digits_of_a_weight = 16;
constexpr std::size_t most_tokens = 16;  // of a prompt: the pools of the article are made for these
constexpr std::size_t prefix_tokens = 8;
constexpr std::int64_t stored_prefixes = 2;
constexpr std::int64_t most_rows = 1'000'000;
constexpr std::int64_t most_budget = 1 << 30;

std::string path_of(const std::string& folder, const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
}

double weight(std::string_view word, const std::string& file, Place place) {
    std::uint64_t bits = 0;
    const char* end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, bits, 16);
    if (word.size() != digits_of_a_weight || error != std::errc{} || stopped != end) {
        throw InputError(file, place, fmt::format("a weight must be 16 hex digits, got '{}'", word.substr(0, 20)));
    }
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) {
        throw InputError(file, place, fmt::format("a weight must be a finite number, got {}", value));
    }
    return value;
}

// --- values that several files hold ----------------------------------------------------------------------------------

std::int64_t seed_of(const JsonNode& node) {
    const std::int64_t seed = node.integer(0, INT64_MAX);
    if (std::ranges::find(seeds, seed) == seeds.end()) {
        node.refuse(fmt::format("one of the seeds {}", fmt::join(seeds, ", ")));
    }
    return seed;
}

// What another file says, too.
void must_be(const JsonNode& node, std::int64_t value) {
    if (node.integer(0, INT64_MAX) != value) {
        node.refuse(fmt::format("{}, as elsewhere", value));
    }
}

std::vector<Token> tokens_of(const JsonNode& node, std::size_t least, std::size_t most) {
    std::vector<Token> tokens;
    for (const JsonNode& item : node.items()) {
        tokens.push_back(static_cast<Token>(item.integer(0, static_cast<std::int64_t>(vocabulary) - 1)));
    }
    if (tokens.size() < least || tokens.size() > most) {
        const std::string count = least == most ? std::to_string(most) : fmt::format("{}..{}", least, most);
        node.refuse(fmt::format("an array of {} tokens", count), std::to_string(tokens.size()));
    }
    return tokens;
}

Row row_of(const JsonNode& node) {
    Row row{};
    std::ranges::transform(node.items(width), row.begin(), &JsonNode::number);
    return row;
}

Rows rows_of(const JsonNode& node, std::size_t count) {
    Rows rows;
    std::ranges::transform(node.items(count), std::back_inserter(rows), row_of);
    return rows;
}

std::vector<double> numbers_of(const JsonNode& node, std::size_t count) {
    std::vector<double> numbers;
    std::ranges::transform(node.items(count), std::back_inserter(numbers), &JsonNode::number);
    return numbers;
}

// --- the files -------------------------------------------------------------------------------------------------------

// The rows of the table, without what expected_S.json says about them.
Case case_of(const JsonNode& node) {
    Case read;
    read.seed = seed_of(node.at("seed"));
    read.condition = node.at("condition").text();
    read.tokens = tokens_of(node.at("tokens"), 1, most_tokens);
    read.scope = node.at("scope").text();
    const JsonNode window = node.at("window");
    read.window = window.is_null() ? 0 : window.integer(1, static_cast<std::int64_t>(most_tokens));
    read.cut = node.at("cut").integer(0, static_cast<std::int64_t>(read.tokens.size()) - 1);
    const JsonNode entry = node.at("chosen_entry");
    read.chosen_entry = entry.is_null() ? std::nullopt : std::optional(entry.integer(0, stored_prefixes - 1));
    read.projected_rows = node.at("projected_rows").integer(0, most_rows);
    read.fresh_projected_rows = node.at("fresh_projected_rows").integer(0, most_rows);
    const JsonNode error = node.at("wrong_error_evidence");
    read.control_error = error.is_null() ? std::nullopt : std::optional(error.number());
    read.other_control_error = node.at("wrong_error_np1242").number();
    return read;
}

void read_cases(const std::string& folder, Data& data) {
    const JsonFile file(path_of(folder, "cases.json"));
    for (const JsonNode& node : file.root().at("store").items(stored_prefixes)) {
        data.store.push_back({node.at("scope").text(), tokens_of(node.at("tokens"), prefix_tokens, prefix_tokens)});
    }
    const JsonNode tolerance = file.root().at("tolerance");
    data.tolerance = tolerance.number();
    if (!(data.tolerance >= 0 && data.tolerance <= 1e-9)) {
        tolerance.refuse("a number 0..1e-9");
    }
    const std::size_t decoders = file.root().at("seeds").items().size();
    for (const JsonNode& node : file.root().at("rows").items(conditions * std::max<std::size_t>(decoders, 1))) {
        data.cases.push_back(case_of(node));
    }
}

// What must come out of a row of the table.
void read_expected(const std::string& folder, Case& wanted) {
    const JsonFile file(path_of(folder, fmt::format("expected_{}.json", wanted.seed)));
    must_be(file.root().at("seed"), wanted.seed);
    const std::size_t computed = wanted.tokens.size() - static_cast<std::size_t>(wanted.cut);
    for (const JsonNode& node : file.root().at("cases").items(conditions)) {
        if (node.at("condition").text() == wanted.condition) {
            must_be(node.at("cut"), wanted.cut);
            wanted.fresh = rows_of(node.at("fresh_suffix"), computed);
            const JsonNode control = node.at("wrong_suffix");
            wanted.control = control.is_null() ? std::nullopt : std::optional(rows_of(control, computed));
            return;
        }
    }
    throw InputError(file.path(), {}, fmt::format("'cases' has no condition '{}'", wanted.condition));
}

void read_probes(const std::string& folder, Data& data) {
    constexpr std::size_t shown = 4;  // elements of the first embedding and of the last weights
    const JsonFile file(path_of(folder, "probes.json"));
    for (const std::int64_t seed : {7, 11, 23}) {
        const JsonNode node = file.root().at(std::to_string(seed));
        const JsonNode kept = node.at("window4_kept_positions");
        Probe probe{.seed = seed,
                    .first_embedding = numbers_of(node.at("first_embedding"), shown),
                    .last_weight = numbers_of(node.at("last_weight"), shown),
                    .input = row_of(node.at("input_row_11")),
                    .layer0_key = row_of(node.at("layer0_k_row_11")),
                    .layer1_value = row_of(node.at("layer1_v_row_11")),
                    .full_out = row_of(node.at("full_out_row_11")),
                    .window4_out = row_of(node.at("window4_out_row_11")),
                    .window4_kept = {}};
        for (const JsonNode& position : kept.items(shown)) {
            probe.window4_kept.push_back(position.integer(0, most_rows));
        }
        data.probes.push_back(std::move(probe));
    }
}

WindowStudy read_windows(const std::string& folder) {
    const JsonFile file(path_of(folder, "exp05.json"));
    const JsonNode root = file.root();
    const auto count = [&](const char* key) { return root.at(key).integer(0, most_rows); };
    WindowStudy study{.window = root.at("window").integer(1, static_cast<std::int64_t>(most_tokens)),
                      .errors = {},
                      .prefix = {count("prefix_projected_rows"), count("prefix_score_elements")},
                      .cached = {count("cached_projected_rows"), count("cached_score_elements")},
                      .full_bytes = count("full_kv_bytes"),
                      .window_bytes = count("window_kv_bytes")};
    for (const JsonNode& node : root.at("rows").items(3)) {
        study.errors.push_back({.seed = seed_of(node.at("seed")),
                                .reset_position = node.at("reset_position_error").number(),
                                .cropped_recompute = node.at("cropped_recompute_error").number(),
                                .wrong_chunk_mask = node.at("wrong_chunk_mask_error").number(),
                                .unmasked_future = node.at("unmasked_future_change").number()});
    }
    return study;
}

IdentityStudy read_identity(const std::string& folder) {
    const JsonFile file(path_of(folder, "exp06.json"));
    const JsonNode root = file.root();
    IdentityStudy study{.prefix = tokens_of(root.at("prefix"), prefix_tokens, prefix_tokens),
                        .suffix = tokens_of(root.at("suffix"), 1, most_tokens),
                        .new_suffix = tokens_of(root.at("edits").at("new-suffix"), 1, most_tokens),
                        .errors = {},
                        .projected_rows = {}};
    for (const std::int64_t seed : {7, 19, 41}) {
        const JsonNode errors = root.at("unchecked_error").at(std::to_string(seed));
        study.errors.push_back({.seed = seed,
                                .edited_prefix = errors.at("edited-prefix").number(),
                                .different_weights = errors.at("different-weights").number(),
                                .different_window = errors.at("different-window").number()});
    }
    for (const char* condition : identity_conditions) {
        study.projected_rows[condition] = root.at("projected_rows").at(condition).integer(0, most_rows);
    }
    return study;
}

BudgetStudy read_budgets(const std::string& folder) {
    const JsonFile file(path_of(folder, "exp08.json"));
    const JsonNode root = file.root();
    BudgetStudy study{.bytes_per_token = root.at("bytes_per_token").integer(1, most_budget),
                      .requests = root.at("requests").integer(1, 1000),
                      .prefix_a = tokens_of(root.at("prefix_A"), prefix_tokens, prefix_tokens),
                      .prefix_b = tokens_of(root.at("prefix_B"), prefix_tokens, prefix_tokens),
                      .fresh_rows = root.at("fresh_rows").integer(0, most_rows),
                      .entries = {}};
    const JsonNode columns = root.at("paged_shared_B4_tail_first_lru");
    for (const std::string& key : columns.keys()) {
        std::int64_t budget = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), budget);
        if (error != std::errc{} || end != key.data() + key.size() || budget < 0 || budget > most_budget) {
            columns.refuse(fmt::format("an object by budgets of 0..{} bytes", most_budget));
        }
        for (const char* trace : budget_traces) {
            study.entries.push_back({budget, trace, columns.at(key).at(trace).integer(0, most_rows)});
        }
    }
    std::ranges::stable_sort(study.entries, {}, &BudgetStudy::Entry::budget);
    return study;
}

}  // namespace

Weights read_weights(const std::string& file) {
    const std::string text = read_text(file, most_weight_bytes);
    std::vector<double> values;
    Place place;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        const std::string_view word = std::string_view(text).substr(at, end - at);
        values.push_back(weight(word, file, place));
        place = end < text.size() && text[end] == '\n'
                    ? Place{place.line + 1, 1}
                    : Place{place.line, place.column + static_cast<int>(end - at) + 1};
        at = end + 1;
    }
    if (values.size() != weight_count) {
        throw InputError(file, place, fmt::format("ends after {} weights of {}", values.size(), weight_count));
    }
    return make_weights(std::span<const double, weight_count>(values));
}

Data read_article_data(const std::string& folder) {
    Data data;
    read_cases(folder, data);
    for (Case& wanted : data.cases) {
        read_expected(folder, wanted);
    }
    read_probes(folder, data);
    data.windows = read_windows(folder);
    data.identity = read_identity(folder);
    data.budgets = read_budgets(folder);
    for (const std::int64_t seed : seeds) {
        data.weights[seed] = read_weights(path_of(folder, fmt::format("weights_{}.hex", seed)));
    }
    return data;
}

}  // namespace kvpane::cli

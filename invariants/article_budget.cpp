// SPDX-License-Identifier: Apache-2.0
// Experiment 8: requests whose cached prefixes share a byte budget, here as blocks.
#include <kvpane/invariants/article.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr std::int64_t seed = 7;
constexpr std::size_t scopes = 3;
constexpr Token endings = 6;

struct Request {
    std::vector<Token> tokens;
    std::string tenant;
};

// Request i: a prefix and 21 22 23 (24 + i mod 6).
Request request(const BudgetStudy& study, const std::string& trace, std::int64_t i) {
    const bool is_odd = i % 2 == 1;
    Request made{.tokens = trace == "alternating-branches" && is_odd ? study.prefix_b : study.prefix_a,
                 .tenant = trace == "three-scopes" ? text("scope-", i % std::int64_t{scopes}) : "owner"};
    const std::array<Token, 4> suffix = {21, 22, 23, 24 + static_cast<Token>(i % endings)};
    made.tokens.insert(made.tokens.end(), suffix.begin(), suffix.end());
    return made;
}

}  // namespace

BudgetRun run_budget(const Data& data, std::int64_t budget, const std::string& trace, Fault fault) {
    const BudgetStudy& study = data.budgets;
    const Model model{&data.weights.at(seed), 0};
    Config config = store_config(0);
    config.prefix_cache.granularity = Granularity::block;
    const std::int64_t budgeted = budget / (study.bytes_per_token * config.block_size);
    const auto working = static_cast<std::int64_t>(request(study, trace, 0).tokens.size()) / config.block_size;
    config.blocks = budgeted + working;  // the budget is for what stays, the running request needs room of its own
    PagedDecoder decoder(config, fault);
    Manager& manager = decoder.manager();

    BudgetRun run;
    for (std::int64_t i = 0; i < study.requests; ++i) {
        const Request asked = request(study, trace, i);
        const auto [found, pass] = decoder.start(model, asked.tokens, {.tenant = asked.tenant});
        Effort fresh;
        const Rows all = recompute(*model.weights, model.window, asked.tokens, 0, fresh);
        run.error = std::max(run.error, largest_difference(std::span(all).last(pass.rows.size()), pass.rows));
        run.projected_rows += pass.effort.projected_rows;
        run.fresh_rows += fresh.projected_rows;
        run.hits += found.cut > 0 ? 1 : 0;
        // The last block ends with the request: no prompt of this length can hit it.
        const Length last = static_cast<Length>(working) - 1;
        const bool has_ended = manager.uncache(found.sequence, {&last, 1}) && manager.release(found.sequence);
        const std::int64_t surplus = std::int64_t{manager.pool().cached_blocks()} - budgeted;
        if (!has_ended || (surplus > 0 && manager.evict(surplus) != surplus)) {
            throw std::logic_error("the cache cannot be kept within its budget");
        }
    }
    run.copied_cells = decoder.copied_cells();
    return run;
}

Section budgets(const Data& data, Fault fault) {
    Section section{"experiment 8: a byte budget of shared blocks", {}};
    const BudgetStudy& study = data.budgets;
    for (const BudgetStudy::Entry& entry : study.entries) {
        const BudgetRun run = run_budget(data, entry.budget, entry.trace, fault);
        const std::string name = text(entry.budget, " bytes, ", entry.trace, ": ");
        section.checks.push_back(exactly(name + "projected rows", entry.projected_rows, run.projected_rows));
        section.checks.push_back(exactly(name + "rows without a cache", study.fresh_rows, run.fresh_rows));
        section.checks.push_back(exactly(name + "cells copied", 0, run.copied_cells));
        section.checks.push_back({name + "error", 0, run.error, 0});
    }
    return section;
}

}  // namespace kvpane::invariants::article

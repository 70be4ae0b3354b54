// SPDX-License-Identifier: Apache-2.0
// Experiment 5: a window slides over 24 tokens, one token a pass.
#include <kvpane/invariants/article.h>

#include <algorithm>
#include <tuple>

#include <kvpane/invariants/spec.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr Length tokens_in_all = 24;
constexpr Length chunk_begin = 5;  // of the chunk with the wrong mask, its end, and where the future is changed
constexpr Length chunk_end = 8;
constexpr Length future = 12;

// Token i is (7 i + 3) mod 32.
std::vector<Token> study_tokens() {
    std::vector<Token> tokens;
    for (Length i = 0; i < tokens_in_all; ++i) {
        tokens.push_back(static_cast<Token>((7 * i + 3) % static_cast<Length>(vocabulary)));
    }
    return tokens;
}

struct Stepwise {
    Rows rows;
    Effort effort;
    std::int64_t held_bytes = 0;  // at the end
};

// One token a pass through blocks. `position`: what all of them are said to be at; nothing = where they are.
Stepwise step_through(const Model& model, std::span<const Token> tokens, std::optional<Length> position, Fault fault) {
    PagedDecoder decoder(store_config(model.window), fault);
    const SequenceHandle sequence = decoder.admit(tokens).sequence;
    Stepwise stepwise;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto pass = decoder.run(model, sequence, tokens.subspan(i, 1), position);
        stepwise.rows.push_back(pass.rows.front());
        stepwise.effort.projected_rows += pass.effort.projected_rows;
        stepwise.effort.score_elements += pass.effort.score_elements;
    }
    stepwise.held_bytes = static_cast<std::int64_t>(decoder.held_bytes(sequence));
    return stepwise;
}

// Each row from a recompute of the tokens that its query sees, or of the whole prefix with window 0: raw tokens are not
// K and V, which have seen further back.
Rows crop_and_recompute(const Model& model, std::span<const Token> tokens, Length crop, Effort& effort) {
    Rows rows;
    for (Length i = 0; i < static_cast<Length>(tokens.size()); ++i) {
        const Length first = spec::need(i, crop);
        const auto raw = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(i + 1 - first));
        rows.push_back(recompute(*model.weights, model.window, raw, first, effort).back());
    }
    return rows;
}

// A chunk behind a past whose mask counts its rows from the beginning of the past, not from its own.
double wrong_chunk_mask(const Weights& weights, std::span<const Token> tokens) {
    const auto begin = static_cast<std::size_t>(chunk_begin);
    const auto count = static_cast<std::size_t>(chunk_end - chunk_begin);
    const std::vector<Length> before = positions_from(0, begin);
    Effort effort;
    PlainMemory past({}, before, window_mask(0));
    forward(weights, tokens.first(begin), before, past, effort);
    const auto run = [&](Mask mask) {
        const std::vector<Length> positions = positions_from(chunk_begin, count);
        PlainMemory memory(past.rows(), positions, std::move(mask));
        return forward(weights, tokens.subspan(begin, count), positions, memory, effort);
    };
    const Rows wrong = run([](Length query, Length row) { return row <= query - chunk_begin; });
    return largest_difference(wrong, run(window_mask(0)));
}

// How much the rows before it change with the future when nothing is masked.
double unmasked_future(const Weights& weights, std::vector<Token> tokens) {
    const std::vector<Length> positions = positions_from(0, tokens.size());
    Effort effort;
    const auto past = [&] {
        PlainMemory memory({}, positions, [](Length, Length) { return true; });
        Rows rows = forward(weights, tokens, positions, memory, effort);
        rows.resize(static_cast<std::size_t>(future));
        return rows;
    };
    const Rows before = past();
    std::for_each(tokens.begin() + future, tokens.end(),
                  [](Token& token) { token = (token + 1) % static_cast<Token>(vocabulary); });
    return largest_difference(before, past());
}

}  // namespace

Section windows(const Data& data, Fault fault) {
    Section section{"experiment 5: a window, token by token", {}};
    const WindowStudy& study = data.windows;
    const std::vector<Token> tokens = study_tokens();
    for (const WindowErrors& published : study.errors) {
        const Weights& weights = data.weights.at(published.seed);
        const Model slid{&weights, study.window};
        Effort ignored;
        const Rows masked = recompute(weights, study.window, tokens, 0, ignored);
        const Stepwise sliding = step_through(slid, tokens, std::nullopt, fault);
        const Stepwise reset = step_through(slid, tokens, 0, fault);
        const Rows cropped = crop_and_recompute(slid, tokens, study.window, ignored);

        const Model full{&weights, 0};
        Effort prefix;
        const Rows fresh = crop_and_recompute(full, tokens, 0, prefix);
        const Stepwise cached = step_through(full, tokens, std::nullopt, fault);

        const std::string seed = text("seed ", published.seed, ": ");
        const auto close = [&](const char* name, double expected, double found) {
            section.checks.push_back({seed + name, expected, found, data.tolerance});
        };
        section.checks.push_back({seed + "sliding against masked", 0, largest_difference(sliding.rows, masked), 0});
        section.checks.push_back({seed + "cached against recomputed", 0, largest_difference(cached.rows, fresh), 0});
        close("positions reset to 0", published.reset_position, largest_difference(reset.rows, masked));
        close("recompute from the window's tokens", published.cropped_recompute, largest_difference(cropped, masked));
        close("chunk with a wrong mask", published.wrong_chunk_mask, wrong_chunk_mask(weights, tokens));
        close("future seen without a mask", published.unmasked_future, unmasked_future(weights, tokens));
        for (const auto& [name, expected, found] :
             {std::tuple("projected rows of recomputing prefixes", study.prefix.projected_rows, prefix.projected_rows),
              std::tuple("projected rows with the cache", study.cached.projected_rows, cached.effort.projected_rows),
              std::tuple("scores of recomputing prefixes", study.prefix.score_elements, prefix.score_elements),
              std::tuple("scores with the cache", study.cached.score_elements, cached.effort.score_elements),
              std::tuple("bytes of K and V", study.full_bytes, cached.held_bytes),
              std::tuple("bytes of K and V in the window", study.window_bytes, sliding.held_bytes)}) {
            section.checks.push_back(exactly(seed + name, expected, found));
        }
    }
    return section;
}

}  // namespace kvpane::invariants::article

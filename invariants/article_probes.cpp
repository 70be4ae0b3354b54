// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/article.h>

#include <algorithm>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr Token first_token = 1;
constexpr std::size_t length = 12;
constexpr std::size_t probed = 11;  // the row that the vectors belong to

std::vector<Token> probed_tokens() {
    std::vector<Token> tokens(length);
    std::ranges::generate(tokens, [token = first_token]() mutable { return token++; });
    return tokens;
}

double distance(std::span<const double> a, std::span<const double> b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

}  // namespace

Section probes(const Data& data, Fault fault) {
    Section section{"vectors from the inside, K and V as they lie in the blocks", {}};
    const std::vector<Token> tokens = probed_tokens();
    for (const Probe& probe : data.probes) {
        const Weights& weights = data.weights.at(probe.seed);
        const auto check = [&](const char* name, std::span<const double> wanted, std::span<const double> found) {
            section.checks.push_back({text("seed ", probe.seed, ": ", name), 0,
                                      wanted.size() <= found.size() ? distance(wanted, found) : std::nan(""),
                                      data.tolerance});
        };
        check("embedding", probe.first_embedding, weights.embedding.front());
        const Row& last = weights.layer.back().value.back();
        check("last weights", probe.last_weight, std::span(last).last(std::min(width, probe.last_weight.size())));
        check("input", probe.input, input_row(weights, tokens[probed], static_cast<Length>(probed)));

        constexpr Length window = 4;
        PagedDecoder full(store_config(0), fault);
        PagedDecoder slid(store_config(window), fault);
        const auto everything = full.start({&weights, 0}, tokens);
        const auto windowed = slid.start({&weights, window}, tokens);
        const PlacedRows kept = full.gather(everything.found.sequence, static_cast<Length>(probed), 1);
        check("K of layer 0", probe.layer0_key, kept.rows.front()[0].key);
        check("V of layer 1", probe.layer1_value, kept.rows.back()[0].value);
        check("output", probe.full_out, everything.pass.rows[probed]);
        check("output with a window of 4", probe.window4_out, windowed.pass.rows[probed]);
        const Length first = slid.manager().table(windowed.found.sequence, GroupId{0})->first_resident;
        section.checks.push_back(
            exactly(text("seed ", probe.seed, ": first position in the window"), probe.window4_kept.front(), first));
    }
    return section;
}

}  // namespace kvpane::invariants::article

// SPDX-License-Identifier: Apache-2.0
// Experiment 6: what a cached prefix was computed from is part of its name, or the reuse is wrong.
#include <kvpane/invariants/article.h>

#include <stdexcept>

#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr Length edited_at = 2;
constexpr Token edited_to = 20;
constexpr double weight_change = 0.5;  // of K[0][0] in layer 0
constexpr Length other_window = 4;

// What else than the tokens decides K and V: every bit of the weights, and who saw whom.
std::string identity_of(const Model& model) {
    return text(checksum(std::as_bytes(std::span(model.weights, 1))), "/", model.window);
}

std::vector<Token> joined(std::vector<Token> prefix, const std::vector<Token>& suffix) {
    prefix.insert(prefix.end(), suffix.begin(), suffix.end());
    return prefix;
}

// One seed: a prefix is remembered by `model`, then a query meets it.
class Study {
public:
    Study(const IdentityStudy& study, const Weights& weights, Fault fault)
        : study_(study), model_{&weights, 0}, fault_(fault) {}

    struct Outcome {
        std::int64_t projected_rows = 0;
        double error = 0;  // against the recompute of what was really asked
    };

    Outcome guarded(const Model& model, std::span<const Token> query, std::string_view tenant = owner) const {
        const std::string remembered = identity_of(model_);
        const std::string asked = identity_of(model);
        return meet({.model = remembered, .tenant = owner}, {.model = asked, .tenant = tenant}, model, query, query);
    }

    // The lookup is told what was remembered, whatever is really asked.
    Outcome unchecked(const Model& model, std::span<const Token> told, std::span<const Token> query) const {
        return meet({.tenant = owner}, {.tenant = owner}, model, told, query);
    }

    const Model& model() const noexcept { return model_; }

    static constexpr std::string_view owner = "owner";

private:
    Outcome meet(const Scope& remembered, const Scope& asked, const Model& model, std::span<const Token> told,
                 std::span<const Token> query) const {
        // Whole blocks, for an edited prefix shares nothing here; and one table for all, so that the kernel's window is
        // all that another window changes.
        Config config = store_config(0);
        config.prefix_cache.granularity = Granularity::block;
        PagedDecoder decoder(config, fault_);
        decoder.start(model_, study_.prefix, remembered);
        const auto started = decoder.start(model, told, asked);
        Effort ignored;
        const Rows all = recompute(*model.weights, model.window, query, 0, ignored);
        const auto fresh = std::span(all).last(started.pass.rows.size());
        return {started.pass.effort.projected_rows, largest_difference(fresh, started.pass.rows)};
    }

    const IdentityStudy& study_;
    Model model_;
    Fault fault_;
};

}  // namespace

Section identities(const Data& data, Fault fault) {
    Section section{"experiment 6: reuse under an identity, and unchecked", {}};
    const IdentityStudy& study = data.identity;
    std::vector<Token> edited = study.prefix;
    edited.at(static_cast<std::size_t>(edited_at)) = edited_to;
    const std::vector<Token> same = joined(study.prefix, study.suffix);
    const std::vector<Token> changed = joined(edited, study.suffix);
    const std::vector<Token> continued = joined(study.prefix, study.new_suffix);

    for (const IdentityErrors& published : study.errors) {
        const Weights& weights = data.weights.at(published.seed);
        Weights other = weights;
        other.layer[0].key[0][0] += weight_change;
        const Model changed_weights{&other, 0};
        const Model windowed{&weights, other_window};
        const Study meets(study, weights, fault);
        const Model& model = meets.model();

        const std::string seed = text("seed ", published.seed, ": ");
        const auto guarded = [&](const char* condition, const Study::Outcome& outcome) {
            const std::string name = text(seed, "guarded, ", condition, ": ");
            section.checks.push_back(
                exactly(name + "projected rows", study.projected_rows.at(condition), outcome.projected_rows));
            section.checks.push_back({name + "error", 0, outcome.error, 0});
        };
        guarded("same-prefix", meets.guarded(model, same));
        guarded("new-suffix", meets.guarded(model, continued));
        guarded("edited-prefix", meets.guarded(model, changed));
        guarded("different-weights", meets.guarded(changed_weights, same));
        guarded("different-window", meets.guarded(windowed, same));
        guarded("different-scope", meets.guarded(model, same, "another-owner"));

        const auto unchecked = [&](const char* condition, double expected, const Study::Outcome& outcome) {
            section.checks.push_back(
                {text(seed, "unchecked, ", condition, ": error"), expected, outcome.error, data.tolerance});
        };
        unchecked("edited-prefix", published.edited_prefix, meets.unchecked(model, same, changed));
        unchecked("different-weights", published.different_weights, meets.unchecked(changed_weights, same, same));
        unchecked("different-window", published.different_window, meets.unchecked(windowed, same, same));
    }
    return section;
}

}  // namespace kvpane::invariants::article

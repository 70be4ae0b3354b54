// SPDX-License-Identifier: Apache-2.0
// Three things that a block table must not do, done on purpose: with rows that really lie in blocks, and with errors
// that are known, so that a control which has stopped being wrong is noticed.
#include <kvpane/invariants/article.h>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

// The errors as published, to 10 digits (splice) and to 3 (the others); the further digits are those of a second
// implementation of the decoder's specification, in another language.
struct Published {
    std::int64_t seed;
    double splice;
    double relabelled;
    double unrelabelled;
    double two_kept;
    double one_kept;
};
constexpr std::array published_errors = {
    Published{7, 0.028825847321609643, 0.6930308421404321, 0.35778399639866376, 0.13173574536028382,
              0.2915061134251979},
    Published{11, 0.03204756580534099, 0.4992063508279877, 0.3254161034515677, 0.1358489889050064, 0.2351636796158652},
    Published{23, 0.025166539395193144, 0.39547009670495736, 0.7926517683750697, 0.1990683654079896,
              0.3689514984180306}};

const std::vector<Token> remembered = {1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<Token> query = {1, 2, 3, 4, 20, 6, 7, 8, 9, 10, 11, 12};  // edited at position 4
constexpr Length window = 4;
constexpr std::size_t cut = 4;

Rows fresh(const Model& model) {
    Effort ignored;
    return recompute(*model.weights, model.window, query, 0, ignored);
}

// The error of what is computed for the end of the query.
double error_of(const Model& model, const Rows& found) {
    const Rows all = fresh(model);
    return largest_difference(std::span(all).last(found.size()), found);
}

// Behind the edited token stand rows that were computed for the same tokens at the same positions, behind the old one.
double splice(const Model& model, Fault fault) {
    constexpr std::size_t edited_end = 5;
    constexpr std::size_t spliced_end = 8;
    PagedDecoder decoder(store_config(model.window), fault);
    const SequenceHandle old = decoder.start(model, remembered).found.sequence;
    const std::span<const Token> tokens(query);
    const SequenceHandle edited = decoder.start(model, tokens.first(edited_end)).found.sequence;
    decoder.plant(edited, tokens.subspan(edited_end, spliced_end - edited_end),
                  decoder.gather(old, edited_end, spliced_end - edited_end));
    return error_of(model, decoder.run(model, edited, tokens.subspan(spliced_end)).rows);
}

// The rows that a window left over, of positions 4..7, serve as those of positions 0..3.
double relabel(const Model& model, Fault fault) {
    PagedDecoder decoder(store_config(model.window), fault);
    const SequenceHandle old = decoder.start(model, remembered).found.sequence;
    const PlacedRows left = decoder.gather(old, static_cast<Length>(cut), remembered.size() - cut);
    const std::span<const Token> tokens(query);
    const SequenceHandle wrong = decoder.admit(tokens, {.salt = "wrong"}).sequence;
    decoder.plant(wrong, tokens.first(cut), left);
    return error_of(model, decoder.run(model, wrong, tokens.subspan(cut)).rows);
}

// Computes the query from the cut on behind these rows.
double error_behind(const Model& model, PlacedRows past) {
    const auto rest = std::span(query).subspan(cut);
    const std::vector<Length> positions = positions_from(static_cast<Length>(cut), rest.size());
    PlainMemory memory(std::move(past), positions, window_mask(model.window));
    Effort ignored;
    return error_of(model, forward(*model.weights, rest, positions, memory, ignored));
}

// The same rows keep their positions, so that the first queries do not see them, and the next ones see them as theirs.
double do_not_relabel(const Model& model, Fault fault) {
    PagedDecoder decoder(store_config(model.window), fault);
    const SequenceHandle old = decoder.start(model, remembered).found.sequence;
    return error_behind(model, decoder.gather(old, static_cast<Length>(cut), remembered.size() - cut));
}

// The query's own rows before the cut, but only the last ones.
double keep(const Model& model, std::size_t kept, Fault fault) {
    PagedDecoder decoder(store_config(model.window), fault);
    const SequenceHandle own = decoder.start(model, std::span(query).first(cut)).found.sequence;
    return error_behind(model, decoder.gather(own, static_cast<Length>(cut - kept), kept));
}

}  // namespace

Section controls(const Data& data, Fault fault) {
    Section section{"what a block table must not do: splice, relabel, keep too little", {}};
    for (const Published& published : published_errors) {
        const Weights& weights = data.weights.at(published.seed);
        const Model full{&weights, 0};
        const Model windowed{&weights, window};
        const auto check = [&](const char* name, double expected, double found, double tolerance) {
            section.checks.push_back({text("seed ", published.seed, ": ", name), expected, found, tolerance});
        };
        check("rows spliced in behind an edit", published.splice, splice(full, fault), data.tolerance);
        check("rows of the window relabelled", published.relabelled, relabel(windowed, fault), data.tolerance);
        check("rows of the window not relabelled", published.unrelabelled, do_not_relabel(windowed, fault),
              data.tolerance);
        check("W rows kept", 0, keep(windowed, 4, fault), 0);
        check("W - 1 rows kept", 0, keep(windowed, 3, fault), 0);
        check("W - 2 rows kept", published.two_kept, keep(windowed, 2, fault), data.tolerance);
        check("W - 3 rows kept", published.one_kept, keep(windowed, 1, fault), data.tolerance);
    }
    return section;
}

}  // namespace kvpane::invariants::article

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/shrinker.h>

#include <algorithm>
#include <map>
#include <utility>

#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/shrink_steps.h>

namespace kvpane::invariants {

namespace {

class Shrinker {
public:
    Shrinker(Case failing, const StillFails& still_fails, const ShrinkLimits& limits)
        : best_(in_order(failing)), still_fails_(still_fails), limits_(limits) {}

    Shrunk run() {
        do {
            changed_ = false;
            shorten_the_end();
            drop_sequences();
            drop_operations();
            smaller_lists();
            fewer_kinds_of_tokens();
            for_each_smaller_operation([&](Case candidate) { return accept(std::move(candidate)); });
            smaller_manager();
        } while (changed_ && !out_of_candidates());
        return {std::move(best_), tried_, !out_of_candidates()};
    }

private:
    bool out_of_candidates() const { return tried_ >= limits_.candidates; }

    // Takes the candidate if it fails as well.
    bool accept(Case unordered) {
        if (out_of_candidates() || validate(unordered.config)) {
            return false;
        }
        Case candidate = in_order(unordered);
        ++tried_;
        if (limits_.progress && pace_.due()) {
            limits_.progress({tried_, best_.operations.size(), tokens_of(best_.operations)});
        }
        if (!still_fails_(candidate)) {
            return false;
        }
        best_ = std::move(candidate);
        changed_ = true;
        return true;
    }

    Case without(std::size_t begin, std::size_t end) const {
        Case candidate{best_.config, {}};
        const auto at = [&](std::size_t i) { return best_.operations.begin() + static_cast<std::ptrdiff_t>(i); };
        candidate.operations.assign(best_.operations.begin(), at(begin));
        candidate.operations.insert(candidate.operations.end(), at(end), best_.operations.end());
        return candidate;
    }

    // What comes behind the failure does not matter: the shortest beginning that fails, by bisection.
    void shorten_the_end() {
        std::size_t sound = 0;
        while (sound + 1 < best_.operations.size()) {
            const std::size_t middle = sound + (best_.operations.size() - sound) / 2;
            if (!accept(without(middle, best_.operations.size()))) {
                sound = middle;
            }
        }
    }

    // ddmin: ever smaller pieces are left out, at last single operations until none can go.
    void drop_operations() {
        std::size_t piece = best_.operations.size() / 2;
        while (piece > 0) {
            bool dropped = false;
            for (std::size_t begin = 0; begin < best_.operations.size();) {
                const bool gone = accept(without(begin, std::min(begin + piece, best_.operations.size())));
                dropped |= gone;
                begin += gone ? 0 : piece;
            }
            if (!dropped || piece > 1) {
                piece /= 2;
            }
        }
    }

    void drop_sequences() {
        for (Name name = 0; name < names_in(best_.operations);) {
            // An accepted candidate numbers the names anew: another has this one's number.
            name += accept({best_.config, without_sequence(best_.operations, name)}) ? 0U : 1U;
        }
    }

    // Each list of tokens, blocks or external content: halves, quarters, ... single entries, from its end and its front.
    void smaller_lists() {
        for (std::size_t i = 0; i < best_.operations.size(); ++i) {
            for (std::size_t piece = (list_size(best_.operations[i]) + 1) / 2; piece > 0;) {
                const std::size_t size = list_size(best_.operations[i]);
                bool gone = false;
                for (std::size_t begin = 0; begin + piece <= size && !gone; begin += piece) {
                    // The end first: a shorter prompt disturbs less than a shifted one.
                    const std::size_t from = size - piece - begin;
                    Case candidate = best_;
                    drop_from_list(candidate.operations[i], from, from + piece);
                    gone = accept(std::move(candidate));
                    if (i >= best_.operations.size()) {
                        return;  // what it left out made others meaningless; the next round goes on
                    }
                }
                piece = gone ? std::min(piece, list_size(best_.operations[i])) : piece / 2;
            }
        }
    }

    void map_tokens(const std::function<Token(Token)>& change) {
        Case candidate = best_;
        bool differs = false;
        for (Operation& operation : candidate.operations) {
            for (Token& token : operation.tokens) {
                const Token changed = change(token);
                differs |= changed != token;
                token = changed;
            }
        }
        if (differs) {
            accept(std::move(candidate));
        }
    }

    // A smaller alphabet: one token, two, as few as there are, and each of those as another.
    void fewer_kinds_of_tokens() {
        constexpr std::size_t worth_it = 64;  // kinds: each is one candidate
        map_tokens([](Token) { return 0; });
        map_tokens([](Token token) { return token % 2; });
        std::map<Token, Token> numbers;
        map_tokens(
            [&](Token token) { return numbers.try_emplace(token, static_cast<Token>(numbers.size())).first->second; });
        for (std::size_t kind = 1; kind < std::min(numbers.size(), worth_it); ++kind) {
            map_tokens([&](Token token) { return token == static_cast<Token>(kind) ? 0 : token; });
        }
    }

    // Calls try_it(case) for each operation with one number lower, or one part left out, as long as one is accepted.
    template <class Try>
    void for_each_smaller_operation(Try try_it) {
        for (std::size_t i = 0; i < best_.operations.size(); ++i) {
            bool smaller = true;
            while (smaller && i < best_.operations.size() && !out_of_candidates()) {
                smaller = false;
                for (Operation& simpler : simpler_operations(best_.operations[i])) {
                    Case candidate = best_;
                    candidate.operations[i] = std::move(simpler);
                    if (try_it(std::move(candidate))) {
                        smaller = true;
                        break;
                    }
                }
            }
        }
    }

    void smaller_manager() {
        bool smaller = true;
        while (smaller && !out_of_candidates()) {
            smaller = false;
            for (Config& simpler : simpler_managers(best_.config)) {
                Case candidate{std::move(simpler), best_.operations};
                // Smaller blocks alone change what fills a block: the lists shrink with them, in the same candidate.
                if (candidate.config.block_size < best_.config.block_size) {
                    Case scaled{candidate.config,
                                scaled_lists(best_.operations, best_.config.block_size, candidate.config.block_size)};
                    if (accept(std::move(scaled))) {
                        smaller = true;
                        break;
                    }
                }
                if (accept(std::move(candidate))) {
                    smaller = true;
                    break;
                }
            }
        }
    }

    Case best_;
    const StillFails& still_fails_;
    const ShrinkLimits& limits_;
    Pace pace_;
    std::int64_t tried_ = 0;
    bool changed_ = false;
};

}  // namespace

std::optional<Violation> judge(const Case& one, const std::function<void(const Outcome&)>& each,
                               const std::optional<PayloadOptions>& payload) {
    CheckedManager kv(one.config, CheckMode::every, {}, payload);
    for (const Operation& operation : one.operations) {
        const Outcome outcome = kv.apply(operation);
        if (each) {
            each(outcome);
        }
        if (kv.violation()) {
            break;
        }
    }
    return kv.violation();
}

Shrunk shrink(Case failing, const StillFails& still_fails, const ShrinkLimits& limits) {
    return Shrinker(std::move(failing), still_fails, limits).run();
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/invariants/length_sampler.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/stress.h>
#include <kvpane/invariants/zipf_sampler.h>

namespace kvpane::invariants {

// Where the tokens of a stress run come from. When nothing is shared every prompt is new, and nothing is remembered;
// else prompts begin as others began, and the histories of the living and the latest ended sequences are kept to be
// asked for again.
class PromptSource {
public:
    // Draws the shared prefixes. REQUIRES as stress().
    PromptSource(const StressConfig& config, Random& random);

    bool shares() const noexcept { return shares_; }

    Token token(Random& random) const noexcept;

    // A prompt: its tokens, scope, external content, priority and how long that lasts.
    void draw(Operation& operation, Random& random);

    // Something that may well be cached, to be pinned: a shared prefix, a known history, or else as draw().
    void draw_pin(Operation& operation, Random& random);

    // What of the sequence's prompt comes at position `from`: drawn, and not computed yet.
    std::span<const Token> planned(Name name, Length from) const noexcept;

    // What became of the sequences. An admit is that of the latest draw().
    void born(Name name, std::span<const Token> prompt);
    void forked(Name child, Name parent, Length length);
    void grew(Name name, Length from, std::span<const Token> tokens);
    void cut(Name name, Length length);
    void ended(Name name, Length length);

private:
    struct History {
        std::vector<Token> tokens;
        std::uint32_t tenant = 0;
        std::vector<ExternalContent> extra;  // of the prompt
    };

    const History* known(Random& random) const;
    bool comes_back(std::size_t length) const noexcept;
    void next_turn(std::vector<Token>& tokens, Random& random);
    void edit(std::vector<Token>& tokens, Random& random);
    void add_picture(std::size_t tokens, Random& random);
    void add_new(std::vector<Token>& tokens, Length count, Random& random) const;
    Length at_least_one(const LengthSampler& sampler, Random& random) const;

    Sharing sharing_;
    bool shares_;
    std::size_t longest_;  // a longer history does not come back
    LengthSampler prompt_, chunk_;
    std::vector<std::vector<Token>> prefixes_;  // [sharing.count]
    std::optional<ZipfSampler> ranks_;
    std::vector<Scope> scopes_;    // [tenants]
    std::vector<History> living_;  // by name; the tokens still planned included
    std::vector<History> ended_;   // [remembered] the latest, a ring
    std::size_t oldest_ = 0;
    std::uint32_t tenant_ = 0;  // of the latest draw, as the next one
    std::vector<ExternalContent> extra_;
};

}  // namespace kvpane::invariants

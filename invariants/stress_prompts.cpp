// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/stress_prompts.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kvpane::invariants {

namespace {

// Scopes that differ from each other in one part, in turn in each: no part may stand for another.
Scope scope_of(std::uint32_t tenant) {
    Scope scope;
    if (tenant == 0) {
        return scope;
    }
    const std::uint32_t number = (tenant - 1) / 5 + 1;
    const std::string text = std::to_string(number);
    switch ((tenant - 1) % 5) {
        case 0: scope.tenant = text; break;
        case 1: scope.lora = text; break;
        case 2: scope.lora_id = number; break;
        case 3: scope.salt = text; break;
        default: scope.model = text; break;
    }
    return scope;
}

// What of it lies within the first `length` tokens.
std::vector<ExternalContent> clipped(const std::vector<ExternalContent>& extra, Length length) {
    std::vector<ExternalContent> out;
    for (const ExternalContent& piece : extra) {
        if (piece.at < length) {
            out.push_back({piece.at, std::min(piece.count, length - piece.at), piece.id});
        }
    }
    return out;
}

std::span<const Token> behind(const std::vector<Token>& tokens, Length from) noexcept {
    return std::span(tokens).subspan(std::min(tokens.size(), static_cast<std::size_t>(from)));
}

}  // namespace

PromptSource::PromptSource(const StressConfig& config, Random& random)
    : sharing_(config.sharing),
      shares_(sharing_.shared_percent + sharing_.returning_percent + sharing_.edited_percent > 0),
      longest_(static_cast<std::size_t>(config.longest > 0 ? config.longest : config.prompt.max + sharing_.length.max)),
      prompt_(config.prompt, config.manager), chunk_(config.chunk, config.manager) {
    if (shares_) {
        living_.resize(config.most_sequences);
        ended_.reserve(sharing_.remembered);
    }
    for (std::uint32_t tenant = 0; tenant < sharing_.tenants; ++tenant) {
        scopes_.push_back(scope_of(tenant));
    }
    if (sharing_.count == 0) {
        return;
    }
    ranks_.emplace(sharing_.count, sharing_.zipf);
    const LengthSampler length(sharing_.length, config.manager);
    prefixes_.resize(sharing_.count);
    for (std::vector<Token>& prefix : prefixes_) {
        add_new(prefix, at_least_one(length, random), random);
    }
}

Token PromptSource::token(Random& random) const noexcept {
    return sharing_.alphabet == 0 ? random.token()
                                  : static_cast<Token>(random.below(static_cast<std::uint64_t>(sharing_.alphabet)));
}

void PromptSource::draw(Operation& operation, Random& random) {
    std::vector<Token>& tokens = operation.tokens;
    tokens.clear();
    extra_.clear();
    tenant_ = sharing_.tenants > 1 ? static_cast<std::uint32_t>(random.below(sharing_.tenants)) : 0;
    if (shares_) {
        const auto drawn = static_cast<std::int64_t>(random.below(100));
        const std::int64_t returning = sharing_.returning_percent;
        const std::int64_t edited = returning + sharing_.edited_percent;
        const std::int64_t shared = edited + sharing_.shared_percent;
        if (drawn < returning) {
            next_turn(tokens, random);
        } else if (drawn < edited) {
            edit(tokens, random);
        } else if (drawn < shared && ranks_) {
            tokens = prefixes_[ranks_->draw(random)];
            add_new(tokens, at_least_one(prompt_, random), random);
            add_picture(tokens.size(), random);
        }
    }
    if (tokens.empty()) {
        add_new(tokens, at_least_one(prompt_, random), random);
        add_picture(tokens.size(), random);
    }
    extra_ = clipped(extra_, static_cast<Length>(tokens.size()));
    operation.extra = extra_;
    operation.scope = scopes_[tenant_];
    operation.priority = sharing_.priorities > 1 ? static_cast<std::int64_t>(random.below(sharing_.priorities)) : 0;
    operation.priority_steps =
        sharing_.priority_steps > 0 ? random.below(sharing_.priority_steps + std::uint64_t{1}) : 0;
}

void PromptSource::draw_pin(Operation& operation, Random& random) {
    draw(operation, random);
    if (ranks_ && random.below(2) == 0) {
        operation.tokens = prefixes_[ranks_->draw(random)];
        operation.extra = clipped(operation.extra, static_cast<Length>(operation.tokens.size()));
    } else if (const History* history = known(random)) {
        operation.tokens = history->tokens;
        operation.scope = scopes_[history->tenant];
        operation.extra = clipped(history->extra, static_cast<Length>(history->tokens.size()));
    }
}

std::span<const Token> PromptSource::planned(Name name, Length from) const noexcept {
    return name < living_.size() ? behind(living_[name].tokens, from) : std::span<const Token>{};
}

void PromptSource::born(Name name, std::span<const Token> prompt) {
    if (shares_) {
        living_[name].tokens.assign(prompt.begin(), prompt.end());
        living_[name].tenant = tenant_;
        living_[name].extra = extra_;
    }
}

void PromptSource::forked(Name child, Name parent, Length length) {
    if (shares_) {
        living_[child] = living_[parent];
        cut(child, length);
    }
}

void PromptSource::grew(Name name, Length from, std::span<const Token> tokens) {
    if (!shares_) {
        return;
    }
    std::vector<Token>& history = living_[name].tokens;
    // The first of them may be planned: then they stand there already.
    const std::size_t planned_ones = std::min(behind(history, from).size(), tokens.size());
    history.insert(history.end(), tokens.begin() + static_cast<std::ptrdiff_t>(planned_ones), tokens.end());
}

void PromptSource::cut(Name name, Length length) {
    if (shares_) {
        living_[name].tokens.resize(static_cast<std::size_t>(length));
    }
}

void PromptSource::ended(Name name, Length length) {
    if (!shares_) {
        return;
    }
    cut(name, length);
    History& history = living_[name];
    if (!comes_back(history.tokens.size()) || sharing_.remembered == 0) {
        return;
    }
    if (ended_.size() < sharing_.remembered) {
        ended_.push_back(std::exchange(history, {}));
    } else {
        std::swap(ended_[oldest_], history);
        oldest_ = (oldest_ + 1) % ended_.size();
    }
}

bool PromptSource::comes_back(std::size_t length) const noexcept { return length > 0 && length <= longest_; }

// Three times out of four one that has ended, else one that runs (or, under a name that is not alive, once ran). Null
// when the one drawn does not come back.
const PromptSource::History* PromptSource::known(Random& random) const {
    const std::vector<History>& from = ended_.empty() || random.below(4) == 0 ? living_ : ended_;
    const History* history = from.empty() ? nullptr : &from[random.below(from.size())];
    return history != nullptr && comes_back(history->tokens.size()) ? history : nullptr;
}

// The next turn of a chat: all of its history and some new tokens, now and then none. Mostly the same tenant again.
void PromptSource::next_turn(std::vector<Token>& tokens, Random& random) {
    const History* history = known(random);
    if (history == nullptr) {
        return;
    }
    tokens = history->tokens;
    extra_ = history->extra;
    tenant_ = random.below(4) == 0 ? tenant_ : history->tenant;
    if (random.below(8) != 0) {
        add_new(tokens, at_least_one(chunk_, random), random);
    }
}

// A known history in which one token is another.
void PromptSource::edit(std::vector<Token>& tokens, Random& random) {
    const History* history = known(random);
    if (history == nullptr) {
        return;
    }
    tokens = history->tokens;
    extra_ = history->extra;
    tenant_ = history->tenant;
    Token& edited = tokens[random.below(tokens.size())];
    const Token before = edited;
    while (edited == before && sharing_.alphabet != 1) {
        edited = token(random);
    }
}

// One of a few pictures at one of a few places, so that equal tokens come with equal and with other pictures.
void PromptSource::add_picture(std::size_t tokens, Random& random) {
    constexpr std::uint64_t pictures = 3;
    constexpr std::uint64_t places = 4;
    if (sharing_.pictures_percent == 0 || !random.chance(sharing_.pictures_percent)) {
        return;
    }
    const std::uint64_t at = random.below(std::min<std::uint64_t>(places, tokens));
    const std::uint64_t count = 1 + random.below(tokens - at);
    extra_.push_back({static_cast<Length>(at), static_cast<Length>(count), std::to_string(random.below(pictures))});
}

void PromptSource::add_new(std::vector<Token>& tokens, Length count, Random& random) const {
    for (Length i = 0; i < count; ++i) {
        tokens.push_back(token(random));
    }
}

Length PromptSource::at_least_one(const LengthSampler& sampler, Random& random) const {
    return std::max<Length>(1, sampler.draw(random));
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/audit_texts.h>

#include <algorithm>

#include <kvpane/invariants/record.h>

namespace kvpane::invariants {

namespace {

constexpr std::uint64_t no_content = 0;

void add(std::vector<AuditToken>& tokens, std::uint64_t before, Length position, Token token) {
    tokens.push_back({next_chain(before, position, token, no_content), token});
}

bool has_past_of(const AuditText& text, Length position) {
    return position <= text.length() + static_cast<Length>(text.drafts.size());
}

// REQUIRES has_past_of().
std::uint64_t past_of(const AuditText& text, Length position) {
    if (position == 0) {
        return first_chain(text.scope);
    }
    const auto last = static_cast<std::size_t>(position - 1);
    return last < text.history.size() ? text.history[last].chain : text.drafts[last - text.history.size()].chain;
}

}  // namespace

const AuditText* AuditTexts::living(const std::string& label) const {
    const auto name = names_.find(label);
    return name != names_.end() && texts_[name->second].since != 0 ? &texts_[name->second] : nullptr;
}

Name AuditTexts::begin(const std::string& label, std::int64_t line) {
    const auto [place, is_new] = names_.try_emplace(label, static_cast<Name>(texts_.size()));
    if (is_new) {
        texts_.push_back({.label = label});
    }
    texts_[place->second].since = line;
    return place->second;
}

std::uint32_t AuditTexts::number_of(const Scope& scope) {
    const auto [place, is_new] = scopes_.try_emplace(scope, static_cast<std::uint32_t>(scope_parts_.size()));
    if (is_new) {
        scope_parts_.push_back(scope);
    }
    return place->second;
}

Name AuditTexts::start(const std::string& label, std::int64_t line, std::span<const Token> tokens, Length cached,
                       const Scope& scope) {
    const Name name = begin(label, line);
    texts_[name].scope = number_of(scope);
    texts_[name].cached = cached;
    append(name, tokens);
    return name;
}

Name AuditTexts::fork(Name parent, const std::string& label, std::int64_t line, Length at) {
    const Name name = begin(label, line);
    const AuditText& from = texts_[parent];
    AuditText& child = texts_[name];
    child.scope = from.scope;
    child.history.assign(from.history.begin(), from.history.begin() + at);
    tokens_ += at;
    return name;
}

void AuditTexts::append(Name name, std::span<const Token> tokens) {
    AuditText& text = texts_[name];
    tokens_ += static_cast<std::int64_t>(tokens.size());
    std::size_t accepted = 0;
    for (const Token token : tokens) {
        add(text.history, past_of(text, text.length()), text.length(), token);
        // Drafts come true one by one, until the first that does not.
        const bool as_drafted =
            accepted < text.drafts.size() && text.drafts[accepted].chain == text.history.back().chain;
        accepted = as_drafted ? accepted + 1 : text.drafts.size();
    }
    text.drafts.erase(text.drafts.begin(), text.drafts.begin() + static_cast<std::ptrdiff_t>(accepted));
}

void AuditTexts::truncate(Name name, Length length) {
    AuditText& text = texts_[name];
    tokens_ -= text.length() - length;
    text.history.resize(static_cast<std::size_t>(length));
    text.cached = std::min(text.cached, length);
    text.drafts.clear();
}

void AuditTexts::end(Name name) {
    tokens_ -= texts_[name].length();
    texts_[name] = {.label = std::move(texts_[name].label)};
}

void AuditTexts::write(Name name, Length first, std::span<const Token> tokens, std::vector<AuditToken>& cells) {
    AuditText& text = texts_[name];
    const bool is_known = has_past_of(text, first);
    // No scope has this number: such a chain is like no other.
    std::uint64_t chain = is_known ? past_of(text, first) : first_chain(~static_cast<std::uint32_t>(++unknown_pasts_));
    Length position = first;
    cells.clear();
    for (const Token token : tokens) {
        add(cells, chain, position++, token);
        chain = cells.back().chain;
    }
    if (!is_known) {
        return;
    }
    for (Length at = std::max(first, text.length()); at < position; ++at) {
        const AuditToken& written = cells[static_cast<std::size_t>(at - first)];
        const auto draft = static_cast<std::size_t>(at - text.length());
        if (draft < text.drafts.size() && text.drafts[draft].chain != written.chain) {
            text.drafts.resize(draft);  // other drafts than before
        }
        if (draft == text.drafts.size()) {
            text.drafts.push_back(written);
        }
    }
}

AuditCell AuditTexts::expected(Name name, std::uint32_t group, Length position) const {
    const AuditText& text = texts_[name];
    const AuditToken& token = text.history[static_cast<std::size_t>(position)];
    return {.chain = token.chain,
            .position = static_cast<std::int32_t>(position),
            .token = token.token,
            .scope = text.scope,
            .group = group,
            .writer = name};
}

}  // namespace kvpane::invariants

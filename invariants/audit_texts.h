// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/audit_memory.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// One token of a history. `chain` is a hash over everything from the scope and the first token to this one.
struct AuditToken {
    std::uint64_t chain;
    Token token;
};

// What a sequence should read back as: its history, as the engine's scheduler tells it.
struct AuditText {
    std::string label{};
    std::int64_t since = 0;  // the event that it began with; 0 = it has ended
    std::uint32_t scope = 0;
    Length cached = 0;  // the first tokens that a prefix hit found
    std::vector<AuditToken> history{};
    std::vector<AuditToken> drafts{};  // written behind the history, and not appended yet

    Length length() const noexcept { return static_cast<Length>(history.size()); }
};

// The texts of all sequences. A label may begin again when it has ended. Names are small numbers; references are valid
// until a sequence begins.
class AuditTexts {
public:
    explicit AuditTexts(std::int64_t most_tokens) : most_tokens_(most_tokens) {}

    // Tokens of all living sequences that can be kept; whoever adds some looks first.
    std::int64_t most_tokens() const noexcept { return most_tokens_; }

    // Null when no sequence of this label is alive.
    const AuditText* living(const std::string& label) const;

    // REQUIRES the label is not alive.
    Name start(const std::string& label, std::int64_t line, std::span<const Token> tokens, Length cached,
               const Scope& scope);
    // REQUIRES the label is not alive; the parent is, and has `at` tokens.
    Name fork(Name parent, const std::string& label, std::int64_t line, Length at);

    // All below REQUIRE that the sequence is alive.
    Name name_of(const std::string& label) const { return names_.at(label); }
    void append(Name name, std::span<const Token> tokens);
    void truncate(Name name, Length length);  // to its length or less
    void end(Name name);

    // What stands in a cell that the sequence writes for `position`, tokens[0] at `first`: also a draft, if it does not
    // begin behind those that are known. A cell whose past nobody knows is like no other.
    void write(Name name, Length first, std::span<const Token> tokens, std::vector<AuditToken>& cells);

    // REQUIRES position < length.
    AuditCell expected(Name name, std::uint32_t group, Length position) const;

    const AuditText& operator[](Name name) const { return texts_[name]; }  // ended ones keep their label
    const Scope& scope(std::uint32_t number) const { return scope_parts_[number]; }

    // Of all histories of living sequences.
    std::int64_t tokens() const noexcept { return tokens_; }

private:
    Name begin(const std::string& label, std::int64_t line);
    std::uint32_t number_of(const Scope& scope);

    std::vector<AuditText> texts_;
    std::unordered_map<std::string, Name> names_;
    std::map<Scope, std::uint32_t> scopes_;
    std::vector<Scope> scope_parts_;
    std::int64_t most_tokens_;
    std::int64_t tokens_ = 0;
    std::uint64_t unknown_pasts_ = 0;
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/allocator/scope.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/shadow_cells.h>
#include <kvpane/invariants/spec.h>

namespace kvpane::invariants {

// The Manager's words for scopes and external content, with texts of their own.
Scope owned(const kvpane::Scope& scope);
std::vector<ExternalContent> owned(std::span<const kvpane::ExternalContent> extra);

// One token of a history. `chain` is a hash over everything from the first token to this one.
struct HistoryCell {
    std::uint64_t chain;
    Token token;
};

// What the judge knows of one sequence: its history as the operations told it, never as the Manager tells it.
struct Record {
    struct Group {
        spec::Holding holding;
        std::vector<Slot> reserved;  // handed out and not committed, ascending positions
    };

    bool alive = false;
    Name name = 0;
    SequenceHandle handle;
    std::uint32_t scope = 0;
    std::vector<ExternalContent> extra;
    std::vector<HistoryCell> history;
    std::vector<Group> groups;
    // Right after a commit the last W cells are held; otherwise only what the next query sees.
    bool just_committed = false;
    Length length_at_reserve = 0;  // committed tokens when cells were last reserved
    Length own_from = 0;           // what stands before it was hit or inherited

    Length length() const noexcept { return static_cast<Length>(history.size()); }
    Length reserved() const noexcept { return static_cast<Length>(groups.front().reserved.size()); }
};

// The chain of an empty history in a scope, and of one that grows by a token. `content` is 0, or content_code() of the
// external content behind the token.
std::uint64_t first_chain(std::uint32_t scope);
std::uint64_t next_chain(std::uint64_t before, Length position, Token token, std::uint64_t content);
std::uint64_t content_code(std::string_view id, Length offset);

// The chains behind each of the tokens, in a scope.
std::vector<std::uint64_t> chains_of(std::uint32_t scope, std::span<const Token> tokens,
                                     std::span<const ExternalContent> extra);

// Makes an unused record the record of a new sequence; its vectors keep their memory.
void start(Record& record, Name name, SequenceHandle handle, std::uint32_t scope, std::span<const spec::Rule> rules);

// Makes `child` the record of a fork of the first `length` tokens of `parent`.
void start_fork(Record& child, const Record& parent, Name name, SequenceHandle handle, Length length);

// The history grows by one token.
void add_token(Record& record, Token token);

// Forgets everything from `length` on, and what is reserved.
void cut(Record& record, Length length);

// The cell that the sequence writes at a position of its history; and what must be found there, whoever wrote it.
ShadowCell cell_of(const Record& record, std::uint32_t group, Length position);
ShadowCell due_cell(const Record& record, std::uint32_t group, Length position);

// "position 7 token 5 scope 0 group 1 chain 6b.. written by #3", or "poison". What nobody wrote has no writer.
std::string describe(const ShadowCell& cell);

}  // namespace kvpane::invariants

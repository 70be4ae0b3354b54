// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/operation.h>

// What an engine with a manager of its own says about its block tables, one event after the other, in the order in
// which its device runs them. docs/audit-log.md is the same as text. Three kinds: what the texts are (start, append,
// fork, truncate, end), what happens to memory (write, copy, alloc, free), and what attention will read (table).
namespace kvpane::invariants::engine_log {

// A physical block, as the engine numbers it.
using Block = std::int64_t;

inline constexpr std::int64_t most_blocks = std::int64_t{1} << 24U;
inline constexpr std::int64_t largest_block_size = 65'536;

struct Group {
    std::string name{};
    Length window = 0;       // a query at p sees the positions > p - window; 0 = everything
    Length sinks = 0;        // and those below
    std::uint32_t pool = 0;  // groups with equal numbers share one id space
};

struct Header {
    Length block_size = 1;
    std::int64_t blocks = most_blocks;  // ids are 0..blocks - 1 in each pool
    Block null_block = -1;              // "no block here" in tables; what is written to it is nothing
    std::vector<Group> groups = {{.name = "full"}};
};

// --- what the texts are ----------------------------------------------------------------------------------------------

// A history begins. The cells of the first `cached` tokens are not written by this sequence: they should be there.
struct Start {
    std::string sequence{};
    std::vector<Token> tokens{};
    Length cached = 0;
    Scope scope{};  // cells of another scope never pass
};

struct Append {
    std::string sequence{};
    std::vector<Token> tokens{};
};

// The child has the first `at` tokens of the parent, all by default, and its scope.
struct Fork {
    std::string parent{};
    std::string child{};
    std::optional<Length> at{};
};

struct Truncate {
    std::string sequence{};
    Length length = 0;
};

// The sequence and its tables are no more; its cells stay until their blocks are given up.
struct End {
    std::string sequence{};
};

// --- what happens to memory ------------------------------------------------------------------------------------------

// K and V of tokens[i] at position + i, computed behind the sequence's history, go to slots[i] of the group's pool.
// Slot = block * block_size + offset; -1 is written nowhere. Positions behind the history are drafts.
struct Write {
    std::string sequence{};
    std::uint32_t group = 0;
    Length position = 0;
    std::vector<Token> tokens{};  // [n]
    std::vector<Slot> slots{};    // [n]
};

// The first `cells` cells of a block to another one of the group's pool.
struct Copy {
    std::uint32_t group = 0;
    Block from = 0;
    Block to = 0;
    Length cells = 0;
};

// Both end the content of the blocks: nobody may read it again. An engine that keeps idle blocks cached logs Alloc when
// it reuses them, not Free when the last sequence lets go.
struct Alloc {
    std::uint32_t group = 0;
    std::vector<Block> blocks{};
};
struct Free {
    std::uint32_t group = 0;
    std::vector<Block> blocks{};
};

// --- what attention will read ----------------------------------------------------------------------------------------

// The next query, at position `query`, reads the cells below `length` through this table. Judged at once.
struct Table {
    std::string sequence{};
    std::uint32_t group = 0;
    Length first = 0;               // logical block of blocks[0]
    std::vector<Block> blocks{};    // by logical block; null_block = a hole
    Length length = 0;              // tokens whose cells are there
    std::optional<Length> query{};  // default: length
    Length reserved = 0;            // cells behind `length` that must have a block, too
};

using Event = std::variant<Start, Append, Fork, Truncate, End, Write, Copy, Alloc, Free, Table>;

}  // namespace kvpane::invariants::engine_log

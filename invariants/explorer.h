// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/catalogue.h>
#include <kvpane/invariants/explorer_limits.h>
#include <kvpane/invariants/operation.h>

// Exhaustive exploration: every state that a small Manager can reach, by any sequence of operations of any length, and
// the full audit of every transition between them. docs/exploring.md says why it is exhaustive, and what is left out.
namespace kvpane::invariants {

inline constexpr std::size_t verbs = 19;   // of Verb
inline constexpr std::size_t errors = 7;   // of Error

// 128 bits that name a state: equal for two states that differ only in the names of blocks, sequences and steps.
struct Fingerprint {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

struct ExploreConfig {
    Config manager;
    std::uint32_t sequences = 2;   // alive at once
    Length longest = 6;            // [tokens] of a sequence, reserved cells included; prompts that are asked for, too
    Length longest_prompt = 6;     // [tokens] of a prompt that is admitted or queried
    std::uint32_t alphabet = 2;    // tokens 0, 1, ...
    std::uint32_t scopes = 1;      // that prompts come in
    std::uint32_t contents = 0;    // external contents of one cell, which may stand behind each token of a prompt
    Length reserve = 2;            // most cells of one reserve, append or commit
    std::uint32_t partial = 1;     // admit also with compute = 0 .. partial - 1
    std::uint32_t open_steps = 0;  // device steps open at once
    std::uint32_t pins = 0;        // a pin is tried while fewer than so many stand
    std::uint32_t priorities = 0;  // prompts are admitted with priority 0 .. priorities
    std::uint32_t priority_steps = 0;      // priority_steps of those with more than 0
    std::array<bool, verbs> tries{};       // by Verb
    std::int64_t limit = 20'000'000;       // states; the exploration stops there
    std::uint32_t threads = 1;

    // For tests. Without `rename` nothing is equal but what is the same, names and all; `observe` is called for each
    // state that was expanded, by one thread at a time, with its name (renamed in any case), and a sum over what it can
    // do: verbs, outcomes and the names of its successors; `fault` runs behind each operation that succeeded.
    bool rename = true;
    std::function<void(const Fingerprint& state, std::uint64_t behaviour)> observe;
    std::function<void(Manager& manager, const Operation& operation)> fault;
};

// What cannot be explored, as one sentence with the key's name; nothing when it can. REQUIRES validate(config.manager)
// finds nothing.
std::optional<std::string> validate(const ExploreConfig& config);

struct VerbCount {
    std::int64_t succeeded = 0;
    std::array<std::int64_t, errors> refused{};  // by Error

    friend bool operator==(const VerbCount&, const VerbCount&) = default;
};

struct ExploreViolation {
    Invariant invariant = Invariant::P1;
    std::string what;              // one sentence
    std::vector<Operation> trace;  // from the empty Manager; none is shorter. The last operation breaks it
    std::vector<Operation> coda;   // what brings it to light where fences are judged by their ends alone
    std::optional<Error> due;      // of the last operation: the error that it should have ended with
    std::optional<Error> got;
    std::optional<Length> cached_tokens;  // admit, probe: what it should have hit
    std::optional<Length> index_entries;  // X1: how many there should be
};

struct ExploreProgress {
    std::int64_t states = 0;
    std::int64_t transitions = 0;
    std::int64_t depth = 0;
};

struct ExploreReport {
    std::int64_t states = 0;
    std::int64_t transitions = 0;  // operations that were tried and checked, refused ones and questions included
    std::int64_t depth = 0;        // operations from the empty Manager to the farthest state
    bool is_exhausted = false;     // false: the limit was reached, or a violation ended it
    double seconds = 0;
    std::array<VerbCount, verbs> counts{};
    std::uint64_t digest = 0;  // of the set of states, whatever the order
    std::optional<ExploreViolation> violation;
};

// Breadth first from the empty Manager. Counts and digest do not depend on the number of threads; which of several
// shortest traces is reported may. `progress` is called between two levels.
// COST per transition: a copy of a small Manager, the operation, the audit: a few microseconds. Memory: about 50 bytes
// a state. REQUIRES validate(config) finds nothing.
ExploreReport explore(const ExploreConfig& config, const std::function<void(const ExploreProgress&)>& progress = {});

// What the calling thread is exploring: the operations from the empty Manager to the one under way. Empty when it
// explores nothing. For who must say where a broken promise of the library stopped the program.
std::vector<Operation> operations_under_way();

}  // namespace kvpane::invariants

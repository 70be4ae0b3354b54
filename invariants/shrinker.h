// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/payload_options.h>

// Makes a failing run small enough to read: fewer operations, sequences and tokens, smaller numbers, a smaller Manager.
namespace kvpane::invariants {

// A Manager and what it is asked for.
struct Case {
    Config config;
    std::vector<Operation> operations;
};

// Runs the case under the full judge, on real cells where `payload` is given, up to the first violation. `each` hears what
// came of every operation.
std::optional<Violation> judge(const Case& one, const std::function<void(const Outcome&)>& each = {},
                               const std::optional<PayloadOptions>& payload = std::nullopt);

// Whether a run of the case still fails in the way that is looked for. It is called for cases that make little sense
// (an append to a sequence that was never admitted) and has to cope: run through a Driver, the Manager refuses these.
// It must give the same answer to the same case.
using StillFails = std::function<bool(const Case&)>;

struct ShrinkProgress {
    std::int64_t candidates = 0;  // tried
    std::size_t operations = 0;   // of the smallest failing case so far
    std::size_t tokens = 0;
};

struct ShrinkLimits {
    std::int64_t candidates = 100'000;                         // then the smallest case so far has to do
    std::function<void(const ShrinkProgress&)> progress = {};  // when given: called about every 50 ms
};

struct Shrunk {
    Case smallest;                // fails; the same as the given one if nothing could be left out
    std::int64_t candidates = 0;  // that were tried
    bool is_finished = true;      // false when the limit was reached
};

// Delta debugging, until no step makes the case smaller: the shortest failing beginning, operations (ddmin), whole
// sequences, tokens and numbers, the Manager. What is left is minimal in that none of these steps, alone, can go on; a
// smaller case may exist.
// ENSURES the result fails, as in_order(). REQUIRES still_fails(in_order(failing)).
// COST so many calls of still_fails: about log2(n) + k^2 for k operations that matter among n.
Shrunk shrink(Case failing, const StillFails& still_fails, const ShrinkLimits& limits = {});

// The same case as a scenario says it: sequences are numbered in the order in which admit or fork introduce them, device
// steps and the words of scopes and external content in the order in which they appear. Operations on sequences that
// nothing before them introduces are left out (they are refused), as are those that no scenario can say (a negative
// token, say: they are refused too); numbers far below zero become -1. What the Manager keeps for its engine alone (its
// instance, room made in advance) is as usual.
Case in_order(const Case& unordered);

// Tokens in all operations.
std::size_t tokens_of(const std::vector<Operation>& operations) noexcept;

}  // namespace kvpane::invariants

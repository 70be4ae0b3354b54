// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/allocator/error.h>
#include <kvpane/invariants/shrinker.h>

// Runs of a Manager that may not survive: each in a process of its own.
namespace kvpane::cli {

// How a run failed. Two failures are of one kind when their `kind` is equal.
struct Failure {
    std::string kind;            // "invariant T3", "promise P1", "signal 11"
    std::int64_t operation = 0;  // in which it did, from 1
    std::string what;            // one sentence
    std::optional<Error> due;    // what that operation should end with; nothing = success, or not known
};

struct IsolatedRun {
    std::optional<Failure> failure;
    std::vector<std::optional<Error>> errors;  // of the operations that ended, in order
};

// Runs a case; what it tells of each operation goes to the function that it is given. In real life judge().
using RunCase = std::function<std::optional<invariants::Violation>(
    const invariants::Case&, const std::function<void(const invariants::Outcome&)>&)>;

// Runs the case in a child process; one that takes more than a minute counts as ended by a signal.
// REQUIRES no other threads. ERRORS std::runtime_error when there is no child process, or an exception ended it.
IsolatedRun run_isolated(const invariants::Case& one, const RunCase& run);

}  // namespace kvpane::cli

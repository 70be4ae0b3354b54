// SPDX-License-Identifier: Apache-2.0
// Calls of a small Manager, in whatever order: no invariant breaks, and every block comes back.
#include <kvpane/invariants/checked_manager.h>

#include "fuzz/operation_stream.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

// Each call is checked in full: a longer run is no new case, only a slow one.
constexpr std::int64_t most_operations = 400;

void apply(CheckedManager& kv, const Operation& operation) {
    kv.apply(operation);
    if (const auto& violation = kv.violation()) {
        throw Broken(text("operation ", violation->operation, ", ", to_string(operation.verb), ": invariant ",
                          number(violation->invariant), " broken: ", sentence(violation->invariant), ": ",
                          violation->what));
    }
}

void end_everything(CheckedManager& kv) {
    Operation end;
    end.verb = Verb::step_end;
    for (end.step = 0; end.step < OperationStream::steps; ++end.step) {
        apply(kv, end);  // an error where it is not open
    }
    end.verb = Verb::release;
    for (const Name name : kv.living()) {
        end.sequence = name;
        apply(kv, end);
    }
}

}  // namespace

void run_operations(Input input, JournalWriter* journal) {
    OperationStream stream(input);
    CheckedManager kv(stream.config(), CheckMode::every);
    kv.keep(journal);
    while (kv.operations() < most_operations) {
        const auto operation = stream.next();
        if (!operation) {
            break;
        }
        apply(kv, *operation);
    }
    end_everything(kv);
    const BlockPool& pool = kv.manager().pool();
    require(pool.live_blocks() == 0 && pool.fenced_blocks() == 0, "everything has ended, and ", pool.live_blocks(),
            " blocks are live, ", pool.fenced_blocks(), " fenced");
}

void operations(Input input) { run_operations(input, nullptr); }

}  // namespace kvpane::fuzz

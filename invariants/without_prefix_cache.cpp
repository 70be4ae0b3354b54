// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/without_prefix_cache.h>

#include <algorithm>

namespace kvpane::invariants {

namespace {

std::optional<Error> refusal(const Operation& operation, const Manager& manager, SequenceHandle sequence) {
    if (std::ranges::any_of(operation.tokens, [](Token token) { return token < 0; })) {
        return Error::invalid_argument;
    }
    if (operation.verb == Verb::probe && operation.tokens.empty()) {
        return Error::invalid_argument;
    }
    if (operation.verb == Verb::evict && operation.count < 0) {
        return Error::invalid_argument;
    }
    if (operation.verb == Verb::unpin) {
        return Error::invalid_argument;  // nothing was ever pinned: each is one too many
    }
    if (operation.verb == Verb::uncache) {
        const auto table = manager.table(sequence, GroupId{0});
        if (!table) {
            return table.error();
        }
        const auto outside = [&](Length block) { return block < 0 || block >= Length{table->size}; };
        if (std::ranges::any_of(operation.blocks, outside)) {
            return Error::invalid_argument;
        }
    }
    return std::nullopt;
}

}  // namespace

// probe finds no token, evict has nothing to drop, uncache nothing to take out, pin nothing to keep, and reset_cache
// clears no block: nothing changes.
Outcome without_prefix_cache(const Operation& operation, const Manager& manager, SequenceHandle sequence) {
    Outcome outcome;
    outcome.error = refusal(operation, manager, sequence);
    return outcome;
}

}  // namespace kvpane::invariants

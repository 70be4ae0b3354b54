// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/stress.h>

#include "invariants/loads.h"
#include "support/kv.h"

// What the tests of journals and of the shrinker share.
namespace kvpane::invariants {

using Bytes = std::vector<std::byte>;

// All fields, whatever the verb.
inline bool operator==(const Operation& a, const Operation& b) {
    const auto all = [](const Operation& o) {
        return std::tie(o.verb, o.sequence, o.child, o.sequences, o.tokens, o.scope, o.extra, o.compute, o.at, o.is_batch,
                        o.counts, o.count, o.chunk, o.length, o.blocks, o.priority, o.priority_steps, o.step, o.keep_cached);
    };
    return all(a) == all(b);
}

struct Read {
    std::vector<Operation> operations;
    std::vector<std::optional<Answer>> answers;
    std::optional<JournalError> error;
};

inline Read read_all(const Bytes& bytes) {
    Read read;
    JournalReader reader(bytes);
    while (const JournalEntry* entry = reader.next()) {
        read.operations.push_back(entry->operation);
        read.answers.push_back(entry->answer);
    }
    read.error = reader.error();
    return read;
}

inline JournalHeader header_of(const StressConfig& config, bool digests) {
    return {config.manager, config.check, digests, 7, config.seed};
}

// The journal of such a run.
inline Bytes journal_of(const StressConfig& config, bool digests = false) {
    MemorySink sink;
    JournalWriter writer(sink, header_of(config, digests));
    stress(config, {}, &writer);
    return sink.bytes();
}

}  // namespace kvpane::invariants

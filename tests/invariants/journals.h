// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/stress.h>

#include "support/kv.h"

// What the tests of journals and of the shrinker share.
namespace kvpane::invariants {

using Bytes = std::vector<std::byte>;

// All fields, whatever the verb.
inline bool operator==(const Operation& a, const Operation& b) {
    const auto all = [](const Operation& o) {
        return std::tie(o.verb, o.sequence, o.child, o.sequences, o.tokens, o.scope, o.extra, o.compute, o.at, o.count,
                        o.chunk, o.length, o.blocks, o.priority, o.priority_steps, o.step, o.keep_cached);
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

inline LengthDistribution lengths(Length min, Length max) {
    return {LengthDistribution::Kind::uniform, min, max, 1, 0, {}};
}

// A run with every kind of operation: three kinds of groups, a pool that is often full, prompts that share prefixes.
inline StressConfig every_kind(std::uint64_t seed, std::int64_t steps) {
    StressConfig config;
    config.manager = testing::plain(4, 60);
    config.manager.prefix_cache.enabled = true;
    config.manager.prefix_cache.most_pinned = 10;
    config.manager.rewind_slack = 3;
    config.manager.groups = {{"full", 0, 0}, {"swa", 9, 0}, {"sinks", 6, 5}};
    config.seed = seed;
    config.steps = steps;
    config.check = CheckMode::off;
    config.most_sequences = 12;
    config.mix.percent = {12, 16, 11, 8, 7, 4, 7, 5, 7, 4, 3, 4, 2, 2, 2, 3, 2, 1};
    config.prompt = lengths(1, 30);
    config.chunk = lengths(1, 8);
    config.draft = lengths(1, 6);
    config.rewind = lengths(0, 6);
    config.chunked_percent = 30;
    config.fork_at_percent = 30;
    config.longest = 60;
    config.sharing = {.count = 3,
                      .length = lengths(3, 20),
                      .shared_percent = 40,
                      .returning_percent = 20,
                      .edited_percent = 10,
                      .forget_percent = 20,
                      .remembered = 8,
                      .tenants = 2,
                      .priorities = 2,
                      .priority_steps = 3,
                      .alphabet = 100};
    return config;
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

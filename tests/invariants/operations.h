// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <kvpane/invariants/operation.h>

// Operations, one word each.
namespace kvpane::invariants {

using Tokens = std::vector<Token>;

inline Scope scope_of(std::string tenant, std::string salt = "", std::int64_t lora_id = 0) {
    Scope scope;
    scope.tenant = std::move(tenant);
    scope.salt = std::move(salt);
    scope.lora_id = lora_id;
    return scope;
}

inline Operation operation(Verb verb, Name sequence, Tokens tokens = {}) {
    Operation out;
    out.verb = verb;
    out.sequence = sequence;
    out.tokens = std::move(tokens);
    return out;
}

inline Operation admit(Name sequence, Tokens tokens, std::optional<Length> compute = std::nullopt) {
    Operation out = operation(Verb::admit, sequence, std::move(tokens));
    out.compute = compute;
    return out;
}

inline Operation append(Name sequence, Tokens tokens) { return operation(Verb::append, sequence, std::move(tokens)); }
inline Operation commit(Name sequence, Tokens tokens) { return operation(Verb::commit, sequence, std::move(tokens)); }
inline Operation cancel(Name sequence) { return operation(Verb::cancel, sequence); }
inline Operation release(Name sequence) { return operation(Verb::release, sequence); }
inline Operation check() { return operation(Verb::check, 0); }

inline Operation reserve(Name sequence, Length count) {
    Operation out = operation(Verb::reserve, sequence);
    out.count = count;
    return out;
}

inline Operation reserve_batch(std::vector<Name> sequences, std::vector<Length> counts) {
    Operation out = operation(Verb::reserve, 0);
    out.is_batch = true;
    out.sequences = std::move(sequences);
    out.counts = std::move(counts);
    return out;
}

inline Operation append_batch(std::vector<Name> sequences, Tokens tokens) {
    Operation out = operation(Verb::append_batch, 0, std::move(tokens));
    out.sequences = std::move(sequences);
    return out;
}

inline Operation fork(Name sequence, Name child, std::optional<Length> at = std::nullopt) {
    Operation out = operation(Verb::fork, sequence);
    out.child = child;
    out.at = at;
    return out;
}

inline Operation truncate(Name sequence, Length length) {
    Operation out = operation(Verb::truncate, sequence);
    out.length = length;
    return out;
}

inline Operation plan(Length count, Length chunk = 0) {
    Operation out = operation(Verb::plan, 0);
    out.count = count;
    out.chunk = chunk;
    return out;
}

// The same prompt in a scope, and with external content behind it.
inline Operation in(Scope scope, Operation prompt) {
    prompt.scope = std::move(scope);
    return prompt;
}
inline Operation with(std::vector<ExternalContent> extra, Operation prompt) {
    prompt.extra = std::move(extra);
    return prompt;
}

inline Operation probe(Tokens tokens) { return operation(Verb::probe, 0, std::move(tokens)); }
inline Operation pin(Tokens tokens) { return operation(Verb::pin, 0, std::move(tokens)); }
inline Operation unpin(Tokens tokens) { return operation(Verb::unpin, 0, std::move(tokens)); }
inline Operation plan(Tokens tokens, Length chunk = 0) {
    Operation out = operation(Verb::plan, 0, std::move(tokens));
    out.chunk = chunk;
    return out;
}
inline Operation reset_cache() { return operation(Verb::reset_cache, 0); }

inline Operation evict(Length blocks) {
    Operation out = operation(Verb::evict, 0);
    out.count = blocks;
    return out;
}

inline Operation uncache(Name sequence, std::vector<Length> blocks) {
    Operation out = operation(Verb::uncache, sequence);
    out.blocks = std::move(blocks);
    return out;
}

inline Operation step_begin(std::uint64_t step) {
    Operation out = operation(Verb::step_begin, 0);
    out.step = step;
    return out;
}

inline Operation step_end(std::uint64_t step) {
    Operation out = operation(Verb::step_end, 0);
    out.step = step;
    return out;
}

}  // namespace kvpane::invariants

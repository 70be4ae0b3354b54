// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "support/workloads.h"

// The workloads whose results were recorded from another block manager, digit by digit. A test runs each of them once,
// the benchmarks measure them. A refusal ends them with an exception: there is room for everything.
namespace kvpane::testing {

inline void append_one(Manager& kv, SequenceHandle sequence, Token token) {
    const Reservation one{sequence, 1};
    granted(kv.reserve(std::span(&one, 1)));
    granted(kv.commit(sequence, std::span(&token, 1)));
}

// Workload B: 256 prompts of 1024 tokens, then 512 decode steps for all.
class DecodeWorkload {
public:
    static constexpr std::uint64_t sequences = 256;
    static constexpr Length prompt_length = 1024;
    static constexpr Length steps = 512;
    static constexpr std::uint32_t used = 24'576;
    static constexpr std::uint64_t tables = 0x87f10fcb64ae1125U;  // when all is decoded
    static constexpr std::uint64_t queue = 0x4aa05075f5174f25U;   // when all is released

    // `attach`, when given, gets the Manager before anything happens.
    explicit DecodeWorkload(bool cache, const std::function<void(Manager&)>& attach = {}) : kv(config(cache)) {
        if (attach) {
            attach(kv);
        }
        constexpr Length chunk = 512;
        for (std::uint64_t s = 0; s < sequences; ++s) {
            const Tokens prompt = drawn_tokens(s, prompt_length);
            alive_.push_back(granted(kv.admit({.tokens = prompt, .compute = chunk})).sequence);
            granted(kv.append(alive_.back(), std::span(prompt).subspan(chunk)));
        }
    }

    void decode() {
        Token pending = 7;
        for (Token t = 0; t < steps; ++t) {
            for (const SequenceHandle sequence : alive_) {
                append_one(kv, sequence, pending);
            }
            pending = t & 0xffff;
        }
    }

    std::uint64_t hash_of_tables() const {
        Fnv hash;
        std::ranges::for_each(alive_, [&](SequenceHandle sequence) { hash.add(table_of(kv, sequence)); });
        return hash.value();
    }

    void release() {
        std::ranges::for_each(alive_, [&](SequenceHandle sequence) { granted(kv.release(sequence)); });
        alive_.clear();
    }

private:
    static Config config(bool cache) {
        constexpr Length most_length = prompt_length + steps;
        Config config = workload(Length{sequences} * (most_length / 16 + 2) + 1);
        config.prefix_cache.enabled = cache;
        config.expected_sequences = sequences;
        config.expected_length = most_length;
        return config;
    }

public:
    Manager kv;

private:
    std::vector<SequenceHandle> alive_;
};

// Workload C: one prompt, computed in chunks and released, that comes back.
class ReturningPrompt {
public:
    static constexpr Length hit_tokens = 32'768;

    ReturningPrompt() : kv(workload(16'386)), prompt(drawn_tokens(42, hit_tokens + 1)) {
        constexpr std::size_t chunk = 2048;
        const SequenceHandle first = granted(kv.admit({.tokens = prompt, .compute = Length{chunk}})).sequence;
        for (std::size_t at = chunk; at < prompt.size(); at += chunk) {
            granted(kv.append(first, std::span(prompt).subspan(at, std::min(chunk, prompt.size() - at))));
        }
        granted(kv.release(first));
    }

    Manager kv;
    const Tokens prompt;
};

// Workload D: prompts that share nothing; the first 8 fill the pool, the others evict 2048 blocks each.
class ColdPrompts {
public:
    static constexpr std::uint64_t prompts = 28;
    static constexpr std::uint64_t queue = 0x2e552e0aef894325U;  // when all came and went

    ColdPrompts() : kv(workload(16'385)) {
        for (std::uint64_t i = 0; i < prompts; ++i) {
            prompts_.push_back(drawn_tokens(1000 + i, 32'768));
        }
    }

    // How many tokens prompt i found; it should find none.
    Length run(std::uint64_t i) {
        const Admission cold = granted(kv.admit({.tokens = prompts_[i]}));
        granted(kv.release(cold.sequence));
        return cold.cached_tokens;
    }
    const Tokens& prompt(std::uint64_t i) const { return prompts_[i]; }

    Manager kv;

private:
    std::vector<Tokens> prompts_;
};

// Workload W5: 1000 requests over 64 prefixes of 2048 tokens, 512 tokens of its own for each, 128 decode steps.
class SharedPrefixes {
public:
    static constexpr std::uint64_t requests = 1000;
    static constexpr std::uint64_t queried_tokens = 2'560'000;
    static constexpr std::uint64_t hit_tokens = 1'731'584;
    static constexpr std::uint64_t decoded_tokens = 128'000;
    static constexpr std::uint64_t evicted_blocks = 47'488;
    static constexpr std::uint64_t tables = 0x609867e54ca632bdU;  // of each request at its admission
    static constexpr std::uint64_t queue = 0x94be45977d649365U;   // at the end

    SharedPrefixes() : kv(workload(12'289)) {
        std::vector<Tokens> prefixes;
        for (std::uint64_t g = 0; g < 64; ++g) {
            prefixes.push_back(drawn_tokens(1000 + g, 2048));
        }
        Lcg picks(7);
        for (std::uint64_t i = 0; i < requests; ++i) {
            prompts_.push_back(prefixes[picks.below(64)]);
            const Tokens own = drawn_tokens(100'000 + i, 512);
            prompts_.back().insert(prompts_.back().end(), own.begin(), own.end());
        }
    }

    void run() {
        constexpr std::size_t most_alive = 64;
        std::size_t next = 0;
        while (next < requests || !alive_.empty()) {
            for (; alive_.size() < most_alive && next < requests; ++next) {
                const SequenceHandle sequence = granted(kv.admit({.tokens = prompts_[next]})).sequence;
                tables_.add(table_of(kv, sequence));
                alive_.push_back({sequence});
            }
            decode();
        }
    }

    std::span<const Tokens> prompts() const { return prompts_; }
    std::uint64_t hash_of_tables() const { return tables_.value(); }
    std::uint64_t decoded() const { return decoded_; }

    Manager kv;

private:
    struct Request {
        SequenceHandle sequence;
        Token pending = 1;
        Token steps = 0;
    };

    void decode() {
        constexpr Token most_steps = 128;
        std::deque<Request> still;
        for (Request& request : alive_) {
            append_one(kv, request.sequence, request.pending);
            ++decoded_;
            request.pending = ++request.steps & 0xffff;
            if (request.steps == most_steps) {
                granted(kv.release(request.sequence));
            } else {
                still.push_back(request);
            }
        }
        alive_ = std::move(still);
    }

    std::vector<Tokens> prompts_;
    std::deque<Request> alive_;
    Fnv tables_;
    std::uint64_t decoded_ = 0;
};

// Workload W2: 32 prompts of 2048 blocks, all indexed.
class IndexedPrompts {
public:
    static constexpr std::uint64_t prompts = 32;
    static constexpr Length hit_tokens = 32'768;
    static constexpr std::uint32_t entries = 65'536;

    IndexedPrompts() : kv(workload(Length{entries} + 1 + 32)) {
        for (std::uint64_t i = 0; i < prompts; ++i) {
            prompts_.push_back(drawn_tokens(1000 + i, hit_tokens));
            granted(kv.release(granted(kv.admit({.tokens = prompts_.back()})).sequence));
            prompts_.back().push_back(0);  // what is left to compute, so that all of the rest can be hit
        }
    }

    Length probe(std::uint64_t i) { return granted(kv.probe({.tokens = prompts_[i]})); }
    const Tokens& prompt(std::uint64_t i) const { return prompts_[i]; }

    Manager kv;

private:
    std::vector<Tokens> prompts_;
};

}  // namespace kvpane::testing

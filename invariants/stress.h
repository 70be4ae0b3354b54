// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/allocator/cache_events.h>
#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/payload_options.h>

namespace kvpane::invariants {

class JournalWriter;

// Where lengths come from.
struct LengthDistribution {
    enum class Kind : std::uint8_t {
        uniform,    // min..max
        lognormal,  // median, sigma of the logarithm, clamped to min..max
        edges,      // multiples of block_size and of each window, and one less or more, within min..max
        values,     // drawn from `values` (a trace's column), clamped to min..max
    };
    Kind kind = Kind::uniform;
    Length min = 1;
    Length max = 1;
    double median = 1;
    double sigma = 0;
    std::vector<Length> values;
};

// How often each kind of operation is tried, in percent; they sum to 100. A kind that finds nothing to work on (no
// sequence with reserved cells, say) falls back to `append`, or to `admit` when nothing can be appended to or `append`
// is at 0. Any other kind at 0 is never tried.
struct Mix {
    enum Kind : std::uint8_t {
        admit,
        append,
        append_batch,
        reserve,
        commit,
        cancel,
        fork,
        truncate,
        release,
        step,
        plan,
        invalid,
        probe,
        evict,
        uncache,
        pin,
        unpin,
        reset_cache,
        kinds
    };
    std::array<std::int64_t, kinds> percent{};
};

// The names of the kinds as configs spell them, in the order of Mix::Kind.
inline constexpr std::array<const char*, Mix::kinds> mix_names = {
    "admit", "append", "append_batch", "reserve", "commit", "cancel",  "fork", "truncate", "release",
    "step",  "plan",   "invalid",      "probe",   "evict",  "uncache", "pin",  "unpin",    "reset_cache"};

// What the prompts have in common, so that there is something to find in the prefix cache. Three percentages of all
// prompts that are drawn (for admissions, probes and plans), 100 in all at most, say where they come from; the rest, and
// what finds nothing to repeat, is new. With all three at 0 no history is remembered.
struct Sharing {
    std::uint32_t count = 0;             // prefixes that many prompts begin with, as with a system prompt
    LengthDistribution length = {};      // [tokens] of each of them
    double zipf = 1;                     // the r-th of them is drawn as often as r^-zipf
    std::int64_t shared_percent = 0;     // one of them, then `prompt` tokens that are new
    std::int64_t returning_percent = 0;  // a known history, then `chunk` new tokens: the next turn of a chat
    std::int64_t edited_percent = 0;     // a known history in which one token is another
    std::int64_t forget_percent = 0;     // of the drawn releases: what the sequence filled itself is forgotten
    std::uint32_t remembered = 64;       // histories of ended sequences that can come back
    std::uint32_t tenants = 1;           // scopes that the prompts come from: equal tokens, nothing in common
    std::uint32_t priorities = 1;        // priorities 0..priorities-1
    std::uint32_t priority_steps = 0;  // a priority lasts so many ended device steps at most, or for ever; 0 = for ever
    std::int64_t pictures_percent = 0;  // of the new prompts, one of `count` included: some tokens stand for a picture
    Token alphabet = 0;                 // every token is one of 0..alphabet-1; 0 = any token
};

struct StressConfig {
    std::string title;
    Config manager;
    std::uint64_t seed = 1;
    std::int64_t steps = 10'000;
    CheckMode check = CheckMode::every;
    Sampling sampling;
    std::optional<PayloadOptions> payload;  // nothing = no real cells
    std::uint32_t most_sequences = 32;  // alive at once; an admit or fork beyond it first releases one
    bool swarm = false;                 // draw other percentages from each seed, some kinds off
    Mix mix;
    LengthDistribution prompt;         // [tokens] of an admit
    LengthDistribution chunk;          // [tokens] of an append; an admit computes so many of its prompt in chunked runs
    LengthDistribution draft;          // [cells] of a reserve
    LengthDistribution rewind;         // [tokens] that a truncate, or a fork at an earlier position, goes back
    std::int64_t chunked_percent = 0;  // of the admits: compute only the first chunk, append the rest later
    std::int64_t fork_at_percent = 0;  // of the forks: at an earlier position
    std::int64_t batched_percent = 0;  // of the reserves: for several sequences in one call
    std::uint32_t open_steps = 2;      // most device steps in flight at once
    Length longest = 0;                // [tokens] a sequence beyond it is released; 0 = no such bound
    Sharing sharing;
};

// How often a commit left a window group in each phase.
struct WindowPhases {
    // Counts a commit that took one sequence from `before` to `after` tokens in a group of window `window` > 0.
    constexpr void count(Length before, Length after, Length window) noexcept {
        ++(after < window ? not_full : after == window ? exactly_full : before <= window ? first_eviction : steady);
    }

    std::int64_t not_full = 0;        // fewer than W tokens
    std::int64_t exactly_full = 0;    // W tokens
    std::int64_t first_eviction = 0;  // the commit went past W
    std::int64_t steady = 0;          // it was past W before
};

struct StressReport {
    std::int64_t operations = 0;  // all that the Manager was asked for: config.steps, and what made room in between
    std::int64_t checks = 0;
    double seconds = 0;
    // By the kind that was done, after falling back; `tried` sums to config.steps. A provoked error counts as a success
    // of `invalid`. Releases that make room (too many or too long sequences, a pool where nothing fits any more) come
    // on top: they count in `operations` alone.
    std::array<std::int64_t, Mix::kinds> tried{};
    std::array<std::int64_t, Mix::kinds> succeeded{};
    std::int64_t refused_later = 0;
    std::int64_t refused_never = 0;
    std::int64_t refused_evicted = 0;  // window_evicted
    std::int64_t refused_pins = 0;     // beyond the most that may be pinned, or an unpin of what is pinned no more
    std::int64_t refused_other = 0;    // provoked on purpose by `invalid`
    WindowPhases phases;               // summed over the window groups
    // [0, 1] the share of the allocated cells that hold a token: looked at before every 64th operation, the sum of all
    // held cells over the sum of all cells of held blocks. A block counts once for each table that maps it.
    double utilisation = 0;
    Statistics statistics;  // after the last step, as the next two
    CacheEvents::Totals events;
    std::uint32_t index_entries = 0;
    std::uint64_t digest = 0;  // of the state after the last step
    std::optional<Violation> violation;
};

struct StressProgress {
    std::int64_t done = 0;
    std::int64_t of = 0;
    std::int64_t violations = 0;
};

// Runs config.steps operations drawn from config.seed, or until the first violation; then releases everything, audits
// once more, and finds P1 broken unless every block came back. Equal configs give equal streams on every machine, in
// every check mode. `progress`, when given, is called about every 50 ms. An operation that fails or succeeds where the
// stream expects the opposite is a violation of F2.
// REQUIRES validate(config.manager) finds nothing, most_sequences >= 1, 0 <= min <= max in every distribution, at most
// 65 536 shared prefixes.
// Into `journal`, when given, goes every operation of the run, those of its end included; it is flushed at the end, and
// so behind a violation.
StressReport stress(const StressConfig& config, const std::function<void(const StressProgress&)>& progress = {},
                    JournalWriter* journal = nullptr);

}  // namespace kvpane::invariants

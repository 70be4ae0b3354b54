// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/length_sampler.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/stress.h>
#include <kvpane/invariants/stress_crowd.h>
#include <kvpane/invariants/stress_prompts.h>

namespace kvpane::invariants {

// Other percentages for the kinds that `mix` has: each drawn anew, about a quarter of them off, `admit` always on.
// They sum to 100.
Mix swarm_mix(const Mix& mix, Random& random);

// What is wrong when a run that has released everything did not get every block back (P1).
std::optional<Violation> left_behind(const CheckedManager& kv);

// Draws the operations of a stress run, one at a time. What comes next depends on the seed and on which operations
// succeeded, on nothing else. Alternate next() and settle().
class StressGenerator {
public:
    // REQUIRES as stress().
    explicit StressGenerator(const StressConfig& config);

    // The next operation; valid until the next call. drawn() says whether it was drawn from the mix or makes room.
    const Operation& next();
    bool drawn() const noexcept { return drawn_; }

    // What came of it: remembered here, and counted into `report` (tried, succeeded, refused, phases).
    // Returns what is wrong when it failed or succeeded against expectation.
    std::optional<std::string> settle(const Outcome& outcome, StressReport& report);

    // The next operation that takes the run down: ends the open device steps, then releases everything. Settle it as
    // any other; nullptr when nothing is left.
    const Operation* next_of_the_end();

private:
    bool make_room();
    Mix::Kind draw_kind();
    bool possible(Mix::Kind kind) const noexcept;
    void build(Mix::Kind kind);
    void build_admit();
    void build_append();
    void build_append_batch();
    void build_reserve();
    void build_commit();
    void build_fork();
    void build_step();
    void build_plan();
    void build_release(Name name);
    void build_step_end(std::size_t open_step);
    void build_on_the_cache(Mix::Kind kind);
    void build_uncache();
    void build_unpin();
    void add_next_tokens(Name name, Length count);
    Length at_least_one(const LengthSampler& sampler) { return std::max<Length>(1, sampler.draw(random_)); }

    void remember(const Outcome& outcome, WindowPhases& phases);
    void reserved_more(Name name, Length cells);
    void committed(Name name, std::span<const Token> tokens, WindowPhases& phases);
    void count_phases(Length before, Length after, WindowPhases& phases) const noexcept;
    void refused(Error error, StressReport& report);

    Random random_;
    Mix mix_;
    LengthSampler prompt_, chunk_, draft_, rewind_;
    std::int64_t chunked_percent_, fork_at_percent_, batched_percent_, forget_percent_;
    std::uint32_t most_sequences_, most_open_steps_;
    Length longest_;
    Length block_size_;
    std::vector<Length> windows_;

    // A prompt of which some beginning was pinned.
    struct Pin {
        std::vector<Token> tokens;
        Scope scope;
        std::vector<ExternalContent> extra;
    };

    PromptSource prompts_;
    std::vector<Pin> pins_;
    Crowd crowd_;
    std::vector<std::uint64_t> open_steps_;
    std::uint64_t steps_begun_ = 0;

    Operation operation_;
    Mix::Kind kind_ = Mix::admit;
    bool drawn_ = false;
    std::optional<Error> provoked_;       // the error that the operation must give
    std::optional<Mix::Kind> postponed_;  // drawn, but room had to be made first
    std::vector<Name> to_release_;
    bool step_to_end_ = false;
    int refusals_ = 0;  // in a row, of what takes blocks
};

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/explorer_due.h>
#include <kvpane/invariants/explorer_states.h>
#include <kvpane/invariants/explorer_world.h>
#include <kvpane/invariants/queue_watch.h>

namespace kvpane::invariants::explorer {

// What the threads of one exploration share.
struct Shared {
    Shared(const ExploreConfig& explored, const Setting& set) : config(explored), setting(set) {}

    const ExploreConfig& config;
    const Setting& setting;
    StateSet states;
    std::vector<Origin> origins;         // by state; grows between two levels only
    std::vector<std::uint64_t> digests;  // of the states of this level, when they were first seen
    std::uint32_t level_begin = 0;       // its first state
    std::atomic<bool> is_over{false};    // the limit was reached, or an invariant broke
    std::mutex lock;                     // of the observer and the violation
    std::optional<ExploreViolation> violation;
};

// A state that was not known before.
struct NewState {
    Origin origin;
    std::uint64_t digest;
};

// One thread's part: tries everything in a state and checks each end of it.
class Worker {
public:
    explicit Worker(Shared& shared);

    void expand(std::uint32_t state, std::vector<NewState>& found);

    // From the empty Manager to the state that is expanded, and the move that is tried in it.
    std::vector<Operation> operations() const;

    std::array<VerbCount, verbs> counts{};
    std::int64_t transitions = 0;

private:
    void try_move(const World& here, const Move& move, std::vector<NewState>& found);
    Found check(const World& here, const Move& move, const Due& due, const Result& result,
                std::vector<NewState>& found);
    Found feed(const World& here, const Move& move);
    bool can_be_fed(const World& from, const Move& move);
    std::optional<expected<Plan>> foresee(const Move& move);
    Found reach(const Move& move, std::vector<NewState>& found);
    Found audit_queue(const World& here, const Move& move, const Result& result);
    Found audit_exports(const World& here);
    Scene scene_of(const World& world) const;
    void note(const Move& move, const std::optional<Error>& error);
    void report(const Finding& finding, const std::optional<Error>& got, const Due& due);

    Shared& shared_;
    const ExploreConfig& config_;
    const Setting& setting_;
    Path path_;
    World next_;             // where operations are tried
    World fed_;              // where prompts are fed in chunks
    bool is_fresh_ = false;  // next_ is in the state that is expanded
    std::uint32_t state_ = 0;
    std::optional<Move> move_;  // that is tried
    std::optional<Length> entries_due_;  // of the index, where they are not there
    std::uint64_t digest_ = 0;     // of the state that is expanded
    std::uint64_t behaviour_ = 0;  // for the observer
    std::vector<Move> moves_;
    QueueWatch queue_;
    const ShadowCells no_cells_{0, 1};  // exports and queue are judged without
    const std::vector<std::string> no_spellings_;
};

}  // namespace kvpane::invariants::explorer

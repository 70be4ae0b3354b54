// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/payload_options.h>
#include <kvpane/invariants/violation.h>

namespace kvpane {
struct Tamper;
}

namespace kvpane::invariants {

class Driver;
class JournalWriter;
class Judge;
struct Finding;
enum class Depth : std::uint8_t;

enum class CheckMode : std::uint8_t {
    off,      // the Manager alone: no shadow cells, no histories
    sampled,  // shadow cells and histories; what an operation touched is read back every few operations, all now and then
    every,    // the full audit after every operation, and a twin Manager in lockstep
};

// How often the sampled mode looks.
struct Sampling {
    std::int64_t touched_every = 16;  // operations between two readings of what an operation touched
    std::int64_t all_every = 4096;    // operations between two full audits
};

struct EventCounts {
    std::int64_t stored = 0;
    std::int64_t removed = 0;
    std::int64_t cleared = 0;
};

// What an operation gave back. `step` points into the Manager: valid until the next operation.
struct Outcome {
    std::optional<Error> error;
    std::optional<Plan> plan;  // verb plan
    Length cached_tokens = 0;  // admit, probe
    Step step;                 // slots and copies
    EventCounts events;
};

// A Manager and its judge, driven by one stream of operations as an engine would drive it: copies are run on the shadow
// cells, committed tokens are written through the slots that were handed out, and what the tables read back is compared
// with the specification. Names map to handles here; a name that is not alive is Error::unknown_sequence, `admit` or
// `fork` under a living one Error::invalid_argument.
class CheckedManager {
public:
    // With a `payload` the judge keeps real cells, too, and reads them back where it reads the shadow (payload.h); not in
    // mode off. REQUIRES validate(config) finds nothing. Throws std::invalid_argument when shadow or payload are too large.
    CheckedManager(const Config& config, CheckMode mode, Sampling sampling = {},
                   const std::optional<PayloadOptions>& payload = std::nullopt);
    ~CheckedManager();

    // Runs one operation and, as the mode says, the checks. After the first violation nothing is checked any more.
    // With `check_now` the full audit runs whatever the mode (not in off).
    Outcome apply(const Operation& operation, bool check_now = false);

    // Runs the full audit now (not in mode off).
    void audit();

    const std::optional<Violation>& violation() const noexcept { return violation_; }
    std::int64_t operations() const noexcept { return operations_; }
    std::int64_t checks() const noexcept { return checks_; }  // readings and audits that were done

    const Manager& manager() const noexcept;
    std::optional<SequenceHandle> handle(Name name) const;  // nothing when it is not alive
    std::vector<Name> living() const;                       // in order of creation

    // What the interpreter reads back of the last W cells of a living sequence (all of it for full attention):
    // tokens and absolute positions of the cells that are held. REQUIRES a mode other than off.
    struct WindowContents {
        std::vector<Token> tokens;
        std::vector<Length> positions;
    };
    WindowContents window(Name name, GroupId group) const;

    // From now on every operation is written to this journal: announced before it runs, answered before it is judged.
    // It must live as long; null ends it.
    void keep(JournalWriter* journal) noexcept { journal_ = journal; }

    // How messages call the sequences: spellings[name]; without, and beyond, #name.
    void spell(std::vector<std::string> spellings);

private:
    friend struct kvpane::Tamper;  // tests only

    bool is_judging() const noexcept { return judge_ != nullptr && !violation_; }
    Depth depth_now(bool check_now) const noexcept;
    void prepare(const Operation& operation, Depth depth);                           // before the operation
    void conclude(const Operation& operation, const Outcome& outcome, Depth depth);  // and after it
    void note(std::optional<Finding> finding);
    void write_down(const Outcome& outcome) noexcept;

    std::unique_ptr<Driver> driver_;
    std::unique_ptr<Judge> judge_;  // null in mode off
    CheckMode mode_;
    Sampling sampling_;
    JournalWriter* journal_ = nullptr;
    std::optional<Violation> violation_;
    std::int64_t operations_ = 0;
    std::int64_t checks_ = 0;
};

}  // namespace kvpane::invariants

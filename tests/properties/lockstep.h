// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/blocktable/manager.h>

#include "properties/model.h"

namespace kvpane::testing {

enum class Kind : std::uint8_t {
    admit,
    admit_part,
    reserve,
    reserve_batch,
    commit,
    cancel,
    append,
    append_batch,
    fork,
    fork_at,
    truncate,
    release,
    step_begin,
    step_end,
    plan_prompt,
    plan_batch,
    bind_row,
    unbind_row,
    wrong_handle,
    wrong_argument,
};

// One operation of a random run. What the numbers mean depends on the state in which it is applied: an operation always
// means something, so that a failing run may be shrunk by leaving operations out.
struct Op {
    Kind kind = Kind::admit;
    int who = 0;
    int much = 0;
    int which = 0;
};

std::ostream& operator<<(std::ostream& out, const Op& op);
std::string describe(const Config& config);

// The Manager does not do what the model does.
struct Disagreement : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a run has been through; a run that reaches nothing proves nothing.
struct Reached {
    std::uint64_t operations = 0;
    std::uint64_t later = 0;
    std::uint64_t never = 0;
    std::uint64_t window_evicted = 0;
    std::uint64_t busy = 0;
    std::uint64_t copies = 0;
    std::uint64_t holes = 0;          // operations after which some table had a hole
    std::uint64_t missing_cells = 0;  // operations after which a block was held whose first cells were gone
    std::uint64_t fenced = 0;         // operations after which a block waited for a step
    std::uint64_t idle_sources = 0;   // calls in which the source of a copy became idle

    Reached& operator+=(const Reached& more);
};

// A Manager, a twin that gets the same calls, and the model, compared after every operation: errors, ids, slots,
// copies, the queue, reference counts, exports, bound rows, digests.
class Lockstep {
public:
    explicit Lockstep(const Config& config);

    // Throws Disagreement.
    void apply(const Op& op);

    // Ends everything that is alive or open: every block must come home.
    void finish();

    const Reached& reached() const { return reached_; }

private:
    struct Row {
        std::vector<std::int32_t> ids;
        std::vector<std::int32_t> before;  // what the engine has uploaded
        std::vector<std::int32_t> of_twin;
    };

    std::optional<Name> pick(int who) const;
    std::vector<Ask> pick_batch(const Op& op) const;
    std::vector<Token> next_tokens(Length count);
    std::vector<Reservation> reservations(const std::vector<Ask>& batch) const;

    void apply_admit(Length count, std::optional<Length> compute);
    void apply_to(Name name, const Op& op);
    void apply_fork(Name parent, std::optional<Length> at);
    void apply_release(Name name);
    void apply_batch(const Op& op);
    void apply_plan(const Op& op);
    void apply_step(const Op& op);
    void apply_row(Name name, const Op& op);
    void apply_wrong_handle(const Op& op);
    void apply_wrong_argument(Name name, const Op& op);

    // Gives the same call to the Manager and its twin; they must answer alike, and an error must leave no trace.
    template <class Call>
    auto both(Call call);
    template <class T>
    void check_error(const expected<T>& got, const Answer& answer);
    template <class T>
    void check_error(const expected<T>& got, Error error);
    void check_step(const expected<Step>& got, const Answer& answer);
    void check_plan(const expected<Plan>& got, const Plan& plan);
    void check(bool holds, const std::string& what) const;
    template <class T, class U>
    void check_equal(const T& got, const U& wanted, const std::string& what) const;

    void compare_all();
    void compare_pool();
    void compare_table(Name name, std::uint32_t group);
    void compare_slots(Name name, std::uint32_t group);
    void compare_csr(std::uint32_t group);
    void compare_padded(std::uint32_t group);
    void compare_row(Name name, std::uint32_t group, Row& row);

    Config config_;
    Manager kv_;
    Manager twin_;
    Model model_;
    std::map<Name, SequenceHandle> handles_;
    std::map<std::pair<Name, std::uint32_t>, Row> rows_;
    std::vector<SequenceHandle> ended_;
    std::string now_;  // the operation, for messages
    Reached reached_;
    Name next_name_ = 0;
    Token next_token_ = 0;
    std::uint64_t next_step_ = 1;
};

}  // namespace kvpane::testing

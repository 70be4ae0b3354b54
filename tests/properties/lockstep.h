// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
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
    admit_again,  // what ended or was asked for before, in whole or in part
    probe,
    plan_again,
    release_uncached,
    evict,
    uncache,
    pin,
    unpin,
    reset_cache,
};

// One operation of a random run. What the numbers mean depends on the state in which it is applied: an operation always
// means something, so that a failing run may be shrunk by leaving operations out.
struct Op {
    Kind kind = Kind::admit;
    int who = 0;
    int much = 0;
    int which = 0;
    int tokens = 0;  // from which the tokens are drawn
};

std::ostream& operator<<(std::ostream& out, const Op& op);
std::string describe(const Config& config);

// The Manager does not do what the model does.
struct Disagreement : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a run has been through, by name, with the number of times; a run that reaches nothing proves nothing.
using Reached = std::map<std::string, std::uint64_t>;

// A Manager, a twin that gets the same calls, and the model, compared after every operation: errors, ids, slots,
// copies, the queue, reference counts, what each block is known by, events, exports, bound rows, digests.
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

    // A prompt in the words of the Manager.
    struct Spoken {
        explicit Spoken(const ModelPrompt& model);
        std::vector<ExternalContent> extra;
        Prompt prompt;
    };
    struct Stored {
        std::uint64_t parent = 0;
        std::vector<Token> tokens;
        friend auto operator<=>(const Stored&, const Stored&) = default;
    };

    int draw(int below);
    ModelPrompt new_prompt(Length count);
    ModelPrompt old_prompt();
    void remember(const ModelPrompt& prompt);
    std::optional<Name> pick(int who) const;
    std::vector<Ask> pick_batch(const Op& op) const;
    std::vector<Token> next_tokens(Length count);
    std::vector<Reservation> reservations(const std::vector<Ask>& batch) const;

    void apply_admit(const ModelPrompt& prompt);
    void apply_cache(const Op& op);
    void apply_pin(const Op& op);
    void apply_uncache(Name name, const Op& op);
    void count_what_a_prompt_meets(const ModelPrompt& prompt, const Admission& got);
    void apply_to(Name name, const Op& op);
    void apply_fork(Name parent, std::optional<Length> at);
    void apply_release(Name name, bool keep_cached = true);
    void apply_batch(const Op& op);
    void apply_plan(const Op& op);
    void apply_step(const Op& op);
    void apply_row(Name name, const Op& op);
    void apply_wrong_handle(const Op& op);
    void apply_wrong_argument(Name name, const Op& op);
    void replace_twin();

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
    void compare_contents();
    void compare_events();
    void compare_totals();
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
    std::uint64_t next_step_ = 1;
    std::uint64_t next_event_ = 1;
    std::uint64_t drawn_ = 0;
    std::vector<ModelPrompt> remembered_;
    std::map<std::uint64_t, Stored> ever_stored_;               // by content
    std::set<std::pair<std::uint32_t, std::uint64_t>> stored_;  // (group, content): what can be hit now
};

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/stress_provocation.h>

#include <array>
#include <limits>
#include <optional>

namespace kvpane::invariants {

namespace {

struct Scene {
    const Crowd& crowd;
    std::span<const std::uint64_t> open_steps;
    Random& random;

    bool one_of_two() const noexcept { return random.below(2) == 0; }
    bool any_alive() const noexcept { return crowd.size() > 0; }
    bool any_ready() const noexcept { return !crowd.ready().empty(); }
    bool any_drafting() const noexcept { return !crowd.drafting().empty(); }
    Name alive() const noexcept { return crowd.pick(random); }
    Name ready() const noexcept { return crowd.ready().pick(random); }
    Name drafting() const noexcept { return crowd.drafting().pick(random); }
};

// Each is true, and has filled the operation, when the scene allows it.
using Provocation = bool (*)(const Scene&, Operation&);

bool a_name_that_is_not_alive(const Scene& scene, Operation& operation) {
    constexpr std::array verbs = {Verb::reserve,  Verb::commit,  Verb::cancel,       Verb::append, Verb::fork,
                                  Verb::truncate, Verb::release, Verb::append_batch, Verb::uncache};
    operation.verb = verbs[scene.random.below(verbs.size())];
    operation.sequence = operation.child = scene.crowd.stranger();
    operation.sequences.push_back(scene.crowd.stranger());
    operation.tokens.push_back(scene.random.token());
    operation.count = 1;
    return true;
}

bool a_commit_of_more_than_is_reserved(const Scene& scene, Operation& operation) {
    if (!scene.any_alive()) {
        return false;
    }
    operation.verb = Verb::commit;
    operation.sequence = scene.alive();
    for (Length i = 0; i <= scene.crowd[operation.sequence].reserved; ++i) {
        operation.tokens.push_back(scene.random.token());
    }
    return true;
}

bool work_on_a_sequence_with_reserved_cells(const Scene& scene, Operation& operation) {
    if (!scene.any_drafting()) {
        return false;
    }
    constexpr std::array verbs = {Verb::append, Verb::append_batch, Verb::fork};
    operation.verb = verbs[scene.random.below(verbs.size())];
    operation.sequence = scene.drafting();
    operation.child = scene.crowd.stranger();
    operation.sequences.push_back(operation.sequence);
    operation.tokens.push_back(scene.random.token());
    return true;
}

bool a_truncate_outside_the_history(const Scene& scene, Operation& operation) {
    if (!scene.any_alive()) {
        return false;
    }
    operation.verb = Verb::truncate;
    operation.sequence = scene.alive();
    operation.length = scene.one_of_two() ? -1 : scene.crowd[operation.sequence].length + 1;
    return true;
}

bool a_reserve_of_less_than_a_cell(const Scene& scene, Operation& operation) {
    if (!scene.any_alive()) {
        return false;
    }
    operation.verb = Verb::reserve;
    operation.sequence = scene.alive();
    operation.count = scene.one_of_two() ? 0 : std::numeric_limits<Length>::min();
    return true;
}

bool a_batch_that_makes_no_sense(const Scene& scene, Operation& operation) {
    operation.verb = Verb::append_batch;
    if (!scene.any_ready()) {
        return true;  // the empty batch
    }
    // One sequence with two tokens, or twice the same.
    operation.sequences.assign(scene.one_of_two() ? 1 : 2, scene.ready());
    operation.tokens.assign(2, scene.random.token());
    return true;
}

bool an_admission_under_a_living_name(const Scene& scene, Operation& operation) {
    if (!scene.any_alive()) {
        return false;
    }
    operation.verb = Verb::admit;
    operation.sequence = scene.alive();
    operation.tokens.push_back(scene.random.token());
    return true;
}

bool an_admission_of_no_prompt(const Scene& scene, Operation& operation) {
    operation.verb = Verb::admit;
    operation.sequence = scene.crowd.stranger();
    switch (scene.random.below(3)) {
        case 0: break;  // no token
        case 1: operation.tokens.push_back(-1); break;
        default:
            operation.tokens.push_back(scene.random.token());
            operation.compute = -1;
            break;
    }
    return true;
}

bool a_fork_under_a_living_name(const Scene& scene, Operation& operation) {
    if (!scene.any_ready()) {
        return false;
    }
    operation.verb = Verb::fork;
    operation.sequence = scene.ready();
    operation.child = scene.alive();
    return true;
}

bool a_fork_outside_the_history(const Scene& scene, Operation& operation) {
    if (!scene.any_ready()) {
        return false;
    }
    operation.verb = Verb::fork;
    operation.sequence = scene.ready();
    operation.child = scene.crowd.stranger();
    operation.at = scene.one_of_two() ? -1 : scene.crowd[operation.sequence].length + 1;
    return true;
}

bool an_append_of_no_token(const Scene& scene, Operation& operation) {
    if (!scene.any_ready()) {
        return false;
    }
    operation.verb = Verb::append;
    operation.sequence = scene.ready();
    if (scene.one_of_two()) {
        operation.tokens.push_back(-1);
    }
    return true;
}

bool a_commit_of_no_token(const Scene& scene, Operation& operation) {
    if (!scene.any_drafting()) {
        return false;
    }
    operation.verb = Verb::commit;
    operation.sequence = scene.drafting();
    operation.tokens.push_back(std::numeric_limits<Token>::min());
    return true;
}

bool a_step_begun_twice(const Scene& scene, Operation& operation) {
    if (scene.open_steps.empty()) {
        return false;
    }
    operation.verb = Verb::step_begin;
    operation.step = scene.open_steps[scene.random.below(scene.open_steps.size())];
    return true;
}

bool the_end_of_a_step_that_is_not_open(const Scene&, Operation& operation) {
    operation.verb = Verb::step_end;
    operation.step = std::numeric_limits<std::uint64_t>::max();
    return true;
}

bool a_plan_of_nothing(const Scene& scene, Operation& operation) {
    operation.verb = Verb::plan;
    operation.count = scene.one_of_two() ? 0 : 1;
    operation.chunk = operation.count == 0 ? 0 : -1;
    return true;
}

bool a_question_about_no_prompt(const Scene& scene, Operation& operation) {
    constexpr std::array verbs = {Verb::probe, Verb::pin, Verb::unpin};
    operation.verb = verbs[scene.random.below(verbs.size())];
    if (scene.one_of_two()) {
        operation.tokens.push_back(-1);
    }
    return true;
}

bool an_eviction_of_less_than_nothing(const Scene&, Operation& operation) {
    operation.verb = Verb::evict;
    operation.count = -1;
    return true;
}

bool an_uncache_beyond_the_tables(const Scene& scene, Operation& operation) {
    if (!scene.any_alive()) {
        return false;
    }
    operation.verb = Verb::uncache;
    operation.sequence = scene.alive();
    const Crowd::Member& member = scene.crowd[operation.sequence];
    operation.blocks.push_back(scene.one_of_two() ? -1
                                                  : member.length + member.reserved);  // a block has a cell at least
    return true;
}

struct Provoked {
    Provocation make;
    Error error;
};

constexpr std::array provocations = {
    Provoked{a_name_that_is_not_alive, Error::unknown_sequence},
    Provoked{a_commit_of_more_than_is_reserved, Error::not_reserved},
    Provoked{work_on_a_sequence_with_reserved_cells, Error::busy},
    Provoked{a_truncate_outside_the_history, Error::invalid_argument},
    Provoked{a_reserve_of_less_than_a_cell, Error::invalid_argument},
    Provoked{a_batch_that_makes_no_sense, Error::invalid_argument},
    Provoked{an_admission_under_a_living_name, Error::invalid_argument},
    Provoked{an_admission_of_no_prompt, Error::invalid_argument},
    Provoked{a_fork_under_a_living_name, Error::invalid_argument},
    Provoked{a_fork_outside_the_history, Error::invalid_argument},
    Provoked{an_append_of_no_token, Error::invalid_argument},
    Provoked{a_commit_of_no_token, Error::invalid_argument},
    Provoked{a_step_begun_twice, Error::invalid_argument},
    Provoked{the_end_of_a_step_that_is_not_open, Error::invalid_argument},
    Provoked{a_plan_of_nothing, Error::invalid_argument},
    Provoked{a_question_about_no_prompt, Error::invalid_argument},
    Provoked{an_eviction_of_less_than_nothing, Error::invalid_argument},
    Provoked{an_uncache_beyond_the_tables, Error::invalid_argument},
};

}  // namespace

Error provoke(const Crowd& crowd, std::span<const std::uint64_t> open_steps, Random& random, Operation& operation) {
    const Scene scene{crowd, open_steps, random};
    std::size_t i = random.below(provocations.size());
    while (!provocations[i].make(scene, operation)) {  // ends: the first one always can
        i = (i + 1) % provocations.size();
    }
    return provocations[i].error;
}

void blank(Operation& operation) noexcept {
    operation.sequences.clear();
    operation.tokens.clear();
    operation.compute.reset();
    operation.at.reset();
    operation.blocks.clear();
    operation.scope = {};
    operation.extra.clear();
    operation.priority = 0;
    operation.priority_steps = 0;
    operation.is_batch = false;
    operation.counts.clear();
    operation.count = 0;
    operation.chunk = 0;
    operation.length = 0;
    operation.keep_cached = true;
}

}  // namespace kvpane::invariants

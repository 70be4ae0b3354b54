// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/stress_generator.h>

#include <algorithm>

#include <kvpane/invariants/stress_provocation.h>

namespace kvpane::invariants {

namespace {

constexpr std::size_t most_pins = 16;  // remembered at once

}  // namespace

Mix swarm_mix(const Mix& mix, Random& random) {
    Mix weights;
    std::int64_t sum = 0;
    for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
        const bool on = random.below(4) != 0;
        const auto weight = std::int64_t{1} << random.below(6);
        if (kind == Mix::admit || (on && mix.percent[kind] > 0)) {
            weights.percent[kind] = weight;
            sum += weight;
        }
    }
    Mix swarm;
    std::int64_t left = 100;
    for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
        swarm.percent[kind] = weights.percent[kind] * 100 / sum;
        left -= swarm.percent[kind];
    }
    // What rounding down left over is less than one for each kind that is on, and admit comes first.
    for (std::size_t kind = 0; left > 0; ++kind) {
        if (weights.percent[kind] > 0) {
            ++swarm.percent[kind];
            --left;
        }
    }
    return swarm;
}

StressGenerator::StressGenerator(const StressConfig& config)
    : random_(config.seed), mix_(config.swarm ? swarm_mix(config.mix, random_) : config.mix),
      prompt_(config.prompt, config.manager), chunk_(config.chunk, config.manager),
      draft_(config.draft, config.manager), rewind_(config.rewind, config.manager),
      chunked_percent_(config.chunked_percent), fork_at_percent_(config.fork_at_percent),
      batched_percent_(config.batched_percent),
      forget_percent_(config.sharing.forget_percent), most_sequences_(config.most_sequences),
      most_open_steps_(config.open_steps), longest_(config.longest), block_size_(config.manager.block_size),
      prompts_(config, random_), crowd_(config.most_sequences) {
    for (const GroupConfig& group : config.manager.groups) {
        if (group.window > 0) {
            windows_.push_back(group.window);
        }
    }
}

const Operation& StressGenerator::next() {
    blank(operation_);
    provoked_.reset();
    drawn_ = false;
    if (make_room()) {
        return operation_;
    }
    kind_ = postponed_ ? *postponed_ : draw_kind();
    postponed_.reset();
    if (!possible(kind_)) {
        kind_ = mix_.percent[Mix::append] > 0 && possible(Mix::append) ? Mix::append : Mix::admit;
    }
    if ((kind_ == Mix::admit || kind_ == Mix::fork) && crowd_.full()) {
        postponed_ = kind_;
        build_release(crowd_.pick(random_));
        return operation_;
    }
    drawn_ = true;
    build(kind_);
    return operation_;
}

const Operation* StressGenerator::next_of_the_end() {
    blank(operation_);
    provoked_.reset();
    drawn_ = false;
    if (!open_steps_.empty()) {
        build_step_end(0);
        return &operation_;
    }
    if (crowd_.size() > 0) {
        build_release(crowd_.pick(random_));
        return &operation_;
    }
    return nullptr;
}

bool StressGenerator::make_room() {
    if (step_to_end_) {
        step_to_end_ = false;
        build_step_end(0);
        return true;
    }
    while (!to_release_.empty()) {
        const Name name = to_release_.back();
        to_release_.pop_back();
        if (crowd_.contains(name)) {
            build_release(name);
            return true;
        }
    }
    return false;
}

Mix::Kind StressGenerator::draw_kind() {
    auto left = static_cast<std::int64_t>(random_.below(100));
    for (std::size_t kind = 0; kind < Mix::kinds; ++kind) {
        left -= mix_.percent[kind];
        if (left < 0) {
            return static_cast<Mix::Kind>(kind);
        }
    }
    return Mix::admit;
}

bool StressGenerator::possible(Mix::Kind kind) const noexcept {
    switch (kind) {
        case Mix::append:
        case Mix::append_batch: return !crowd_.ready().empty();
        case Mix::fork: return !crowd_.ready().empty() && most_sequences_ > 1;
        case Mix::commit:
        case Mix::cancel: return !crowd_.drafting().empty();
        case Mix::reserve:
        case Mix::truncate:
        case Mix::release:
        case Mix::uncache: return crowd_.size() > 0;
        case Mix::step: return most_open_steps_ > 0;
        case Mix::pin: return pins_.size() < most_pins;
        case Mix::unpin: return !pins_.empty();
        case Mix::admit:
        case Mix::plan:
        case Mix::invalid:
        case Mix::probe:
        case Mix::evict:
        case Mix::reset_cache:
        case Mix::kinds: return true;
    }
    return true;
}

void StressGenerator::build(Mix::Kind kind) {
    switch (kind) {
        case Mix::append: return build_append();
        case Mix::append_batch: return build_append_batch();
        case Mix::reserve: return build_reserve();
        case Mix::commit: return build_commit();
        case Mix::cancel:
            operation_.verb = Verb::cancel;
            operation_.sequence = crowd_.drafting().pick(random_);
            return;
        case Mix::fork: return build_fork();
        case Mix::truncate:
            operation_.verb = Verb::truncate;
            operation_.sequence = crowd_.pick(random_);
            operation_.length = std::max<Length>(0, crowd_[operation_.sequence].length - rewind_.draw(random_));
            return;
        case Mix::release:
            build_release(crowd_.pick(random_));
            operation_.keep_cached = forget_percent_ == 0 || !random_.chance(forget_percent_);
            return;
        case Mix::step: return build_step();
        case Mix::plan: return build_plan();
        case Mix::invalid: provoked_ = provoke(crowd_, open_steps_, random_, operation_); return;
        case Mix::probe:
        case Mix::evict:
        case Mix::uncache:
        case Mix::pin:
        case Mix::unpin:
        case Mix::reset_cache: return build_on_the_cache(kind);
        case Mix::admit:
        case Mix::kinds: return build_admit();
    }
}

void StressGenerator::build_admit() {
    operation_.verb = Verb::admit;
    operation_.sequence = crowd_.next_name();
    prompts_.draw(operation_, random_);
    const auto length = static_cast<Length>(operation_.tokens.size());
    if (random_.chance(chunked_percent_)) {
        // Now and then nothing at all is computed: the sequence starts empty.
        operation_.compute = random_.below(8) == 0 ? 0 : std::min(length, at_least_one(chunk_));
    }
}

void StressGenerator::build_append() {
    operation_.verb = Verb::append;
    const bool feed = !crowd_.unfinished().empty() && random_.below(2) == 0;
    operation_.sequence = (feed ? crowd_.unfinished() : crowd_.ready()).pick(random_);
    const Length left = crowd_[operation_.sequence].prompt_left;
    const Length chunk = at_least_one(chunk_);
    add_next_tokens(operation_.sequence, left > 0 ? std::min(left, chunk) : chunk);
}

void StressGenerator::build_append_batch() {
    operation_.verb = Verb::append_batch;
    NameSet& ready = crowd_.ready();
    const auto count = 1 + static_cast<std::uint32_t>(random_.below(ready.size()));
    ready.shuffle_front(count, random_);
    for (std::uint32_t i = 0; i < count; ++i) {
        operation_.sequences.push_back(ready[i]);
        add_next_tokens(ready[i], 1);
    }
}

// A batch may name sequences that have reserved cells already, one at most here.
void StressGenerator::build_reserve() {
    operation_.verb = Verb::reserve;
    operation_.is_batch = batched_percent_ > 0 && random_.chance(batched_percent_);
    if (!operation_.is_batch) {
        operation_.sequence = crowd_.pick(random_);
        operation_.count = at_least_one(draft_);
        return;
    }
    NameSet& ready = crowd_.ready();
    const auto others = static_cast<std::uint32_t>(random_.below(ready.size() + std::uint64_t{1}));
    const Name first = crowd_.pick(random_);
    ready.shuffle_front(others, random_);
    operation_.sequences.push_back(first);
    for (std::uint32_t i = 0; i < others; ++i) {
        if (ready[i] != first) {
            operation_.sequences.push_back(ready[i]);
        }
    }
    while (operation_.counts.size() < operation_.sequences.size()) {
        operation_.counts.push_back(at_least_one(draft_));
    }
}

void StressGenerator::build_commit() {
    operation_.verb = Verb::commit;
    operation_.sequence = crowd_.drafting().pick(random_);
    const Length reserved = crowd_[operation_.sequence].reserved;
    add_next_tokens(operation_.sequence, random_.below(2) == 0 ? reserved : random_.between(0, reserved));
}

void StressGenerator::build_fork() {
    operation_.verb = Verb::fork;
    operation_.sequence = crowd_.ready().pick(random_);
    operation_.child = crowd_.next_name();
    if (random_.chance(fork_at_percent_)) {
        operation_.at = std::max<Length>(0, crowd_[operation_.sequence].length - rewind_.draw(random_));
    }
}

void StressGenerator::build_step() {
    const bool begin = open_steps_.empty() || (open_steps_.size() < most_open_steps_ && random_.below(2) == 0);
    if (begin) {
        operation_.verb = Verb::step_begin;
        operation_.step = ++steps_begun_;
    } else {
        build_step_end(random_.below(open_steps_.size()));
    }
}

void StressGenerator::build_plan() {
    operation_.verb = Verb::plan;
    if (prompts_.shares() && random_.below(2) == 0) {
        prompts_.draw(operation_, random_);
    } else {
        operation_.count = at_least_one(prompt_);
    }
    operation_.chunk = random_.below(2) == 0 ? 0 : at_least_one(chunk_);
}

void StressGenerator::build_release(Name name) {
    operation_.verb = Verb::release;
    operation_.sequence = name;
}

void StressGenerator::build_step_end(std::size_t open_step) {
    operation_.verb = Verb::step_end;
    operation_.step = open_steps_[open_step];
}

void StressGenerator::build_on_the_cache(Mix::Kind kind) {
    constexpr std::uint64_t most_evicted = 8;
    switch (kind) {
        case Mix::probe: operation_.verb = Verb::probe; return prompts_.draw(operation_, random_);
        case Mix::evict:
            operation_.verb = Verb::evict;
            operation_.count = static_cast<Length>(random_.below(most_evicted) + 1);
            return;
        case Mix::uncache: return build_uncache();
        case Mix::pin: operation_.verb = Verb::pin; return prompts_.draw_pin(operation_, random_);
        case Mix::unpin: return build_unpin();
        default: operation_.verb = Verb::reset_cache; return;
    }
}

// Some neighbouring blocks, as if one load had failed.
void StressGenerator::build_uncache() {
    constexpr Length most = 4;
    operation_.verb = Verb::uncache;
    operation_.sequence = crowd_.pick(random_);
    const Crowd::Member& member = crowd_[operation_.sequence];
    const Length blocks = (member.length + member.reserved + block_size_ - 1) / block_size_;
    if (blocks == 0) {
        return;
    }
    const Length first = random_.between(0, blocks - 1);
    const Length last = std::min(blocks - 1, first + random_.between(0, most - 1));
    for (Length block = first; block <= last; ++block) {
        operation_.blocks.push_back(block);
    }
}

void StressGenerator::build_unpin() {
    operation_.verb = Verb::unpin;
    std::swap(pins_[random_.below(pins_.size())], pins_.back());
    operation_.tokens = pins_.back().tokens;
    operation_.scope = pins_.back().scope;
    operation_.extra = pins_.back().extra;
}

// The sequence's next tokens: those of its prompt that are still to come, then new ones.
void StressGenerator::add_next_tokens(Name name, Length count) {
    const std::span<const Token> planned = prompts_.planned(name, crowd_[name].length);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        operation_.tokens.push_back(i < planned.size() ? planned[i] : prompts_.token(random_));
    }
}

}  // namespace kvpane::invariants

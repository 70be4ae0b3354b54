// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/length_replay.h>

#include <algorithm>
#include <string>
#include <vector>

#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/utilisation.h>

namespace kvpane::invariants {

namespace {

// Plays one trace. Requests run in lanes; the samples of a request are the names lane * samples, ... .
class Replay {
public:
    Replay(const ReplayConfig& config, std::span<const Request> requests,
           const std::function<void(const StressProgress&)>& progress)
        : config_(config), requests_(requests), progress_(progress),
          kv_(config.manager, config.check, config.sampling, config.payload),
          seen_(static_cast<std::size_t>(config.manager.blocks) + 1) {
        for (std::uint32_t lane = config.alive; lane > 0; --lane) {
            free_lanes_.push_back(lane - 1);
        }
    }

    ReplayReport run();

private:
    struct Running {
        std::size_t request;
        std::uint32_t lane;
        Length length;
        Length target;
        bool waiting = false;  // its last try was refused
        bool over = false;
    };
    enum class Went : std::uint8_t { on, nowhere };

    bool may_admit() const;
    Went admit_next();
    Went go_on(Running& running);
    void measure(const Running& running);
    std::int64_t distinct_blocks(const Running& running);
    void count_phases(Length before, Length after);
    void end(Running& running);
    void give_up_the_youngest();
    void tell(bool now);

    Outcome apply();
    bool sound() const { return !report_.violation; }
    Name name(std::uint32_t lane, std::uint32_t sample) const { return lane * config_.samples + sample; }
    Token token(std::size_t request, std::uint32_t sample, Length position) const;

    const ReplayConfig& config_;
    std::span<const Request> requests_;
    const std::function<void(const StressProgress&)>& progress_;
    CheckedManager kv_;
    Operation operation_;
    std::vector<Running> running_;  // in order of admission
    std::vector<std::uint32_t> free_lanes_;
    std::size_t next_ = 0;  // the request to admit next
    bool next_waits_ = false;
    std::vector<std::uint64_t> seen_;  // [blocks + 1] the count in which a block was met last
    std::uint64_t counts_ = 0;
    Utilisation utilisation_;
    Pace pace_;
    ReplayReport report_;
};

ReplayReport Replay::run() {
    while (sound() && (next_ < requests_.size() || !running_.empty())) {
        Went went = Went::nowhere;
        while (may_admit() && admit_next() == Went::on) {
            went = Went::on;
        }
        for (Running& running : running_) {
            if (sound() && go_on(running) == Went::on) {
                went = Went::on;
            }
            tell(false);
        }
        std::erase_if(running_, [](const Running& running) { return running.over; });
        if (went == Went::nowhere && sound()) {
            give_up_the_youngest();
        }
    }
    if (sound()) {
        kv_.audit();
        report_.violation = kv_.violation();
    }
    tell(true);
    report_.requests = static_cast<std::int64_t>(requests_.size());
    report_.operations = kv_.operations();
    report_.checks = kv_.checks();
    report_.seconds = pace_.seconds();
    report_.used_cells = utilisation_.used;
    report_.allocated_cells = utilisation_.allocated;
    report_.statistics = kv_.manager().statistics();
    return report_;
}

// Runs the operation; only an admission or a batch may be refused, for want of room.
Outcome Replay::apply() {
    const Outcome outcome = kv_.apply(operation_);
    const bool takes_blocks = operation_.verb == Verb::admit || operation_.verb == Verb::append_batch;
    report_.violation = kv_.violation();
    if (sound() && outcome.error &&
        !(takes_blocks && (outcome.error == Error::later || outcome.error == Error::never))) {
        report_.violation =
            Violation{Invariant::F2, kv_.operations(),
                      "an operation that makes sense failed with '" + std::string(to_string(*outcome.error)) + "'"};
    }
    return outcome;
}

// Room goes first to the running requests that wait for it: a newcomer would only be given up again.
bool Replay::may_admit() const {
    return sound() && !free_lanes_.empty() && next_ < requests_.size() &&
           std::ranges::none_of(running_, &Running::waiting);
}

// `nowhere` when the next request has to wait.
Replay::Went Replay::admit_next() {
    const Request& request = requests_[next_];
    const std::uint32_t lane = free_lanes_.back();
    operation_.verb = Verb::admit;
    operation_.sequence = name(lane, 0);
    // A request without context starts as an empty sequence: a prompt of one token, of which nothing is computed.
    operation_.tokens.resize(static_cast<std::size_t>(std::max<Length>(1, request.context)));
    for (std::size_t i = 0; i < operation_.tokens.size(); ++i) {
        operation_.tokens[i] = token(next_, 0, static_cast<Length>(i));
    }
    operation_.compute.reset();
    if (request.context == 0) {
        operation_.compute = 0;
    }
    const Outcome outcome = apply();
    if (outcome.error == Error::later) {
        report_.refused_later += next_waits_ ? 0 : 1;
        next_waits_ = true;
        return Went::nowhere;
    }
    next_waits_ = false;
    ++next_;
    if (outcome.error) {
        ++report_.refused_never;
        return Went::on;
    }
    free_lanes_.pop_back();
    running_.push_back({next_ - 1, lane, request.context, request.context + request.generated});
    if (request.context > 0) {
        count_phases(0, request.context);
    }
    for (std::uint32_t sample = 1; sample < config_.samples && sound(); ++sample) {
        operation_.verb = Verb::fork;
        operation_.child = name(lane, sample);
        apply();
    }
    if (config_.samples == 1) {
        measure(running_.back());
    }
    return Went::on;
}

// One token for each sample, or the end of the request. `nowhere` when it has to wait.
Replay::Went Replay::go_on(Running& running) {
    if (running.length == running.target) {
        ++report_.completed;
        end(running);
        return Went::on;
    }
    operation_.verb = Verb::append_batch;
    operation_.sequences.clear();
    operation_.tokens.clear();
    for (std::uint32_t sample = 0; sample < config_.samples; ++sample) {
        operation_.sequences.push_back(name(running.lane, sample));
        operation_.tokens.push_back(token(running.request, sample, running.length));
    }
    const Outcome outcome = apply();
    if (outcome.error == Error::later) {
        report_.refused_later += running.waiting ? 0 : 1;
        running.waiting = true;
        return Went::nowhere;
    }
    running.waiting = false;
    if (outcome.error) {
        ++report_.refused_never;
        end(running);
        return Went::on;
    }
    ++running.length;
    for (std::uint32_t sample = 0; sample < config_.samples; ++sample) {
        count_phases(running.length - 1, running.length);
    }
    measure(running);
    return Went::on;
}

void Replay::measure(const Running& running) {
    if (!sound()) {
        return;
    }
    if (config_.samples == 1) {
        utilisation_.add(kv_.manager(), *kv_.handle(name(running.lane, 0)));
        return;
    }
    std::int64_t unshared = 0;
    for (std::uint32_t sample = 0; sample < config_.samples; ++sample) {
        const SequenceHandle handle = *kv_.handle(name(running.lane, sample));
        for (std::uint32_t group = 0; group < kv_.manager().groups(); ++group) {
            unshared += static_cast<std::int64_t>(kv_.manager().table(handle, GroupId{group})->held());
        }
    }
    report_.unshared_blocks += unshared;
    report_.saved_blocks += unshared - distinct_blocks(running);
}

// The blocks that this request's tables hold, each counted once. COST O(1) when nobody else holds any.
std::int64_t Replay::distinct_blocks(const Running& running) {
    if (config_.alive == 1) {
        return kv_.manager().pool().live_blocks();
    }
    std::int64_t distinct = 0;
    ++counts_;
    const auto count = [&](BlockId block) {
        distinct += seen_[to_index(block)] == counts_ ? 0 : 1;
        seen_[to_index(block)] = counts_;
    };
    for (std::uint32_t sample = 0; sample < config_.samples; ++sample) {
        const SequenceHandle handle = *kv_.handle(name(running.lane, sample));
        for (std::uint32_t group = 0; group < kv_.manager().groups(); ++group) {
            const TableView table = *kv_.manager().table(handle, GroupId{group});
            std::ranges::for_each(table.sinks, count);
            std::ranges::for_each(table.run, count);
        }
    }
    return distinct;
}

void Replay::count_phases(Length before, Length after) {
    for (const GroupConfig& group : config_.manager.groups) {
        if (group.window > 0) {
            report_.phases.count(before, after, group.window);
        }
    }
}

void Replay::end(Running& running) {
    running.over = true;
    free_lanes_.push_back(running.lane);
    operation_.verb = Verb::release;
    for (std::uint32_t sample = 0; sample < config_.samples && sound(); ++sample) {
        operation_.sequence = name(running.lane, sample);
        apply();
    }
}

// Nobody could go on: the youngest makes room for the others, or, when nothing runs, the next request is passed over.
void Replay::give_up_the_youngest() {
    ++report_.preempted;
    if (running_.empty()) {
        next_waits_ = false;
        ++next_;
        return;
    }
    end(running_.back());
    running_.pop_back();
}

void Replay::tell(bool now) {
    if (progress_ && (now || pace_.due())) {
        progress_({static_cast<std::int64_t>(next_ - running_.size()), static_cast<std::int64_t>(requests_.size()),
                   sound() ? 0 : 1});
    }
}

Token Replay::token(std::size_t request, std::uint32_t sample, Length position) const {
    const std::uint64_t place = (std::uint64_t{request} << 32U) | static_cast<std::uint64_t>(position);
    return static_cast<Token>(scramble(scramble(config_.seed ^ (std::uint64_t{sample} << 48U)) ^ place) >> 33U);
}

}  // namespace

ReplayReport replay_lengths(const ReplayConfig& config, std::span<const Request> requests,
                            const std::function<void(const StressProgress&)>& progress) {
    return Replay(config, requests, progress).run();
}

}  // namespace kvpane::invariants

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/proof/oracle/oracle_runs.h>

#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/stress_generator.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

namespace {

// Operations between two readings of all windows; what an operation touches is read at once.
constexpr std::int64_t all_windows_every = 64;

// A Manager whose shadow cells are kept, and nothing more: the judge's comparisons are another matter.
class Run {
public:
    explicit Run(const Config& config)
        : kv_(config, CheckMode::sampled, {.touched_every = 0, .all_every = 0}), check_(config, all_windows_every) {}

    Outcome apply(const Operation& operation) {
        check_.before(operation, subject_);
        Outcome outcome = kv_.apply(operation);
        auto found = check_.after(operation, outcome, subject_);
        if (!found && kv_.violation()) {  // the shadow is kept no more
            found = text(to_string(operation.verb), ": ", kv_.violation()->what);
        }
        if (found) {
            difference_ = text("operation ", kv_.operations(), ": ", *found);
        }
        return outcome;
    }

    bool is_over() const { return difference_.has_value(); }

    OracleReport report() const { return {check_.counts(), started_.seconds(), difference_}; }

private:
    CheckedManager kv_;
    CheckedSubject subject_{kv_};
    OracleCheck check_;
    std::optional<std::string> difference_;
    Pace started_;
};

}  // namespace

OracleReport replay(JournalReader& reader, std::int64_t until,
                    const std::function<void(const StressProgress&)>& progress) {
    Run run(reader.header().config);
    Pace pace;
    std::int64_t done = 0;
    while (!run.is_over() && (until == 0 || done < until)) {
        const JournalEntry* entry = reader.next();
        if (entry == nullptr) {
            break;
        }
        run.apply(entry->operation);
        ++done;
        if (progress && pace.due()) {
            progress({done, done, run.is_over() ? 1 : 0});
        }
    }
    return run.report();
}

OracleReport stress(const StressConfig& config) {
    Run run(config.manager);
    StressGenerator generator(config);
    StressReport drawn;
    for (std::int64_t done = 0; done < config.steps && !run.is_over();) {
        const Operation& operation = generator.next();
        done += generator.drawn() ? 1 : 0;
        generator.settle(run.apply(operation), drawn);
    }
    while (!run.is_over()) {
        const Operation* operation = generator.next_of_the_end();
        if (operation == nullptr) {
            break;
        }
        generator.settle(run.apply(*operation), drawn);
    }
    return run.report();
}

OracleReport run(const Scenario& scenario) {
    Run run(scenario.config);
    for (const ScenarioStep& step : scenario.steps) {
        for (std::int64_t i = 0; i < step.repeat && !run.is_over(); ++i) {
            run.apply(step.operation);
        }
    }
    return run.report();
}

}  // namespace kvpane::invariants::oracle

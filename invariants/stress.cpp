// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/stress.h>

#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/stress_generator.h>
#include <kvpane/invariants/utilisation.h>

namespace kvpane::invariants {

namespace {

// Applies one operation; false when the run is over, because something is broken.
bool apply(CheckedManager& kv, StressGenerator& generator, const Operation& operation, StressReport& report) {
    const auto fault = generator.settle(kv.apply(operation), report);
    report.violation = kv.violation();
    if (fault && !report.violation) {
        report.violation = Violation{Invariant::F2, kv.operations(), *fault};
    }
    return !report.violation;
}

// Ends everything, looks at all of it once more, and wants every block back.
void take_down(CheckedManager& kv, StressGenerator& generator, StressReport& report) {
    while (const Operation* operation = generator.next_of_the_end()) {
        if (!apply(kv, generator, *operation, report)) {
            return;
        }
    }
    kv.audit();
    report.violation = kv.violation();
    if (!report.violation) {
        report.violation = left_behind(kv);
    }
}

}  // namespace

StressReport stress(const StressConfig& config, const std::function<void(const StressProgress&)>& progress,
                    JournalWriter* journal) {
    constexpr std::int64_t look_every = 64;
    StressReport report;
    CheckedManager kv(config.manager, config.check, config.sampling, config.payload);
    kv.keep(journal);
    StressGenerator generator(config);
    Utilisation utilisation;
    Pace pace;
    bool sound = true;
    for (std::int64_t done = 0, calls = 0; done < config.steps && sound; ++calls) {
        if (calls % look_every == 0) {
            for (Name name = 0; name < config.most_sequences; ++name) {
                if (const auto handle = kv.handle(name)) {
                    utilisation.add(kv.manager(), *handle);
                }
            }
            if (progress && pace.due()) {
                progress({done, config.steps, 0});
            }
        }
        const Operation& operation = generator.next();
        done += generator.drawn() ? 1 : 0;
        sound = apply(kv, generator, operation, report);
    }
    report.statistics = kv.manager().statistics();
    report.events = kv.manager().cache_totals();
    report.index_entries = kv.manager().index_entries();
    report.digest = kv.manager().digest();
    if (sound) {
        take_down(kv, generator, report);
    }
    if (journal != nullptr) {
        journal->flush();
    }
    report.operations = kv.operations();
    report.checks = kv.checks();
    report.seconds = pace.seconds();
    if (utilisation.allocated > 0) {
        report.utilisation = static_cast<double>(utilisation.used) / static_cast<double>(utilisation.allocated);
    }
    if (progress) {
        progress({config.steps, config.steps, report.violation ? 1 : 0});
    }
    return report;
}

}  // namespace kvpane::invariants

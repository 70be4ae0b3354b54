// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/explorer.h>
#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/proof/oracle/oracle_check.h>
#include <kvpane/invariants/scenario.h>
#include <kvpane/invariants/stress.h>

// Loads, run through a Manager and the machine side by side.
namespace kvpane::invariants::oracle {

// A CheckedManager, as the oracle looks at it; in a mode other than off, for its shadow cells. It must live as long.
class CheckedSubject final : public Subject {
public:
    explicit CheckedSubject(const CheckedManager& checked) : checked_(checked) {}

    const Manager& manager() const override { return checked_.manager(); }
    std::optional<SequenceHandle> handle(Name name) const override { return checked_.handle(name); }
    CheckedManager::WindowContents window(Name name, GroupId group) const override {
        return checked_.window(name, group);
    }

private:
    const CheckedManager& checked_;
};

struct OracleReport {
    OracleCounts counts;
    double seconds = 0;
    std::optional<std::string> difference;  // "operation 17: append: ..."; the run ended there
};

// A journal from its start until its end, the first difference, or `until` operations are done (0 = all). Faults of the
// journal are reader.error().
OracleReport replay(JournalReader& reader, std::int64_t until = 0,
                    const std::function<void(const StressProgress&)>& progress = {});

// The operations that stress() draws from the same configuration, those of its end included.
OracleReport stress(const StressConfig& config);

OracleReport run(const Scenario& scenario);

// Every operation in every state that explore() reaches: each edge of the state graph once, at most `limit` of them
// (0 = all). What a state is called, and which moves are tried in it, is explore()'s.
OracleReport explore(const ExploreConfig& config, std::int64_t limit = 0);

}  // namespace kvpane::invariants::oracle

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/journal_replay.h>

#include <iomanip>

#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

std::string spelled(const std::optional<Error>& error) { return error ? text("error ", to_string(*error)) : "success"; }

std::string spelled(const std::optional<Plan>& plan) {
    return plan ? text(to_string(plan->verdict), " with ", plan->blocks_needed, " blocks and ", plan->copies, " copies")
                : "no plan";
}

std::string hexadecimal(std::uint64_t digest) { return text("0x", std::hex, std::setfill('0'), std::setw(16), digest); }

template <class Value>
std::string told(const char* what, const Value& recorded, const Value& got) {
    return text("recorded ", what, recorded, ", got ", got);
}

// As if the rest were like what is read. REQUIRES an operation was read.
std::int64_t estimated_operations(const JournalReader& reader) {
    const double share = static_cast<double>(reader.offset()) / static_cast<double>(reader.bytes());
    return static_cast<std::int64_t>(static_cast<double>(reader.operations()) / share);
}

}  // namespace

std::optional<std::string> difference(const Answer& recorded, const Answer& got) {
    if (recorded.error != got.error) {
        return told("", spelled(recorded.error), spelled(got.error));
    }
    if (recorded.cached_tokens != got.cached_tokens) {
        return told("cached tokens ", recorded.cached_tokens, got.cached_tokens);
    }
    if (recorded.blocks_taken != got.blocks_taken) {
        return told("blocks taken ", recorded.blocks_taken, got.blocks_taken);
    }
    if (spelled(recorded.plan) != spelled(got.plan)) {
        return told("the plan ", spelled(recorded.plan), spelled(got.plan));
    }
    if (recorded.digest && recorded.digest != got.digest) {
        return told("the state digest ", hexadecimal(*recorded.digest), hexadecimal(got.digest.value_or(0)));
    }
    return std::nullopt;
}

JournalReplay replay(JournalReader& reader, CheckedManager& kv, std::int64_t until,
                     const std::function<void(const StressProgress&)>& progress) {
    JournalReplay report;
    const Pace started;
    Pace pace;
    const bool digests = reader.header().digests;
    while (!report.difference && !kv.violation() && (until == 0 || kv.operations() < until)) {
        const JournalEntry* entry = reader.next();
        if (entry == nullptr) {
            break;
        }
        const Outcome outcome = kv.apply(entry->operation);
        report.ended_within = !entry->answer;
        if (entry->answer) {
            const Answer got = answer_of(outcome, digests ? std::optional(kv.manager().digest()) : std::nullopt);
            if (const auto what = difference(*entry->answer, got)) {
                report.difference = {entry->number, text(to_string(entry->operation.verb), ": ", *what)};
            }
        }
        if (progress && pace.due()) {
            progress({kv.operations(), estimated_operations(reader), kv.violation() ? 1 : 0});
        }
    }
    kv.audit();
    report.operations = kv.operations();
    report.checks = kv.checks();
    report.seconds = started.seconds();
    report.violation = kv.violation();
    report.digest = kv.manager().digest();
    return report;
}

}  // namespace kvpane::invariants

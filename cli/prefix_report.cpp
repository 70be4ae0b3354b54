// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/prefix_report.h>

#include <numeric>

#include <fmt/format.h>

#include <kvpane/cli/report.h>
#include <kvpane/version.h>

namespace kvpane::cli {

namespace {

template <class Number, class Value>
Number sum(const PrefixReport& report, Value value) noexcept {
    return std::accumulate(report.runs.begin(), report.runs.end(), Number{0},
                           [&](Number so_far, const PrefixRun& run) { return so_far + value(run.report); });
}

}  // namespace

std::string_view to_string(EvictionPolicy policy) noexcept {
    switch (policy) {
        case EvictionPolicy::lru: return "lru";
        case EvictionPolicy::lfu: return "lfu";
    }
    return "";
}

std::string first_line(const PrefixReport& report) {
    return fmt::format("kvpane {} trace={} check={}{}\n", version, hex(report.trace_digest), to_string(report.check),
                       report.full_blocks ? " full-blocks" : "");
}

std::string table_head() {
    return fmt::format("{:<6} {:>10} {:>10} {:>9} {:>10} {:>12} {:>9} {:>8}\n", "policy", "capacity", "hits", "share",
                       "evictions", "hit tokens", "requests", "ms");
}

std::string table_row(const PrefixRun& run) {
    const auto& [policy, capacity, report] = run;
    return fmt::format("{:<6} {:>10} {:>10} {:>7.3f} % {:>10} {:>12} {:>9} {:>8.0f}\n", to_string(policy),
                       capacity == 0 ? std::string("unlimited") : std::to_string(capacity), report.hits,
                       100 * share(report.hits, report.blocks), report.evictions, report.hit_tokens, report.requests,
                       1000 * report.seconds);
}

std::string totals_text(const PrefixReport& report) {
    std::string text = row("requests", fmt::format("{} ({} input tokens)", report.requests, report.input_tokens));
    text += row("blocks", fmt::format("{} ({} distinct)", report.blocks, report.distinct_blocks));
    text += row("operations", fmt::format("{}", operations(report)));
    text += row("operations per second", fmt::format("{:.0f}", per_second(operations(report), seconds(report))));
    text += row("checks done", fmt::format("{}", checks(report)));
    text += row("violations", fmt::format("{}", violations(report)));
    return text;
}

std::string reproduce(const PrefixReport& report, const PrefixRun& run) {
    return fmt::format("kvpane trace {} --capacity {} --policy {}{} --check every", quoted(report.trace_file),
                       run.capacity, to_string(run.policy), report.full_blocks ? " --full-blocks" : "");
}

std::int64_t operations(const PrefixReport& report) noexcept {
    return sum<std::int64_t>(report, [](const auto& run) { return run.operations; });
}

std::int64_t checks(const PrefixReport& report) noexcept {
    return sum<std::int64_t>(report, [](const auto& run) { return run.checks; });
}

std::int64_t violations(const PrefixReport& report) noexcept {
    return sum<std::int64_t>(report, [](const auto& run) { return std::int64_t{run.violation ? 1 : 0}; });
}

double seconds(const PrefixReport& report) noexcept {
    return sum<double>(report, [](const auto& run) { return run.seconds; });
}

}  // namespace kvpane::cli

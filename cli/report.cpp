// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/report.h>

#include <algorithm>

#include <fmt/format.h>

#include <kvpane/cli/payload_flag.h>
#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

void add_row(std::string& text, std::string_view name, const std::string& value) { text += row(name, value); }

void add_row(std::string& text, std::string_view name, std::int64_t value) {
    add_row(text, name, fmt::format("{}", value));
}

std::string cells_text(const std::optional<PayloadOptions>& payload) {
    if (!payload) {
        return "none";
    }
    return fmt::format("{}, {}{}, heads {}, head dim {}", to_string(payload->dtype), layout_word(payload->order),
                       payload->interleaved ? ", interleaved" : "", payload->kv_heads, payload->head_dim);
}

// Of a StressReport or a ReplayReport.
template <class Report>
void effort_rows(std::string& text, const RunHeader& header, const Report& report) {
    add_row(text, "operations", report.operations);
    add_row(text, "operations per second", fmt::format("{:.0f}", per_second(report.operations, report.seconds)));
    add_row(text, "checks done", report.checks);
    add_row(text, "payload", cells_text(header.payload));
    add_row(text, "window phases",
            fmt::format("not full {}, exactly full {}, first eviction {}, steady {}", report.phases.not_full,
                        report.phases.exactly_full, report.phases.first_eviction, report.phases.steady));
}

std::string hits(const Statistics& statistics) {
    const auto hit = static_cast<std::int64_t>(statistics.hit_tokens);
    const auto queried = static_cast<std::int64_t>(statistics.queried_tokens);
    return fmt::format("{:.3f} % ({} of {} tokens), evicted {} blocks", 100 * share(hit, queried), hit, queried,
                       statistics.evicted_blocks);
}

void copy_row(std::string& text, const Statistics& statistics) {
    add_row(text, "copies", fmt::format("{} ({} cells)", statistics.copies, statistics.copied_cells));
}

}  // namespace

double per_second(std::int64_t operations, double seconds) noexcept {
    return seconds > 0 ? static_cast<double>(operations) / seconds : 0;
}

double share(std::int64_t part, std::int64_t whole) noexcept {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string hex(std::uint64_t value) { return fmt::format("{:#018x}", value); }

std::string quoted(const std::string& argument) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
        return argument;
    }
    std::string text = "'";
    for (const char c : argument) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

std::string_view layout_word(CellOrder order) noexcept { return order == CellOrder::nhd ? "nhd" : "hnd"; }

std::string row(std::string_view name, const std::string& value) { return fmt::format("{:<24}{}\n", name, value); }

std::string first_line(const RunHeader& header) {
    std::string line = fmt::format("kvpane {} seed={} config={} check={}", version, header.seed,
                                   hex(header.config_digest), to_string(header.check));
    if (!header.trace_file.empty()) {
        line += fmt::format(" trace={} samples={} alive={}", hex(header.trace_digest), header.samples, header.alive);
    }
    return line + "\n";
}

std::string reproduce(const RunHeader& header, const Violation& violation) {
    if (header.trace_file.empty()) {
        // Each step is an operation at least; what broke behind the last step broke while the run was taken down.
        const std::int64_t steps = std::clamp<std::int64_t>(violation.operation, 1, header.steps);
        return fmt::format("kvpane {} {} --seed {} --steps {} --check every", header.command,
                           quoted(header.config_file), header.seed, steps);
    }
    return fmt::format("kvpane {} {} --config {} --samples {} --check every", header.command, quoted(header.trace_file),
                       quoted(header.config_file), header.samples);
}

std::string replaying(const RunHeader& header, const Violation& violation) {
    if (header.journal_file.empty()) {
        return reproduce(header, violation) + " --journal violation.kvj";
    }
    PayloadFlag payload;
    if (header.payload == PayloadOptions{}) {
        payload.is_usual = true;
    } else if (header.payload) {
        payload.config = header.config_file;
    }
    return fmt::format("kvpane check {}{}", quoted(header.journal_file), payload.words());
}

std::string violation_text(const Violation& violation, const std::string& reproducing) {
    return fmt::format("{}  reproduce: {}\n", text_of(violation), reproducing);
}

std::string violation_text(const RunHeader& header, const Violation& violation) {
    return violation_text(violation, reproduce(header, violation));
}

std::string stress_text(const RunHeader& header, const StressReport& report) {
    std::string text;
    effort_rows(text, header, report);
    add_row(text, "utilisation", fmt::format("{:.3f} %", 100 * report.utilisation));
    copy_row(text, report.statistics);
    add_row(text, "prefix hits", hits(report.statistics));
    add_row(text, "cache events",
            fmt::format("stored {}, removed {}, cleared {}", report.events.stored, report.events.removed,
                        report.events.cleared));
    add_row(text, "refusals",
            fmt::format("later {}, never {}, window_evicted {}, pins {}, provoked {}", report.refused_later,
                        report.refused_never, report.refused_evicted, report.refused_pins, report.refused_other));
    add_row(text, "state digest", hex(report.digest));
    add_row(text, "violations", report.violation ? 1 : 0);
    return text;
}

std::string replay_text(const RunHeader& header, const ReplayReport& report) {
    std::string text;
    effort_rows(text, header, report);
    if (header.samples == 1) {
        add_row(text, "utilisation", fmt::format("{:.3f} %", 100 * share(report.used_cells, report.allocated_cells)));
    } else {
        add_row(text, "saved by sharing",
                fmt::format("{:.2f} %", 100 * share(report.saved_blocks, report.unshared_blocks)));
    }
    copy_row(text, report.statistics);
    add_row(text, "requests",
            fmt::format("{}, completed {}, preempted {}", report.requests, report.completed, report.preempted));
    add_row(text, "refusals", fmt::format("later {}, never {}", report.refused_later, report.refused_never));
    add_row(text, "violations", report.violation ? 1 : 0);
    return text;
}

}  // namespace kvpane::cli

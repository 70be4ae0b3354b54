// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/commands.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kvpane/cli/journal_file.h>
#include <kvpane/cli/progress.h>
#include <kvpane/cli/report.h>
#include <kvpane/cli/tokens.h>
#include <kvpane/invariants/journal_replay.h>
#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

std::string first_line(const JournalHeader& header, CheckMode check) {
    return fmt::format("kvpane {} seed={} config={} check={} digests={}\n", version, header.seed,
                       hex(header.source_digest), to_string(check), header.digests ? "yes" : "no");
}

std::string command(const ReplayOptions& options) {
    return fmt::format("kvpane check {}{}{}", quoted(options.journal),
                       options.until > 0 ? fmt::format(" --until {}", options.until) : "", options.payload.words());
}

std::string result_text(const JournalReplay& report) {
    std::string text = row("operations", fmt::format("{}", report.operations));
    text += row("operations per second", fmt::format("{:.0f}", per_second(report.operations, report.seconds)));
    text += row("checks done", fmt::format("{}", report.checks));
    text += row("state digest", hex(report.digest));
    text += row("differences", report.difference ? "1" : "0");
    return text + row("violations", report.violation ? "1" : "0");
}

std::string window_text(const CheckedManager::WindowContents& window) {
    if (window.positions.empty()) {
        return "nothing";
    }
    return fmt::format("{} at positions {}", spell_tokens(window.tokens), spell_positions(window.positions));
}

// One group of a sequence: its table by logical block (0 where nothing is held), and what it reads back as.
void dump_group(const CheckedManager& kv, Name name, SequenceHandle handle, GroupId group, CheckMode mode) {
    const Manager& manager = kv.manager();
    const TableView view = manager.table(handle, group).value();
    std::vector<std::uint32_t> table, refs;
    for (std::size_t entry = 0; entry < view.size; ++entry) {
        table.push_back(to_index(view[entry]));
        if (view[entry] != null_block) {
            refs.push_back(manager.pool().refs(view[entry]));
        }
    }
    fmt::print("  group {}\n    first resident {}\n    table          [{}]\n    references     [{}]\n",
               manager.config().groups[to_index(group)].name, view.first_resident, fmt::join(table, ", "),
               fmt::join(refs, ", "));
    fmt::print("    window         {}\n", mode == CheckMode::off ? "is read back only with --check sampled or every"
                                                                 : window_text(kv.window(name, group)));
}

void dump(const CheckedManager& kv, Name name, CheckMode mode) {
    const auto handle = kv.handle(name);
    if (!handle) {
        fmt::print("sequence {} is not alive behind operation {}; alive are [{}]\n", name, kv.operations(),
                   fmt::join(kv.living(), ", "));
        return;
    }
    fmt::print("sequence {} behind operation {}: length {}, reserved {}\n", name, kv.operations(),
               kv.manager().length(*handle).value(), kv.manager().reserved(*handle).value());
    for (std::uint32_t group = 0; group < kv.manager().groups(); ++group) {
        dump_group(kv, name, *handle, GroupId{group}, mode);
    }
}

}  // namespace

ExitCode run_replay(const ReplayOptions& options) {
    const JournalFile journal(options.journal);
    const CheckMode mode = options.check.value_or(journal.header().check);
    const Config& config = journal.header().config;
    const auto payload = fitting(options.payload.options(), options.journal, config);
    fmt::print("{}", first_line(journal.header(), mode));
    std::fflush(stdout);  // a broken promise ends the process
    JournalReader reader = journal.reader();
    CheckedManager kv(config, mode, {}, payload);
    const JournalReplay report = [&] {
        ProgressLine line;
        return replay(reader, kv, options.until, [&](const StressProgress& progress) { line.show(progress); });
    }();
    if (report.violation) {
        fmt::print("{}", violation_text(*report.violation, command(options)));
    }
    if (report.difference) {
        fmt::print("DIFFERENCE at operation {}: {}\n", report.difference->operation, report.difference->what);
    }
    if (options.dump) {
        dump(kv, *options.dump, mode);
    }
    if (report.ended_within) {
        fmt::print("the recorded process ended within operation {}; this one did not\n", report.operations);
    }
    fmt::print("{}", result_text(report));
    const bool readable = journal.tell(reader);
    if (report.violation || report.difference) {
        return exit_broken;
    }
    return readable ? exit_ok : exit_bad_input;
}

}  // namespace kvpane::cli

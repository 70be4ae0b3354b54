// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/journal_commands.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/cli/words.h>
#include <kvpane/invariants/journal.h>

namespace kvpane::cli {

namespace {

constexpr auto journal_text = "A journal, written by kvpane stress --journal (docs/journal.md)";
constexpr auto until_text = "Stop behind this operation, counted from 1";
constexpr auto dump_text = "Show this sequence's tables, length and window at the end; the number of kvpane journal";

}  // namespace

JournalCommands::JournalCommands(CLI::App& app) {
    add_replay(app);
    add_check(app);
    add_journal(app);
    add_shrink(app);
}

void JournalCommands::add_replay(CLI::App& app) {
    CLI::App* replay = app.add_subcommand("replay", "Run a journal again and compare what comes out");
    replay->add_option("journal", journal_, journal_text)->required();
    replay->add_option("--until", until_, until_text);
    replay->add_option("--dump", dump_, dump_text);
    replay->add_option("--check", check_, "How often the judge looks: off, sampled or every operation (as recorded)");
    replay->add_option("--against", against_, "oracle: compare with the proven machine, in place of the judge");
    replay->footer(
        "Examples:\n"
        "  kvpane replay run.kvj\n"
        "  kvpane replay run.kvj --against oracle\n"
        "  kvpane replay run.kvj --until 4711 --dump 3");
}

void JournalCommands::add_check(CLI::App& app) {
    CLI::App* check = app.add_subcommand("check", "Run a journal again with all checks after every operation");
    check->add_option("journal", journal_, journal_text)->required();
    check->add_option("--until", until_, until_text);
    check->add_option("--dump", dump_, dump_text);
    payload_.add_to(*check);
    check->footer(
        "Examples:\n"
        "  kvpane check run.kvj\n"
        "  kvpane check run.kvj --payload\n"
        "  kvpane check run.kvj --payload-of configs/payload.toml");
}

void JournalCommands::add_journal(CLI::App& app) {
    CLI::App* journal = app.add_subcommand("journal", "Print the operations of a journal as JSON lines");
    journal->add_option("journal", journal_, journal_text)->required();
    journal->footer("Examples:\n  kvpane journal run.kvj | tail -n 20");
}

void JournalCommands::add_shrink(CLI::App& app) {
    CLI::App* shrink = app.add_subcommand("shrink", "Make a small scenario of a journal in which an invariant breaks");
    shrink->add_option("journal", journal_, journal_text)->required();
    shrink->add_option("-o,--output", output_, "The scenario to write (docs/scenario-format.md)")->required();
    shrink->add_option("--candidates", candidates_, "Try so many smaller runs at most (100000)");
    payload_.add_to(*shrink);
    shrink->footer(
        "Examples:\n"
        "  kvpane shrink run.kvj -o case.toml && kvpane scenario case.toml\n"
        "  kvpane shrink run.kvj -o case.toml --payload && kvpane scenario case.toml --payload");
}

bool JournalCommands::chosen(const CLI::App& app) const {
    return app.got_subcommand("replay") || app.got_subcommand("check") || app.got_subcommand("journal") ||
           app.got_subcommand("shrink");
}

ExitCode JournalCommands::run(const CLI::App& app) const {
    if (app.got_subcommand("journal")) {
        return run_journal({.journal = journal_});
    }
    if (app.got_subcommand("shrink")) {
        return run_shrink({.journal = journal_,
                           .output = output_,
                           .candidates = number<std::int64_t>("--candidates", candidates_, 1, most_steps),
                           .payload = payload_});
    }
    const bool all = app.got_subcommand("check");
    const ReplayOptions options{
        .journal = journal_,
        .until = number<std::int64_t>("--until", until_, 1, most_steps).value_or(0),
        .dump = number<std::uint32_t>("--dump", dump_, 0, invariants::journal_format::most_names - 1),
        .check = all ? invariants::CheckMode::every : check(check_),
        .payload = payload_};
    if (!against_) {
        return run_replay(options);
    }
    if (*against_ != "oracle") {
        throw InputError(fmt::format("--against must be oracle, got '{}'", *against_));
    }
    if (dump_ || check_) {
        throw InputError("--against goes without --dump and --check");
    }
    return run_replay_against_oracle(options);
}

}  // namespace kvpane::cli

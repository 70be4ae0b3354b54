// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <kvpane/cli/commands.h>
#include <kvpane/cli/explore_config.h>
#include <kvpane/cli/input.h>
#include <kvpane/cli/journal_commands.h>
#include <kvpane/cli/prefix_report.h>
#include <kvpane/cli/stress_config.h>
#include <kvpane/cli/words.h>
#include <kvpane/version.h>

namespace kvpane::cli {

namespace {

// The words of the command line, before they are read as numbers (words.h).
struct Words {
    std::string config;
    std::string trace;
    std::string log;
    std::string reference = "tests/data/seed2";
    std::optional<std::string> seed;
    std::optional<std::string> steps;
    std::optional<std::string> samples;
    std::optional<std::string> capacities;
    std::optional<std::string> policies;
    bool full_blocks = false;
    std::optional<std::string> check;
    std::optional<std::string> limit;
    std::optional<std::string> threads;
    std::string scenario;
    std::string json;
    std::string journal;
    bool digests = false;
    PayloadFlag payload;
    std::vector<std::string> paths;
};

// "a,b" as what `convert` makes of each part; nothing when the option was not given.
template <class Convert>
auto list(const std::optional<std::string>& words, Convert convert) {
    std::vector<decltype(convert(std::string_view{}))> values;
    for (std::string_view left = words ? std::string_view(*words) : std::string_view{}; words;) {
        const std::size_t comma = left.find(',');
        values.push_back(convert(left.substr(0, comma)));
        if (comma == std::string_view::npos) {
            break;
        }
        left.remove_prefix(comma + 1);
    }
    return values;
}

std::int64_t capacity(std::string_view word) { return to_number<std::int64_t>("--capacity", word, 0, most_blocks); }

EvictionPolicy policy(std::string_view word) {
    for (const EvictionPolicy known : {EvictionPolicy::lru, EvictionPolicy::lfu}) {
        if (to_string(known) == word) {
            return known;
        }
    }
    throw InputError(fmt::format("--policy must be lru or lfu, got '{}'{}", word, did_you_mean(word, {"lru", "lfu"})));
}

std::string names_a_file(const std::string& path) { return path.empty() ? "must name a file" : ""; }

void describe(CLI::App& app, Words& words) {
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.set_version_flag("--version", fmt::format("kvpane {}", version), "Print the version and exit");
    app.footer(
        "Examples:\n"
        "  kvpane stress configs/quickstart.toml\n"
        "  kvpane scenario tests/scenarios/bugs\n"
        "  kvpane trace requests.csv --config configs/trace.toml\n"
        "  kvpane trace conversation_trace.jsonl\n"
        "  kvpane audit engine.jsonl\n"
        "  kvpane article\n"
        "  kvpane check tenants.kvj\n"
        "  kvpane explore configs/explore/full.toml\n"
        "  kvpane stress --help\n\n"
        "Exit codes: 0 ok, 1 an invariant broke, a scenario failed or a number is off, 2 bad input, 3 internal error.");
    constexpr auto check_text = "How often the judge looks: off, sampled or every operation";
    constexpr auto json_text = "Write the results to this file as JSON too";

    CLI::App* stress = app.add_subcommand("stress", "Drive the manager with random operations and check it");
    stress->add_option("config", words.config, "The configuration (docs/configuration.md)")->required();
    stress->add_option("--seed", words.seed, "Draw the operations from this seed, 0..2^64-1");
    stress->add_option("--steps", words.steps, "Operations to run");
    stress->add_option("--check", words.check, check_text);
    stress->add_option("--json", words.json, json_text)->check(names_a_file);
    stress->add_option("--journal", words.journal, "Write every operation to this file (docs/journal.md)")
        ->check(names_a_file);
    stress->add_flag("--digests", words.digests, "With --journal: and the digest of the state behind each");
    stress->footer(
        "Examples:\n"
        "  kvpane stress configs/quickstart.toml\n"
        "  kvpane stress configs/window-edges.toml --seed 7 --steps 100000 --check every\n"
        "  kvpane stress configs/tenants.toml --journal tenants.kvj\n"
        "  kvpane stress configs/hybrid.toml --check sampled --json hybrid.json");

    CLI::App* scenario = app.add_subcommand("scenario", "Run scenario files, with all checks after every step");
    scenario->add_option("files", words.paths, "Scenario files, or folders for all .toml files below them")->required();
    words.payload.add_to(*scenario);
    scenario->footer(
        "Examples:\n"
        "  kvpane scenario tests/scenarios/peers/trt-29-rewind.toml\n"
        "  kvpane scenario tests/scenarios/bugs tests/scenarios/peers\n"
        "  kvpane scenario tests/scenarios --payload");

    CLI::App* trace = app.add_subcommand("trace", "Replay a trace of request lengths (CSV) or prefixes (JSON lines)");
    trace
        ->add_option("file", words.trace,
                     "CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens, or JSON lines with timestamp, "
                     "input_length, output_length, hash_ids (ids of 512-token blocks)")
        ->required();
    trace->add_option("--config", words.config, "CSV: the configuration (docs/configuration.md), required");
    trace->add_option("--samples", words.samples, "CSV: answers to each prompt, forked from it");
    trace->add_option("--capacity", words.capacities,
                      "JSON lines: blocks that stay cached, N[,N...], 0 = unlimited (1000,10000,30000,50000,0)");
    trace->add_option("--policy", words.policies, "JSON lines: what is evicted first, lru, lfu or both (lru,lfu)");
    trace->add_flag("--full-blocks", words.full_blocks,
                    "JSON lines: leave out a prompt's last block if it is not full");
    trace->add_option("--check", words.check,
                      fmt::format("{} (CSV: sampled; JSON lines: off, for such traces are large)", check_text));
    trace->add_option("--json", words.json, json_text)->check(names_a_file);
    trace->footer(
        "Examples:\n"
        "  kvpane trace tests/data/azure-small.csv --config configs/trace.toml\n"
        "  kvpane trace requests.csv --config configs/trace.toml --samples 4 --check every\n"
        "  kvpane trace tests/data/mooncake-small.jsonl --capacity 4,8,0 --check every\n"
        "  kvpane trace conversation_trace.jsonl --policy lru,lfu --json hits.json");

    CLI::App* audit = app.add_subcommand("audit", "Judge the block tables that an engine of your own has logged");
    audit->add_option("log", words.log, "JSON lines (docs/audit-log.md); - reads the standard input")->required();
    audit->add_option("--json", words.json, json_text)->check(names_a_file);
    audit->footer(
        "Examples:\n"
        "  kvpane audit tests/data/audit-missed-copy.jsonl\n"
        "  kvpane audit engine.jsonl --json finding.json");

    CLI::App* article = app.add_subcommand("article", "Compute the tables on prefix reuse again, with K and V in blocks");
    article->add_option("data", words.reference, "The folder of the reference data (docs/article.md)")
        ->capture_default_str();
    article->add_option("--json", words.json, json_text)->check(names_a_file);
    article->footer(
        "Examples:\n"
        "  kvpane article\n"
        "  kvpane article tests/data/seed2 --json article.json");

    CLI::App* explore = app.add_subcommand("explore", "Check every state that a small configuration can reach");
    explore->add_option("config", words.config, "The configuration (docs/exploring.md)")->required();
    explore->add_option("--limit", words.limit, "Stop at so many states");
    explore->add_option("--threads", words.threads, "Threads (one for each core)");
    explore->add_option("--scenario", words.scenario, "Write the trace to a violation to this file, as a scenario")
        ->check(names_a_file);
    explore->add_option("--json", words.json, json_text)->check(names_a_file);
    explore->footer(
        "Examples:\n"
        "  kvpane explore configs/explore/full.toml\n"
        "  kvpane explore configs/explore/window.toml --limit 100000 --scenario broken.toml");
}

std::vector<std::string> long_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

// What the command line means instead, when a word of it is known to nobody; else the library's own sentence.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    if (!chosen.empty()) {
        const std::vector<std::string> left = chosen.front()->remaining();
        if (left.empty()) {
            return fmt::format("{}: {}", chosen.front()->get_name(), error.what());
        }
        const std::string word = left.front().substr(0, left.front().find('='));
        const std::vector<std::string> names = long_options(*chosen.front());
        return fmt::format("{}: unexpected argument '{}'{}", chosen.front()->get_name(), word,
                           did_you_mean(word, {names.begin(), names.end()}));
    }
    if (argc < 2) {
        return fmt::format("a command is missing: {}; see kvpane --help", fmt::join(commands(app), ", "));
    }
    std::vector<std::string> names = long_options(app);
    const std::vector<std::string> known = commands(app);
    names.insert(names.end(), known.begin(), known.end());
    return fmt::format("unknown command '{}'{}", argv[1], did_you_mean(argv[1], {names.begin(), names.end()}));
}

ExitCode run_chosen(const CLI::App& app, const Words& words, const JournalCommands& journals) {
    if (journals.chosen(app)) {
        return journals.run(app);
    }
    if (app.got_subcommand("stress")) {
        return run_stress({.config = words.config,
                           .seed = number<std::uint64_t>("--seed", words.seed, 0, UINT64_MAX),
                           .steps = number<std::int64_t>("--steps", words.steps, 1, most_steps),
                           .check = check(words.check),
                           .json = words.json,
                           .journal = words.journal,
                           .digests = words.digests});
    }
    if (app.got_subcommand("trace")) {
        return run_trace({.trace = words.trace,
                          .config = words.config,
                          .samples = number<std::uint32_t>("--samples", words.samples, 1, most_samples),
                          .capacities = list(words.capacities, capacity),
                          .policies = list(words.policies, policy),
                          .full_blocks = words.full_blocks,
                          .check = check(words.check),
                          .json = words.json});
    }
    if (app.got_subcommand("audit")) {
        return run_audit({.log = words.log, .json = words.json});
    }
    if (app.got_subcommand("article")) {
        return run_article({.folder = words.reference, .json = words.json});
    }
    if (app.got_subcommand("explore")) {
        return run_explore({.config = words.config,
                             .limit = number<std::int64_t>("--limit", words.limit, 1, most_states),
                             .threads = number<std::uint32_t>("--threads", words.threads, 1, most_threads),
                             .scenario = words.scenario,
                             .json = words.json});
    }
    return run_scenarios({.paths = words.paths, .payload = words.payload});
}

int run(int argc, char** argv) {
    CLI::App app("kvpane: a checked memory manager for paged KV caches", "kvpane");
    Words words;
    describe(app, words);
    JournalCommands journals(app);
    app.require_subcommand(1);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked_for_text) {
        return app.exit(asked_for_text);
    } catch (const CLI::ParseError& error) {
        throw InputError(explain(app, error, argc, argv));
    }
    const ExitCode code = run_chosen(app, words, journals);
    if (std::fflush(stdout) != 0) {
        throw std::runtime_error("the results cannot be written to the standard output");
    }
    return code;
}

}  // namespace

}  // namespace kvpane::cli

int main(int argc, char** argv) {
    // A broken promise of the library has printed its sentence by now: give the exit code that this program documents.
    std::signal(SIGABRT, [](int) { std::_Exit(kvpane::cli::exit_internal); });
    try {
        return kvpane::cli::run(argc, argv);
    } catch (const kvpane::cli::InputError& error) {
        fmt::print(stderr, "{}\n", error.what());
        return kvpane::cli::exit_bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "kvpane: internal error: {}\n", error.what());
        return kvpane::cli::exit_internal;
    }
}

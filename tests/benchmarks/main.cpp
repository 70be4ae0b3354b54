// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/report.h"
#include "benchmarks/workload_list.h"

namespace kvpane::bench {

std::span<const Workload> workloads() {
    static constexpr std::array all{
        Workload{"A", "churn: give 64 blocks back, take 64", churn},
        Workload{"A-scale", "A in 1 000 000 blocks against 10 000", churn_at_scale},
        Workload{"B", "256 sequences decode 512 tokens each, one reserve and one commit a token", decode},
        Workload{"B-scale", "B in 1 000 000 blocks against 10 000", decode_at_scale},
        Workload{"check", "B with the check mode off, sampled and every, against B without", check_mode},
        Workload{"journal", "B recorded into a file, against B without", journal},
        Workload{"C", "a prompt of 2048 blocks that comes back", returning_prompt},
        Workload{"D", "prompts of 2048 blocks that share nothing", cold_prompts},
        Workload{"W2", "lookup of prompts that are no longer in the inner caches", cold_lookup},
        Workload{"W3", "fork of 2048 blocks and its release", forks},
        Workload{"W4", "one token for each sequence in one call, slots included", steps},
        Workload{"W4c", "W4 beside 60 000 idle cached blocks", steps_beside_cached_blocks},
        Workload{"W5", "1000 requests over 64 shared prefixes, 128 decode steps each", shared_prefixes},
        Workload{"W6x", "exports: CSR, padded, bound rows", exports},
        Workload{"copy", "payload: copies of blocks of 64 KB", block_copies},
        Workload{"gather", "payload: blocks of 64 KB gathered to dense rows", gathers},
        Workload{"attention", "decode of 16 x 4096 tokens on the host, 1.3 GB of memory, some minutes", attention},
    };
    return all;
}

namespace {

// What the command line asked for; an unknown name is bad input.
std::vector<const Workload*> chosen(const std::vector<std::string>& names) {
    std::vector<const Workload*> out;
    for (const Workload& workload : workloads()) {
        if (names.empty() || std::ranges::find(names, workload.name) != names.end()) {
            out.push_back(&workload);
        }
    }
    for (const std::string& name : names) {
        if (std::ranges::find(workloads(), name, &Workload::name) == workloads().end()) {
            throw CLI::ValidationError("--only", fmt::format("there is no workload '{}'; --list shows them", name));
        }
    }
    return out;
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) {
        throw CLI::FileError(fmt::format("{}: cannot be written", path));
    }
}

int run(int argc, char** argv) {
    CLI::App app(
        "Measures kvpane against floors: the least that any implementation must do for the same work.\n"
        "Exit codes: 0 all results are right, 1 one is wrong, 2 bad input. A missed goal is only shown.",
        "kvpane_bench");
    std::size_t rounds = 9;
    std::vector<std::string> only;
    std::string json_path;
    bool list = false;
    bool large = false;
    app.add_option("--rounds", rounds, "Rounds of which the median is shown")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--only", only, "Measure only these, as in A,B,W2")->delimiter(',');
    app.add_option("--json", json_path, "Write the results to this file, too");
    app.add_flag("--large", large, "Also pools of 10 000 000 blocks (about 3 GB of memory, some minutes)");
    app.add_flag("--list", list, "List the workloads");
    try {
        app.parse(argc, argv);
        const std::vector<const Workload*> wanted = chosen(only);
        Bench bench(rounds, large);
        for (const Workload* workload : wanted) {
            if (list) {
                fmt::print("{:<8} {}\n", workload->name, workload->what);
            } else {
                workload->measure(bench);
            }
        }
        if (list) {
            return 0;
        }
        fmt::print("{}", table(bench.rows()));
        if (!json_path.empty()) {
            write_file(json_path, json(bench.rows(), rounds));
        }
        return std::ranges::all_of(bench.rows(), &Row::is_right) ? 0 : 1;
    } catch (const CLI::Error& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
}

}  // namespace

}  // namespace kvpane::bench

int main(int argc, char** argv) {
    try {
        return kvpane::bench::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "kvpane_bench: {}\n", error.what());
        return 3;
    }
}

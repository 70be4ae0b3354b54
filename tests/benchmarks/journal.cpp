// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

#include <kvpane/invariants/file_sink.h>
#include <kvpane/invariants/recorder.h>

#include "benchmarks/workload_list.h"
#include "support/recorded_workloads.h"

// What a journal costs: the decode steps of workload B on a Manager that is recorded into a file, against the same on
// a plain one.
namespace kvpane::bench {

namespace {

using B = testing::DecodeWorkload;

constexpr double tokens = static_cast<double>(B::sequences) * static_cast<double>(B::steps);
constexpr std::uint64_t operations = B::sequences * (2 + 2 * std::uint64_t{B::steps});  // prompts in two pieces

Sample plain() {
    B b(true);
    return {time([&] { b.decode(); }), tokens};
}

Sample recorded(const std::string& path) {
    invariants::FileSink sink(path);
    std::optional<invariants::Recorder> recorder;
    B b(true, [&](Manager& kv) { recorder.emplace(kv, sink); });
    Sample sample{time([&] { b.decode(); }), tokens};
    sample.checks = {{"tables", b.hash_of_tables(), B::tables},
                     {"operations", static_cast<std::uint64_t>(recorder->writer().operations()), operations},
                     {"lost", recorder->ok() ? 0U : 1U, 0U}};
    recorder.reset();  // before its Manager
    return sample;
}

}  // namespace

void journal(Bench& bench) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("kvpane_bench." + std::to_string(getpid()) + ".kvj");
    bench.measure({.workload = "journal", .variant = "to a file", .unit = "token", .goal = 1.5},
                  [&] { return recorded(path.string()); }, plain);
    std::filesystem::remove(path);
}

}  // namespace kvpane::bench

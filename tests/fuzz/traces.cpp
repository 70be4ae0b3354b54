// SPDX-License-Identifier: Apache-2.0
// Traces: what is read can be written and is read the same, and short ones are replayed without a broken invariant.
#include <cstdint>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kvpane/cli/csv_trace.h>
#include <kvpane/cli/jsonl_trace.h>

#include "fuzz/places.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

constexpr Length most_tokens_here = 400;
constexpr std::size_t most_requests = 30;

void require_none(const std::optional<Violation>& violation) {
    require(!violation, "invariant ", violation ? number(violation->invariant) : "",
            " broken: ", violation ? violation->what : "");
}

// --- lengths ---------------------------------------------------------------------------------------------------------

std::string written(const std::vector<Request>& requests) {
    std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    for (const Request& request : requests) {
        text += fmt::format("0,{},{}\n", request.context, request.generated);
    }
    return text;
}

Length tokens_of(const std::vector<Request>& requests) {
    return std::accumulate(requests.begin(), requests.end(), Length{0}, [](Length sum, const Request& request) {
        return sum + request.context + request.generated;
    });
}

void replay(const std::vector<Request>& requests) {
    ReplayConfig config;
    config.manager = {.block_size = 4, .blocks = 20, .groups = {{.name = "full"}, {.name = "swa", .window = 5}}};
    config.check = CheckMode::every;
    config.samples = 2;
    config.alive = 2;
    const ReplayReport report = replay_lengths(config, requests);
    require_none(report.violation);
    require(report.requests == report.completed + report.refused_never + report.preempted, "of ", report.requests,
            " requests ", report.completed, " were completed, ", report.refused_never, " refused and ",
            report.preempted, " given up");
}

void length_trace(std::string_view text) {
    cli::LengthTrace trace;
    if (!reads(text, [&] { trace = cli::parse_trace(input_name, text); })) {
        return;
    }
    const std::string first = written(trace.requests);
    require(written(cli::parse_trace("written", first).requests) == first, "is read otherwise once written:\n", first);
    if (trace.requests.size() <= most_requests && tokens_of(trace.requests) <= most_tokens_here) {
        replay(trace.requests);
    }
}

// --- prefixes --------------------------------------------------------------------------------------------------------

std::string written(const std::vector<PrefixRequest>& requests) {
    std::string text;
    for (const PrefixRequest& request : requests) {
        text += fmt::format(R"({{"timestamp": 0, "input_length": {}, "output_length": 0, "hash_ids": [{}]}})",
                            request.input, fmt::join(request.blocks, ", ")) +
                "\n";
    }
    return text;
}

void replay(const std::vector<PrefixRequest>& requests) {
    for (const std::int64_t capacity : {0, 3}) {
        PrefixReplayConfig config;
        config.capacity = capacity;
        config.tokens_per_block = cli::prefix_block_tokens;
        config.check = CheckMode::every;
        const PrefixReplayReport report = replay_prefixes(config, requests);
        require_none(report.violation);
        require(report.hits <= report.blocks, report.hits, " hits of ", report.blocks, " blocks");
        require(capacity != 0 || report.evictions == 0, report.evictions, " evictions without a limit");
    }
}

void prefix_trace(std::string_view text) {
    cli::PrefixTrace trace;
    if (!reads(text, [&] { trace = cli::parse_prefix_trace(input_name, text); })) {
        return;
    }
    Length blocks = 0;
    for (const PrefixRequest& request : trace.requests) {
        const auto has = static_cast<Length>(request.blocks.size());
        require(has == (request.input + cli::prefix_block_tokens - 1) / cli::prefix_block_tokens, "a prompt of ",
                request.input, " tokens has ", has, " blocks");
        blocks += has;
    }
    const std::string first = written(trace.requests);
    require(written(cli::parse_prefix_trace("written", first).requests) == first, "is read otherwise once written:\n",
            first);
    if (trace.requests.size() <= most_requests && blocks <= most_tokens_here) {
        replay(trace.requests);
    }
}

}  // namespace

void traces(Input input) {
    const std::string_view text = as_text(input);
    if (is_text(text)) {
        length_trace(text);
        prefix_trace(text);
    }
}

}  // namespace kvpane::fuzz

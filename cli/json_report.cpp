// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/json_report.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kvpane/cli/input.h>
#include <kvpane/invariants/record.h>
#include <kvpane/version.h>

namespace kvpane::cli {

using namespace invariants;
using Json = nlohmann::ordered_json;

namespace {

Json payload_json(const std::optional<PayloadOptions>& payload) {
    if (!payload) {
        return nullptr;
    }
    return {{"layout", layout_word(payload->order)},
            {"interleaved", payload->interleaved},
            {"dtype", to_string(payload->dtype)},
            {"kv_heads", payload->kv_heads},
            {"head_dim", payload->head_dim}};
}

Json start(const RunHeader& header) {
    Json json;
    json["version"] = version;
    json["command"] = header.command;
    json["config"] = {{"file", header.config_file}, {"digest", hex(header.config_digest)}};
    json["seed"] = header.seed;
    json["check"] = to_string(header.check);
    json["payload"] = payload_json(header.payload);
    return json;
}

void add_effort(Json& json, std::int64_t operations, double seconds, std::int64_t checks, const WindowPhases& phases) {
    json["operations"] = operations;
    json["seconds"] = seconds;
    json["operations_per_second"] = per_second(operations, seconds);
    json["checks"] = checks;
    json["window_phases"] = {{"not_full", phases.not_full},
                             {"exactly_full", phases.exactly_full},
                             {"first_eviction", phases.first_eviction},
                             {"steady", phases.steady}};
}

void add_statistics(Json& json, const Statistics& statistics) {
    json["copies"] = statistics.copies;
    json["copied_cells"] = statistics.copied_cells;
    json["statistics"] = {{"admitted", statistics.admitted},
                          {"released", statistics.released},
                          {"forks", statistics.forks},
                          {"truncations", statistics.truncations},
                          {"committed_tokens", statistics.committed_tokens},
                          {"blocks_taken", statistics.blocks_taken},
                          {"queried_tokens", statistics.queried_tokens},
                          {"hit_tokens", statistics.hit_tokens},
                          {"evicted_blocks", statistics.evicted_blocks}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json cell_json(const std::optional<ShadowCell>& cell) {
    if (!cell) {
        return nullptr;
    }
    Json json = {{"what", describe(*cell)}};
    if (!cell->is_poison()) {
        json["token"] = cell->token;
        json["position"] = cell->position;
        json["scope"] = cell->scope;
        json["chain"] = hex(cell->chain);
        json["writer"] = cell->writer == nobody ? Json(nullptr) : Json(cell->writer);
    }
    return json;
}

Json violation_json(const Violation& violation, const std::string& reproducing) {
    Json json = {{"invariant", number(violation.invariant)},
                 {"sentence", sentence(violation.invariant)},
                 {"operation", violation.operation},
                 {"what", violation.what}};
    json["sequence"] = text_or_null(violation.sequence);
    json["group"] = text_or_null(violation.group);
    json["position"] = violation.position ? Json(*violation.position) : Json(nullptr);
    json["expected"] = cell_json(violation.expected);
    json["found"] = cell_json(violation.found);
    json["block"] = violation.block ? Json(to_index(*violation.block)) : Json(nullptr);
    json["block_history"] = violation.block_history;
    json["reproduce"] = reproducing;
    return json;
}

void add_violation(Json& json, const RunHeader& header, const std::optional<Violation>& violation) {
    json["violation"] = violation ? violation_json(*violation, reproduce(header, *violation)) : Json(nullptr);
}

Json told_json(const std::optional<ToldCell>& cell) {
    if (!cell) {
        return nullptr;
    }
    Json json = {{"what", describe(*cell)}};
    if (cell->kind == ToldCell::Kind::cell || cell->kind == ToldCell::Kind::given_up) {
        json["token"] = cell->token;
        json["position"] = cell->position;
    }
    if (cell->line != 0) {
        json["writer"] = cell->sequence;
        json["line"] = cell->line;
    }
    return json;
}

Json finding_json(const AuditFinding& finding) {
    Json json = {{"invariant", number(finding.invariant)},
                 {"sentence", sentence(finding.invariant)},
                 {"line", finding.line},
                 {"what", finding.what}};
    json["sequence"] = text_or_null(finding.sequence);
    json["group"] = text_or_null(finding.group);
    json["position"] = finding.position ? Json(*finding.position) : Json(nullptr);
    json["expected"] = told_json(finding.expected);
    json["found"] = told_json(finding.found);
    json["block"] = finding.block ? Json(*finding.block) : Json(nullptr);
    json["block_history"] = finding.block_history;
    return json;
}

Json checks_json(const std::vector<article::Check>& checks) {
    Json json = Json::array();
    for (const article::Check& check : checks) {
        json.push_back({{"name", check.name},
                        {"expected", check.expected},
                        {"found", check.found},
                        {"tolerance", check.tolerance},
                        {"ok", check.holds()}});
    }
    return json;
}

std::string finished(const Json& json) {
    constexpr int indent = 2;
    // File names and titles are whatever the user's system calls them, valid UTF-8 or not.
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string stress_json(const RunHeader& header, const StressReport& report) {
    Json json = start(header);
    json["steps"] = header.steps;
    add_effort(json, report.operations, report.seconds, report.checks, report.phases);
    for (std::size_t kind = 0; kind < mix_names.size(); ++kind) {
        json["tried"][mix_names[kind]] = report.tried[kind];
        json["succeeded"][mix_names[kind]] = report.succeeded[kind];
    }
    json["utilisation"] = report.utilisation;
    json["refusals"] = {{"later", report.refused_later},
                        {"never", report.refused_never},
                        {"window_evicted", report.refused_evicted},
                        {"pins", report.refused_pins},
                        {"provoked", report.refused_other}};
    add_statistics(json, report.statistics);
    json["hit_share"] = share(static_cast<std::int64_t>(report.statistics.hit_tokens),
                              static_cast<std::int64_t>(report.statistics.queried_tokens));
    json["index_entries"] = report.index_entries;
    json["events"] = {
        {"stored", report.events.stored}, {"removed", report.events.removed}, {"cleared", report.events.cleared}};
    json["state_digest"] = hex(report.digest);
    add_violation(json, header, report.violation);
    return finished(json);
}

std::string replay_json(const RunHeader& header, const ReplayReport& report) {
    Json json = start(header);
    json["trace"] = {{"file", header.trace_file}, {"digest", hex(header.trace_digest)}};
    json["samples"] = header.samples;
    json["alive"] = header.alive;
    add_effort(json, report.operations, report.seconds, report.checks, report.phases);
    if (header.samples == 1) {
        json["used_cells"] = report.used_cells;
        json["allocated_cells"] = report.allocated_cells;
        json["utilisation"] = share(report.used_cells, report.allocated_cells);
    } else {
        json["unshared_blocks"] = report.unshared_blocks;
        json["saved_blocks"] = report.saved_blocks;
        json["saved_share"] = share(report.saved_blocks, report.unshared_blocks);
    }
    json["requests"] = report.requests;
    json["completed"] = report.completed;
    json["preempted"] = report.preempted;
    json["refusals"] = {{"later", report.refused_later}, {"never", report.refused_never}};
    add_statistics(json, report.statistics);
    add_violation(json, header, report.violation);
    return finished(json);
}

std::string prefix_json(const PrefixReport& report) {
    Json json;
    json["version"] = version;
    json["command"] = "trace";
    json["trace"] = {{"file", report.trace_file}, {"digest", hex(report.trace_digest)}};
    json["check"] = to_string(report.check);
    json["full_blocks"] = report.full_blocks;
    json["requests"] = report.requests;
    json["input_tokens"] = report.input_tokens;
    json["blocks"] = report.blocks;
    json["distinct_blocks"] = report.distinct_blocks;
    json["runs"] = Json::array();
    json["operations"] = operations(report);
    json["seconds"] = seconds(report);
    json["operations_per_second"] = per_second(operations(report), seconds(report));
    json["checks"] = checks(report);
    json["violation"] = nullptr;
    for (const PrefixRun& run : report.runs) {
        const PrefixReplayReport& found = run.report;
        json["runs"].push_back({{"policy", to_string(run.policy)},
                                {"capacity", run.capacity},
                                {"requests", found.requests},
                                {"blocks", found.blocks},
                                {"hits", found.hits},
                                {"hit_share", share(found.hits, found.blocks)},
                                {"evictions", found.evictions},
                                {"hit_tokens", found.hit_tokens},
                                {"seconds", found.seconds}});
        if (found.violation) {
            json["violation"] = violation_json(*found.violation, reproduce(report, run));
        }
    }
    return finished(json);
}

std::string audit_json(const AuditReport& report) {
    Json json;
    json["version"] = version;
    json["command"] = "audit";
    json["log"] = report.log;
    json["block_size"] = report.header.block_size;
    for (const engine_log::Group& group : report.header.groups) {
        json["groups"].push_back({{"name", group.name}, {"window", group.window}, {"sinks", group.sinks}});
    }
    json["events"] = report.counts.events;
    json["tables"] = report.counts.tables;
    json["cells"] = report.counts.cells;
    json["finding"] = report.finding ? finding_json(*report.finding) : Json(nullptr);
    return finished(json);
}

std::string article_json(const ArticleReport& report) {
    Json json;
    json["version"] = version;
    json["command"] = "article";
    json["data"] = report.folder;
    json["tolerance"] = report.tolerance;
    json["right_rows"] = article::right_rows(report.results);
    json["rows"] = Json::array();
    for (const article::TableRow& row : report.results.rows) {
        const std::optional<double> published = row.wanted->control_error;
        json["rows"].push_back({{"seed", row.wanted->seed},
                                {"condition", row.wanted->condition},
                                {"cut", row.cut},
                                {"projected_rows", row.projected_rows},
                                {"fresh_projected_rows", row.fresh_projected_rows},
                                {"copied_cells", row.copied_cells},
                                {"error", row.error},
                                {"control_error", row.control_error},
                                {"published_control_error", published ? Json(*published) : Json(nullptr)},
                                {"ok", article::all_hold(row.checks)},
                                {"checks", checks_json(row.checks)}});
    }
    json["sections"] = Json::array();
    for (const article::Section& section : report.results.sections) {
        json["sections"].push_back({{"title", section.title},
                                    {"ok", article::all_hold(section.checks)},
                                    {"checks", checks_json(section.checks)}});
    }
    json["ok"] = article::is_right(report.results);
    return finished(json);
}

OutputFile::OutputFile(std::string path, std::initializer_list<std::string_view> others, std::string_view option)
    : path_(std::move(path)) {
    if (!wanted()) {
        return;
    }
    std::error_code ignored;
    const auto place = [&](std::string_view of) { return std::filesystem::weakly_canonical(of, ignored); };
    for (const std::string_view other : others) {
        if (!other.empty() && place(other) == place(path_)) {
            throw InputError(fmt::format("{} {}: is another file of this run", option, path_));
        }
    }
    const std::filesystem::file_status status = std::filesystem::status(path_, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        throw InputError(fmt::format("{} {}: is not a regular file", option, path_));
    }
    temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
    errno = 0;
    const bool writable = std::ofstream(temporary_, std::ios::binary).is_open();
    if (!writable) {
        throw InputError(fmt::format("{} {}: cannot be written: {}", option, path_, std::strerror(errno)));
    }
    std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(const std::string& text) const {
    std::ofstream stream(temporary_, std::ios::binary);
    stream << text;
    stream.close();
    std::error_code error;
    if (stream) {
        std::filesystem::rename(temporary_, path_, error);
    }
    if (!stream || error) {
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
        throw std::runtime_error("cannot write " + path_);
    }
}

}  // namespace kvpane::cli

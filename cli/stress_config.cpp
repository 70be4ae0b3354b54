// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/stress_config.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <kvpane/cli/csv_trace.h>
#include <kvpane/cli/manager_config.h>
#include <kvpane/cli/tokens.h>
#include <kvpane/cli/toml_reader.h>
#include <kvpane/invariants/zipf_sampler.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

constexpr Range percent{0, 100};
// Longer prompts are no workload but a slip: each is drawn token by token.
constexpr Range lengths{1, most_tokens};

class RunConfigReader {
public:
    explicit RunConfigReader(const Document& document) : document_(document) {}

    RunConfig read() {
        Table file(document_, document_.root, "the file");
        RunConfig config;
        config.digest = document_.digest;
        config.stress.title = file.string_or("title", "");
        config.stress.manager = read_manager_config(file);
        read_run(file, config);
        read_check(file, config.stress.sampling);
        read_payload(file, config.stress);
        if (std::optional<Table> workload = file.table_if("workload", "[workload]")) {
            config.has_workload = true;
            read_workload(*workload, config.stress);
        }
        if (std::optional<Table> trace = file.table_if("trace", "[trace]")) {
            config.samples = small(trace->integer_or("samples", 1, {1, most_samples}));
            config.alive = small(trace->integer_or("alive", 1, {1, 65'536}));
            trace->finish();
        }
        file.finish();
        return config;
    }

private:
    static std::uint32_t small(std::int64_t value) { return static_cast<std::uint32_t>(value); }

    static void read_run(Table& file, RunConfig& config) {
        std::optional<Table> run = file.table_if("run", "[run]");
        if (!run) {
            return;
        }
        config.stress.seed = static_cast<std::uint64_t>(run->integer_or("seed", 1, any_count));
        config.stress.steps = run->integer_or("steps", config.stress.steps, {1, most_steps});
        if (const auto mode = run->choice_if("check", {"off", "sampled", "every"})) {
            config.stress.check = static_cast<CheckMode>(*mode);
            config.says_check = true;
        }
        run->finish();
    }

    static void read_check(Table& file, Sampling& sampling) {
        if (std::optional<Table> check = file.table_if("check", "[check]")) {
            sampling.touched_every = check->integer_or("touched_every", sampling.touched_every, {1, most_steps});
            sampling.all_every = check->integer_or("all_every", sampling.all_every, {1, most_steps});
            check->finish();
        }
    }

    static void read_payload(Table& file, StressConfig& config) {
        std::optional<Table> table = file.table_if("payload", "[payload]");
        if (!table) {
            return;
        }
        PayloadOptions options;
        const bool is_enabled = table->boolean_or("enabled", true);
        // In the order of CellOrder and of DType.
        options.order = static_cast<CellOrder>(table->choice_if("layout", {"nhd", "hnd"}).value_or(0));
        options.interleaved = table->boolean_or("interleaved", options.interleaved);
        if (const auto dtype = table->choice_if("dtype", {"f32", "f16", "bf16", "e4m3", "e5m2"})) {
            options.dtype = static_cast<DType>(*dtype);
        }
        options.kv_heads = small(table->integer_or("kv_heads", options.kv_heads, {1, most_kv_heads}));
        options.head_dim = small(table->integer_or("head_dim", options.head_dim, {8, largest_head_dim}));
        if (options.head_dim % 8 != 0) {
            table->fail(table->require("head_dim").place,
                        fmt::format("{} must be a multiple of 8, got {}", table->spelled("head_dim"), options.head_dim));
        }
        if (const auto what = is_enabled ? find_wrong(config.manager, options) : std::nullopt) {
            table->fail(table->place(), *what);
        }
        table->finish();
        if (is_enabled) {
            config.payload = options;
        }
    }

    void read_workload(Table& workload, StressConfig& config) {
        config.most_sequences = small(workload.integer_or("most_sequences", config.most_sequences, {1, 65'536}));
        config.swarm = workload.boolean_or("swarm", false);
        config.chunked_percent = workload.integer_or("chunked_percent", 0, percent);
        config.fork_at_percent = workload.integer_or("fork_at_percent", 0, percent);
        config.batched_percent = workload.integer_or("batched_percent", 0, percent);
        config.open_steps = small(workload.integer_or("open_steps", config.open_steps, {0, 64}));
        config.longest = workload.integer_or("longest", 0, {0, longest_sequence});
        config.mix = read_mix(workload);
        if (std::optional<Table> prefixes = workload.table_if("prefixes", "[workload.prefixes]")) {
            read_prefixes(*prefixes, config.sharing);
        }
        const auto tried = [&](Mix::Kind kind) { return config.mix.percent[kind] > 0; };
        const bool chunks = tried(Mix::append) || tried(Mix::plan) || config.chunked_percent > 0 ||
                            config.sharing.returning_percent > 0;
        const bool rewinds = tried(Mix::truncate) || config.fork_at_percent > 0;
        read_distribution(workload, "prompt", true, config.prompt);
        read_distribution(workload, "chunk", chunks, config.chunk);
        read_distribution(workload, "draft", tried(Mix::reserve), config.draft);
        read_distribution(workload, "rewind", rewinds, config.rewind);
        workload.finish();
    }

    static Mix read_mix(Table& workload) {
        Table table = workload.table("mix", "[workload.mix]");
        Mix mix;
        for (std::size_t kind = 0; kind < mix.percent.size(); ++kind) {
            mix.percent[kind] = table.integer_or(mix_names[kind], 0, percent);
        }
        table.finish();
        const std::int64_t sum = std::accumulate(mix.percent.begin(), mix.percent.end(), std::int64_t{0});
        if (sum != 100) {
            table.fail(table.place(), fmt::format("the percentages of [workload.mix] sum to {}, not to 100", sum));
        }
        return mix;
    }

    void read_prefixes(Table& table, Sharing& sharing) {
        sharing.shared_percent = table.integer_or("shared_percent", 0, percent);
        sharing.returning_percent = table.integer_or("returning_percent", 0, percent);
        sharing.edited_percent = table.integer_or("edited_percent", 0, percent);
        const std::int64_t sum = sharing.shared_percent + sharing.returning_percent + sharing.edited_percent;
        if (sum > 100) {
            table.fail(table.place(),
                       fmt::format("shared_percent, returning_percent and edited_percent of {} sum to {}, "
                                   "to more than 100",
                                   table.name(), sum));
        }
        const std::int64_t fewest = sharing.shared_percent > 0 ? 1 : 0;
        sharing.count = small(table.integer_or("count", fewest, {fewest, ZipfSampler::most}));
        sharing.zipf = table.number_or("zipf", 1, 0, 10);
        sharing.forget_percent = table.integer_or("forget_percent", 0, percent);
        sharing.remembered = small(table.integer_or("remembered", sharing.remembered, {0, 65'536}));
        sharing.tenants = small(table.integer_or("tenants", 1, {1, 65'536}));
        sharing.priorities = small(table.integer_or("priorities", 1, {1, 65'536}));
        sharing.priority_steps = small(table.integer_or("priority_steps", 0, {0, 65'536}));
        sharing.pictures_percent = table.integer_or("pictures_percent", 0, percent);
        sharing.alphabet = static_cast<Token>(table.integer_or("alphabet", 0, {0, std::numeric_limits<Token>::max()}));
        read_distribution(table, "length", sharing.count > 0, sharing.length);
        table.finish();
    }

    // A distribution that nothing draws from may be left out.
    void read_distribution(Table& parent, std::string_view key, bool needed, LengthDistribution& distribution) {
        if (!needed && parent.find(key) == nullptr) {
            return;
        }
        using Kind = LengthDistribution::Kind;
        const std::string_view outer = std::string_view(parent.name()).substr(1, parent.name().size() - 2);
        Table table = parent.table(key, fmt::format("[{}.{}]", outer, key));
        // In the order of Kind.
        distribution.kind = static_cast<Kind>(table.choice("distribution", {"uniform", "lognormal", "edges", "trace"}));
        distribution.min = table.integer("min", lengths);
        distribution.max = table.integer("max", {distribution.min, lengths.max});
        if (distribution.kind == Kind::lognormal) {
            distribution.median = table.number("median", 1, static_cast<double>(lengths.max));
            distribution.sigma = table.number("sigma", 0, 10);
        }
        if (distribution.kind == Kind::values) {
            distribution.values = read_column(table);
        }
        table.finish();
    }

    std::vector<Length> read_column(Table& table) const {
        const bool generated = table.choice("column", {"context", "generated"}) == 1;
        const std::filesystem::path folder = std::filesystem::path(document_.file).parent_path();
        std::vector<Length> values;
        for (const Request& request : read_trace((folder / table.string("file")).string()).requests) {
            values.push_back(generated ? request.generated : request.context);
        }
        return values;
    }

    const Document& document_;
};

}  // namespace

RunConfig read_run_config(const std::string& file) {
    const Document document = read_document(file);
    return RunConfigReader(document).read();
}

RunConfig parse_run_config(const std::string& file, std::string_view text) {
    const Document document = parse_document(file, text);
    return RunConfigReader(document).read();
}

std::optional<CheckMode> check_mode(std::string_view word) {
    for (const CheckMode mode : {CheckMode::off, CheckMode::sampled, CheckMode::every}) {
        if (to_string(mode) == word) {
            return mode;
        }
    }
    return std::nullopt;
}

std::string_view to_string(CheckMode mode) noexcept {
    switch (mode) {
        case CheckMode::off: return "off";
        case CheckMode::sampled: return "sampled";
        case CheckMode::every: return "every";
    }
    return "";
}

}  // namespace kvpane::cli

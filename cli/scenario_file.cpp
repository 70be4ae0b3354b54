// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/scenario_file.h>

#include <utility>

#include <fmt/format.h>

#include <kvpane/cli/manager_config.h>
#include <kvpane/cli/scenario_expect.h>
#include <kvpane/cli/scenario_names.h>
#include <kvpane/cli/tokens.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

// Whether these make sense is for the Manager to say (invalid_argument); the bound keeps sums of two from overflowing.
constexpr Range judged_later{-1'000'000'000'000'000, 1'000'000'000'000'000};
constexpr Range positions{0, longest_sequence};
constexpr std::int64_t most_repeats = 1'000'000;
constexpr std::int64_t most_tokens_of_all = 4 * most_tokens;

class ScenarioReader {
public:
    explicit ScenarioReader(const Document& document) : document_(document) {}

    Scenario read() {
        Table file(document_, document_.root, "the file");
        Scenario scenario;
        scenario.file = document_.file;
        scenario.title = file.string("title");
        file.string_if("source");
        scenario.config = read_manager_config(file);
        file.require("step");
        for (Table& step : file.tables("step", "step")) {
            scenario.steps.push_back(read_step(step, scenario.config));
            tokens_ += static_cast<std::int64_t>(scenario.steps.back().operation.tokens.size());
            if (tokens_ > most_tokens_of_all) {
                step.fail(step.place(),
                          fmt::format("the steps up to here hold more than {} tokens", most_tokens_of_all));
            }
        }
        file.finish();
        scenario.names = names_.take();
        return scenario;
    }

private:
    ScenarioStep read_step(Table& step, const Config& config) {
        ScenarioStep read;
        read.line = step.place().line;
        read.operation.verb = read_verb(step);
        Table named(document_, step.node(), fmt::format("{} ({})", step.name(), step.string("op")));
        named.string("op");
        read_arguments(named, read.operation);
        read.repeat = named.integer_or("repeat", 1, {1, most_repeats});
        named.string_if("note");
        if (std::optional<Table> expect = named.table_if("expect", "expect")) {
            read.expect = read_expectation(*expect, read.operation.verb, config, names_);
        }
        named.finish();
        return read;
    }

    static Verb read_verb(Table& step) {
        const std::string& op = step.string("op");
        std::vector<std::string_view> known;
        for (int number = 0; number <= static_cast<int>(Verb::check); ++number) {
            const auto verb = static_cast<Verb>(number);
            if (to_string(verb) == op) {
                return verb;
            }
            known.push_back(to_string(verb));
        }
        const Place place = step.require("op").place;
        if (op == "suspend" || op == "resume") {
            step.fail(place,
                      fmt::format("op '{}' is not supported: there is no second tier to move a sequence to", op));
        }
        step.fail(place, fmt::format("unknown op '{}' in {}{}", op, step.name(), did_you_mean(op, known)));
    }

    void read_arguments(Table& step, Operation& operation) {
        switch (operation.verb) {
            case Verb::admit:
                operation.sequence = names_.introduce(step, step.require("seq"), step.spelled("seq"));
                read_prompt(step, operation);
                operation.compute = step.integer_if("compute", judged_later);
                operation.priority = step.integer_or("priority", 0, any_integer);
                operation.priority_steps = static_cast<std::uint64_t>(step.integer_or("priority_steps", 0, any_count));
                break;
            case Verb::probe: read_prompt(step, operation); break;
            case Verb::plan: read_plan(step, operation); break;
            case Verb::reserve: read_reserve(step, operation); break;
            case Verb::commit:
            case Verb::append:
                operation.sequence = sequence(step);
                operation.tokens = tokens(step);
                break;
            case Verb::append_batch:
                operation.sequences = sequences(step, step.require("seqs"));
                operation.tokens = tokens(step);
                break;
            case Verb::cancel: operation.sequence = sequence(step); break;
            case Verb::fork:
                operation.sequence = sequence(step);
                operation.child = names_.introduce(step, step.require("as"), step.spelled("as"));
                operation.at = step.integer_if("at", judged_later);
                break;
            case Verb::truncate:
                operation.sequence = sequence(step);
                operation.length = step.integer("length", judged_later);
                break;
            case Verb::release:
                operation.sequence = sequence(step);
                operation.keep_cached = step.boolean_or("keep_cached", true);
                break;
            case Verb::step_begin:
            case Verb::step_end: operation.step = static_cast<std::uint64_t>(step.integer("id", any_count)); break;
            case Verb::evict: operation.count = step.integer("blocks", {0, most_blocks}); break;
            case Verb::uncache:
                operation.sequence = sequence(step);
                operation.blocks = step.to_integers(step.require("blocks"), step.spelled("blocks"), judged_later);
                break;
            case Verb::pin:
            case Verb::unpin: read_prompt(step, operation); break;
            case Verb::reset_cache: break;
            case Verb::check:
                if (const Node* seqs = step.find("seqs")) {
                    operation.sequences = sequences(step, *seqs);
                }
                break;
        }
    }

    void read_prompt(Table& step, Operation& operation) const {
        operation.tokens = tokens(step);
        operation.scope = read_scope(step);
        for (Table& entry : step.tables("extra", "extra")) {
            ExternalContent content;
            content.at = entry.integer("at", positions);
            content.count = entry.integer("count", {1, positions.max});
            content.id = entry.string("id");
            entry.finish();
            operation.extra.push_back(std::move(content));
        }
    }

    void read_reserve(Table& step, Operation& operation) const {
        if (const Node* seqs = step.find("seqs")) {
            operation.is_batch = true;
            operation.sequences = sequences(step, *seqs);
            operation.counts = step.to_integers(step.require("counts"), step.spelled("counts"), judged_later);
        } else {
            operation.sequence = sequence(step);
            operation.count = step.integer("count", judged_later);
        }
    }

    void read_plan(Table& step, Operation& operation) const {
        const bool with_tokens = step.find("tokens") != nullptr;
        const bool with_count = step.find("count") != nullptr;
        if (with_tokens && with_count) {
            step.fail(step.require("count").place,
                      fmt::format("'tokens' and 'count' exclude each other in {}", step.name()));
        }
        if (with_count) {
            operation.count = step.integer("count", judged_later);
        } else {
            read_prompt(step, operation);
        }
        operation.chunk = step.integer_or("chunk", 0, judged_later);
    }

    static Scope read_scope(Table& step) {
        Scope scope;
        if (std::optional<Table> table = step.table_if("scope", "scope")) {
            scope.model = table->string_or("model", "");
            scope.tenant = table->string_or("tenant", "");
            scope.lora = table->string_or("lora", "");
            scope.salt = table->string_or("salt", "");
            scope.lora_id = table->integer_or("lora_id", 0, any_count);
            table->finish();
        }
        return scope;
    }

    static std::vector<Token> tokens(Table& step) {
        return read_tokens(step, step.require("tokens"), step.spelled("tokens"));
    }

    Name sequence(Table& step) const {
        const Node& value = step.require("seq");
        return names_.refer(step, value.place, step.to_string(value, step.spelled("seq")));
    }

    std::vector<Name> sequences(const Table& step, const Node& value) const {
        std::vector<Name> found;
        for (const Node& item : step.to_array(value, step.spelled("seqs"))) {
            found.push_back(
                names_.refer(step, item.place, step.to_string(item, "an entry of " + step.spelled("seqs"))));
        }
        return found;
    }

    const Document& document_;
    ScenarioNames names_;
    std::int64_t tokens_ = 0;  // of all steps
};

}  // namespace

Scenario parse_scenario(const std::string& file, std::string_view text) {
    const Document document = parse_document(file, text);
    return ScenarioReader(document).read();
}

Scenario read_scenario(const std::string& file) {
    const Document document = read_document(file);
    return ScenarioReader(document).read();
}

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/scenario_writer.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kvpane/cli/tokens.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

class Writer {
public:
    explicit Writer(const Scenario& scenario) : scenario_(scenario) {}

    std::string write() {
        line("title = {}", toml_string(scenario_.title));
        write_config(scenario_.config);
        for (const ScenarioStep& step : scenario_.steps) {
            write_step(step);
        }
        return std::move(text_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        text_ += fmt::format(format, std::forward<Args>(args)...);
        text_ += '\n';
    }

    // key = value, unless it is what a file without the key means.
    template <class Value>
    void unless(const char* key, const Value& value, const Value& usual) {
        if (value != usual) {
            line("{} = {}", key, value);
        }
    }

    void write_config(const Config& config) {
        line("\n[pool]\nblock_size = {}\nblocks = {}", config.block_size, config.blocks);
        unless("watermark", config.watermark, std::int64_t{0});
        const bool on_reserve = config.window_release == WindowRelease::reserve;
        if (config.max_length != 0 || on_reserve || config.rewind_slack != 0) {
            line("\n[manager]");
            unless("max_length", config.max_length, Length{0});
            if (on_reserve) {
                line("window_release = \"reserve\"");
            }
            unless("rewind_slack", config.rewind_slack, Length{0});
        }
        write_cache(config.prefix_cache);
        for (const GroupConfig& group : config.groups) {
            line("\n[[group]]\nname = {}", toml_string(group.name));
            unless("window", group.window, Length{0});
            unless("sinks", group.sinks, Length{0});
        }
    }

    void write_cache(const PrefixCacheConfig& cache) {
        line("\n[prefix_cache]\nenabled = {}", cache.enabled);
        if (cache.granularity == Granularity::token) {
            line("granularity = \"token\"");
        }
        if (cache.policy == EvictionPolicy::lfu) {
            line("policy = \"lfu\"");
        }
        if (cache.constant_hash) {
            line("hash = \"constant\"");
        }
        unless("most_pinned", cache.most_pinned, std::int64_t{0});
    }

    void write_step(const ScenarioStep& step) {
        line("\n[[step]]\nop = \"{}\"", to_string(step.operation.verb));
        write_arguments(step.operation);
        unless("repeat", step.repeat, std::int64_t{1});
        if (step.expect.error) {
            line("expect.error = \"{}\"", to_string(*step.expect.error));
        }
        if (step.expect.cached_tokens) {
            line("expect.cached_tokens = {}", *step.expect.cached_tokens);
        }
        if (step.expect.index_entries) {
            line("expect.index_entries = {}", *step.expect.index_entries);
        }
    }

    std::string name(Name name) const {
        return toml_string(name < scenario_.names.size() ? scenario_.names[name] : fmt::format("s{}", name));
    }

    void write_sequence(const Operation& operation) { line("seq = {}", name(operation.sequence)); }

    void write_sequences(const Operation& operation) {
        std::vector<std::string> names;
        for (const Name sequence : operation.sequences) {
            names.push_back(name(sequence));
        }
        line("seqs = [{}]", fmt::join(names, ", "));
    }

    void write_tokens(const Operation& operation) { line("tokens = \"{}\"", spell_tokens(operation.tokens)); }

    void write_prompt(const Operation& operation) {
        write_tokens(operation);
        if (operation.scope != invariants::Scope{}) {
            line("scope = {{ {} }}", fmt::join(scope_parts(operation.scope), ", "));
        }
        std::vector<std::string> pieces;
        for (const auto& piece : operation.extra) {
            pieces.push_back(
                fmt::format("{{ at = {}, count = {}, id = {} }}", piece.at, piece.count, toml_string(piece.id)));
        }
        if (!pieces.empty()) {
            line("extra = [{}]", fmt::join(pieces, ", "));
        }
    }

    static std::vector<std::string> scope_parts(const invariants::Scope& scope) {
        std::vector<std::string> parts;
        const auto add = [&](const char* key, const std::string& value) {
            if (!value.empty()) {
                parts.push_back(fmt::format("{} = {}", key, toml_string(value)));
            }
        };
        add("model", scope.model);
        add("tenant", scope.tenant);
        add("lora", scope.lora);
        add("salt", scope.salt);
        if (scope.lora_id != 0) {
            parts.push_back(fmt::format("lora_id = {}", scope.lora_id));
        }
        return parts;
    }

    void write_arguments(const Operation& operation) {
        switch (operation.verb) {
            case Verb::admit:
                write_sequence(operation);
                write_prompt(operation);
                if (operation.compute) {
                    line("compute = {}", *operation.compute);
                }
                unless("priority", operation.priority, std::int64_t{0});
                unless("priority_steps", operation.priority_steps, std::uint64_t{0});
                break;
            case Verb::probe:
            case Verb::pin:
            case Verb::unpin: write_prompt(operation); break;
            case Verb::plan:
                if (operation.tokens.empty()) {
                    line("count = {}", operation.count);
                } else {
                    write_prompt(operation);
                }
                unless("chunk", operation.chunk, Length{0});
                break;
            case Verb::reserve:
                if (operation.is_batch) {
                    write_sequences(operation);
                    line("counts = [{}]", fmt::join(operation.counts, ", "));
                } else {
                    write_sequence(operation);
                    line("count = {}", operation.count);
                }
                break;
            case Verb::commit:
            case Verb::append:
                write_sequence(operation);
                write_tokens(operation);
                break;
            case Verb::append_batch:
                write_sequences(operation);
                write_tokens(operation);
                break;
            case Verb::cancel: write_sequence(operation); break;
            case Verb::fork:
                write_sequence(operation);
                line("as = {}", name(operation.child));
                if (operation.at) {
                    line("at = {}", *operation.at);
                }
                break;
            case Verb::truncate:
                write_sequence(operation);
                line("length = {}", operation.length);
                break;
            case Verb::release:
                write_sequence(operation);
                unless("keep_cached", operation.keep_cached, true);
                break;
            case Verb::step_begin:
            case Verb::step_end: line("id = {}", operation.step); break;
            case Verb::evict: line("blocks = {}", operation.count); break;
            case Verb::uncache:
                write_sequence(operation);
                line("blocks = [{}]", fmt::join(operation.blocks, ", "));
                break;
            case Verb::reset_cache: break;
            case Verb::check:
                if (!operation.sequences.empty()) {
                    write_sequences(operation);
                }
                break;
        }
    }

    const Scenario& scenario_;
    std::string text_;
};

}  // namespace

std::string toml_string(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            quoted += fmt::format("\\u{:04X}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

std::string scenario_text(const Scenario& scenario) { return Writer(scenario).write(); }

}  // namespace kvpane::cli

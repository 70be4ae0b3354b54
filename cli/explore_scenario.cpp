// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/explore_scenario.h>

#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kvpane/cli/explore_config.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

// A TOML string. Names of groups are the user's, sentences are ours; control characters are in neither.
std::string quoted_toml(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
    return out + "\"";
}

std::string header(const Config& config) {
    std::string out = fmt::format("[pool]\nblock_size = {}\nblocks     = {}\nwatermark  = {}\n\n", config.block_size,
                                  config.blocks, config.watermark);
    out += fmt::format("[manager]\nmax_length     = {}\nwindow_release = \"{}\"\nrewind_slack   = {}\n\n",
                       config.max_length, config.window_release == WindowRelease::commit ? "commit" : "reserve",
                       config.rewind_slack);
    const PrefixCacheConfig& cache = config.prefix_cache;
    out += fmt::format("[prefix_cache]\nenabled     = {}\ngranularity = \"{}\"\nhash        = \"{}\"\n"
                       "most_pinned = {}\n",
                       cache.enabled, cache.granularity == Granularity::token ? "token" : "block",
                       cache.constant_hash ? "constant" : "default", cache.most_pinned);
    for (const GroupConfig& group : config.groups) {
        out += fmt::format("\n[[group]]\nname   = {}\nwindow = {}\nsinks  = {}\n", quoted_toml(group.name),
                           group.window, group.sinks);
    }
    return out;
}

std::string name_of(Name name) { return fmt::format("\"s{}\"", name); }

std::string arguments(const Operation& operation) {
    const std::string seq = fmt::format("seq = {}\n", name_of(operation.sequence));
    const std::string tokens = fmt::format("tokens = [{}]\n", fmt::join(operation.tokens, ", "));
    switch (operation.verb) {
        case Verb::admit:
            return seq + tokens + (operation.compute ? fmt::format("compute = {}\n", *operation.compute) : "");
        case Verb::plan: return tokens + (operation.chunk > 0 ? fmt::format("chunk = {}\n", operation.chunk) : "");
        case Verb::probe:
        case Verb::pin:
        case Verb::unpin: return tokens;
        case Verb::reserve: return seq + fmt::format("count = {}\n", operation.count);
        case Verb::commit:
        case Verb::append: return seq + tokens;
        case Verb::append_batch:
            return fmt::format("seqs = [{}, {}]\n", name_of(operation.sequences[0]), name_of(operation.sequences[1])) +
                   tokens;
        case Verb::fork:
            return seq + fmt::format("as = {}\n", name_of(operation.child)) +
                   (operation.at ? fmt::format("at = {}\n", *operation.at) : "");
        case Verb::truncate: return seq + fmt::format("length = {}\n", operation.length);
        case Verb::release: return seq + (operation.keep_cached ? "" : "keep_cached = false\n");
        case Verb::step_begin:
        case Verb::step_end: return fmt::format("id = {}\n", operation.step);
        case Verb::evict: return fmt::format("blocks = {}\n", operation.count);
        case Verb::uncache: return seq + fmt::format("blocks = [{}]\n", fmt::join(operation.blocks, ", "));
        case Verb::cancel: return seq;
        case Verb::reset_cache:
        case Verb::check: return "";
    }
    return "";
}

}  // namespace

std::string scenario_text(const Config& config, const ExploreViolation& violation) {
    std::string out = fmt::format("# Found by an exploration: no shorter way leads there.\ntitle  = {}\n",
                                  quoted_toml(fmt::format("{}: {}", number(violation.invariant),
                                                          sentence(violation.invariant))));
    out += fmt::format("source = {}\n\n{}", quoted_toml(violation.what), header(config));
    const auto add = [&](const Operation& operation) {
        out += fmt::format("\n[[step]]\nop = \"{}\"\n{}", to_string(operation.verb), arguments(operation));
    };
    for (const Operation& operation : violation.trace) {
        add(operation);
    }
    const Verb last = violation.trace.empty() ? Verb::check : violation.trace.back().verb;
    if (violation.due) {
        out += fmt::format("expect.error = \"{}\"\n", to_string(*violation.due));
    } else if (violation.cached_tokens && (last == Verb::admit || last == Verb::probe)) {
        out += fmt::format("expect.cached_tokens = {}\n", *violation.cached_tokens);
    }
    if (violation.index_entries) {
        out += fmt::format("expect.index_entries = {}\n", *violation.index_entries);
    }
    for (const Operation& operation : violation.coda) {
        add(operation);
    }
    return out;
}

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/explore_config.h>

#include <algorithm>
#include <array>
#include <vector>

#include <kvpane/cli/manager_config.h>
#include <kvpane/cli/toml_reader.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

std::vector<std::string_view> verb_names() {
    std::vector<std::string_view> names;
    for (std::size_t verb = 0; verb < verbs; ++verb) {
        names.push_back(to_string(static_cast<Verb>(verb)));
    }
    return names;
}

constexpr Range lengths{1, explorer::longest_explored};

class ExploreReader {
public:
    explicit ExploreReader(const Document& document) : document_(document) {}

    ExploreFile read() {
        Table file(document_, document_.root, "the file");
        ExploreFile read;
        read.digest = document_.digest;
        read.title = file.string_or("title", "");
        ExploreConfig& config = read.explore;
        config.manager = read_manager_config(file);
        Table table = file.table("explore", "[explore]");
        config.sequences = small(table.integer("sequences", {1, explorer::most_sequences}));
        config.longest = table.integer("longest", lengths);
        config.longest_prompt = table.integer_or("prompt", config.longest, {1, config.longest});
        config.alphabet = small(table.integer_or("alphabet", 2, {2, explorer::most_alphabet}));
        config.scopes = small(table.integer_or("scopes", 1, {1, explorer::most_scopes}));
        config.contents = small(table.integer_or("contents", 0, {0, explorer::most_contents}));
        config.reserve = table.integer_or("reserve", 1, {1, config.longest});
        config.partial = small(table.integer_or("partial", 1, {0, config.longest}));
        config.open_steps = small(table.integer_or("open_steps", 0, {0, explorer::most_open_steps}));
        config.pins = small(table.integer_or("pins", 0, {0, 8}));
        config.priorities = small(table.integer_or("priorities", 0, {0, explorer::most_priorities}));
        config.priority_steps = small(table.integer_or("priority_steps", 0, {0, explorer::most_priorities}));
        config.limit = table.integer_or("limit", config.limit, {1, most_states});
        read_operations(table, config);
        table.finish();
        file.finish();
        if (const auto wrong = validate(config)) {
            table.fail(table.place(), "this cannot be explored: " + *wrong);
        }
        return read;
    }

private:
    static std::uint32_t small(std::int64_t value) { return static_cast<std::uint32_t>(value); }

    // All that the configuration has a use for, without those that are switched off.
    static void read_operations(Table& table, ExploreConfig& config) {
        config.tries.fill(true);
        const auto off = [&](std::initializer_list<Verb> verbs_off) {
            for (const Verb verb : verbs_off) {
                config.tries[static_cast<std::size_t>(verb)] = false;
            }
        };
        off({Verb::check});
        if (config.open_steps == 0) {
            off({Verb::step_begin, Verb::step_end});
        }
        if (config.pins == 0) {
            off({Verb::pin, Verb::unpin});
        }
        const Node* without = table.find("without");
        if (without == nullptr) {
            return;
        }
        const std::vector<std::string_view> names = verb_names();
        for (const Node& item : table.to_array(*without, table.spelled("without"))) {
            const std::string& word = table.to_string(item, "an operation in " + table.spelled("without"));
            const auto found = std::ranges::find(names, word);
            if (found == names.end()) {
                table.fail(item.place, "there is no operation '" + word + "'" +
                                           did_you_mean(word, names));
            }
            config.tries[static_cast<std::size_t>(found - names.begin())] = false;
        }
    }

    const Document& document_;
};

}  // namespace

ExploreFile read_explore_config(const std::string& file) {
    const Document document = read_document(file);
    return ExploreReader(document).read();
}

ExploreFile parse_explore_config(const std::string& file, std::string_view text) {
    const Document document = parse_document(file, text);
    return ExploreReader(document).read();
}

}  // namespace kvpane::cli

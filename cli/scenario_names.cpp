// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/scenario_names.h>

#include <fmt/format.h>

namespace kvpane::cli {

invariants::Name ScenarioNames::introduce(const Table& table, const Node& value, const std::string& what) {
    const std::string& name = table.to_string(value, what);
    if (name.empty()) {
        table.fail(value.place, fmt::format("{} must not be empty", what));
    }
    const auto number = static_cast<invariants::Name>(spellings_.size());
    const auto [entry, is_new] = numbers_.try_emplace(name, number);
    if (is_new) {
        spellings_.push_back(name);
    }
    return entry->second;
}

invariants::Name ScenarioNames::refer(const Table& table, Place place, const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) {
        const std::vector<std::string_view> known(spellings_.begin(), spellings_.end());
        table.fail(place, fmt::format("unknown sequence '{}' in {}: no step up to here creates it{}", name,
                                      table.name(), did_you_mean(name, known)));
    }
    return found->second;
}

}  // namespace kvpane::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/cli/toml_reader.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::cli {

// The sequence names of a scenario. A step may name what it or an earlier step introduces (`seq` of admit, `as` of
// fork), dead or alive: whether it still lives is for the run to say.
class ScenarioNames {
public:
    // The number of a name that this value introduces, new or not.
    invariants::Name introduce(const Table& table, const Node& value, const std::string& what);

    // The number of a name that was introduced before. ERRORS InputError at `place` when it was not.
    invariants::Name refer(const Table& table, Place place, const std::string& name) const;

    // Name -> spelling.
    std::vector<std::string> take() { return std::move(spellings_); }

private:
    std::map<std::string, invariants::Name, std::less<>> numbers_;
    std::vector<std::string> spellings_;
};

}  // namespace kvpane::cli

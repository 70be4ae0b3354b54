// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <kvpane/cli/input.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {
class JournalWriter;
}

// Fuzz targets: each takes any bytes, and throws Broken when something that must hold does not (docs/fuzzing.md).
// One program per target is driven by libFuzzer; fuzz_corpus runs them all over the committed inputs.
namespace kvpane::fuzz {

using Input = std::span<const std::byte>;

// A property does not hold.
class Broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class... Parts>
void require(bool holds, const Parts&... sentence) {
    if (!holds) {
        throw Broken(invariants::text(sentence...));
    }
}

void operations(Input input);  // an input is a Manager and calls of it
void scenarios(Input input);   // a scenario file
void configs(Input input);     // a configuration of `kvpane stress` or `kvpane explore`
void journals(Input input);    // a journal
void audit_logs(Input input);  // a log of an engine
void traces(Input input);      // a length trace or a prefix trace

struct Target {
    std::string_view name;
    void (*run)(Input);
};

inline constexpr std::array<Target, 6> targets = {{{"operations", operations},
                                                   {"scenarios", scenarios},
                                                   {"configs", configs},
                                                   {"journals", journals},
                                                   {"audit_logs", audit_logs},
                                                   {"traces", traces}}};

inline std::string_view as_text(Input input) noexcept {
    return {reinterpret_cast<const char*>(input.data()), input.size()};
}

// Every command refuses what is no text before a parser sees it.
inline bool is_text(std::string_view bytes) { return cli::find_what_is_not_text(bytes).sentence.empty(); }

}  // namespace kvpane::fuzz

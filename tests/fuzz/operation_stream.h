// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/operation.h>

#include "fuzz/target.h"

namespace kvpane::fuzz {

// Reads any bytes as a small Manager and a list of calls. An input that is longer only has more calls, and most changes
// of a byte change one call: what a fuzzer needs. The scopes follow docs/exploring.md: sequences grow beyond a window
// and a block, blocks of one cell and of three and more, two tokens at least, prompts that no sequence ever had.
class OperationStream {
public:
    // Reads the Config.
    explicit OperationStream(Input input);

    // ENSURES validate(config()) finds nothing.
    const Config& config() const noexcept { return config_; }

    // The next operation: most of them make sense somewhere, some must be refused. Nothing when the bytes are used up.
    // Lengths are what a journal can hold, names below `names`, steps below `steps`.
    std::optional<invariants::Operation> next();

    static constexpr invariants::Name names = 6;
    static constexpr std::uint64_t steps = 3;

private:
    std::uint8_t byte() noexcept;  // 0 behind the last one
    std::uint8_t below(std::uint8_t bound) noexcept { return static_cast<std::uint8_t>(byte() % bound); }

    GroupConfig group(std::size_t number);
    Length length();  // most are 0..longest, some are extreme
    invariants::Name name() noexcept { return below(names); }
    std::vector<Token> tokens(std::size_t count, bool alike);
    void fill_prompt(invariants::Operation& operation);
    void fill(invariants::Operation& operation);

    Input rest_;
    Config config_;
    bool two_tokens_ = false;  // of alphabet; else four
};

// Runs the whole stream with all checks after each call, then ends everything and wants every block back: the target
// `operations`. Into `journal`, when given, goes every call: `kvpane shrink` makes a short scenario of that.
// ERRORS Broken.
void run_operations(Input input, invariants::JournalWriter* journal);

}  // namespace kvpane::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <kvpane/cli/commands.h>
#include <kvpane/cli/payload_flag.h>

namespace CLI {
class App;
}

namespace kvpane::cli {

// The commands that read a journal: their words on the command line, and the call when one of them was chosen.
class JournalCommands {
public:
    // Adds `replay`, `check`, `journal` and `shrink`; this must live until the command line is parsed.
    explicit JournalCommands(CLI::App& app);
    JournalCommands(const JournalCommands&) = delete;
    JournalCommands& operator=(const JournalCommands&) = delete;

    bool chosen(const CLI::App& app) const;
    ExitCode run(const CLI::App& app) const;  // REQUIRES chosen(app)

private:
    void add_replay(CLI::App& app);
    void add_check(CLI::App& app);
    void add_journal(CLI::App& app);
    void add_shrink(CLI::App& app);

    std::string journal_;
    std::optional<std::string> until_;
    std::optional<std::string> dump_;
    std::optional<std::string> check_;
    std::optional<std::string> against_;
    PayloadFlag payload_;
    std::optional<std::string> candidates_;
    std::string output_;
};

}  // namespace kvpane::cli

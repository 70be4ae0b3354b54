// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <kvpane/cli/article_report.h>
#include <kvpane/cli/audit_report.h>
#include <kvpane/cli/prefix_report.h>
#include <kvpane/cli/report.h>

namespace kvpane::cli {

// The report as one JSON object; numbers are numbers, digests strings "0x...".
std::string stress_json(const RunHeader& header, const invariants::StressReport& report);
std::string replay_json(const RunHeader& header, const invariants::ReplayReport& report);
std::string prefix_json(const PrefixReport& report);
std::string audit_json(const AuditReport& report);
std::string article_json(const ArticleReport& report);

// A file that appears whole or not at all: written beside its path under another name, then renamed.
class OutputFile {
public:
    // Does nothing when `path` is empty. ERRORS InputError now, not after the run, if it could not be written, or would
    // take the place of one of `others`, the files of the same run. Sentences call it by its option.
    OutputFile(std::string path, std::initializer_list<std::string_view> others, std::string_view option = "--json");

    // ERRORS std::runtime_error when the disk is full or the folder has gone.
    void write(const std::string& text) const;

    bool wanted() const noexcept { return !path_.empty(); }

private:
    std::string path_;
    std::string temporary_;
};

}  // namespace kvpane::cli

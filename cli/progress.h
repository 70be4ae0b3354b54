// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <kvpane/invariants/stress.h>

namespace kvpane::cli {

// One line on stderr that is redrawn in place: share done, rate, time left, violations. Silent unless stderr is a
// terminal; wiped when it goes out of scope.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const invariants::StressProgress& progress);

private:
    using Clock = std::chrono::steady_clock;

    bool on_terminal_;
    bool drawn_ = false;
    Clock::time_point start_;
    Clock::time_point last_;
};

}  // namespace kvpane::cli

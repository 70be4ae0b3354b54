// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/progress.h>

#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

namespace kvpane::cli {

namespace {

constexpr auto redraw_after = std::chrono::milliseconds(100);

}  // namespace

ProgressLine::ProgressLine() : on_terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() {
    if (drawn_) {
        std::fputs("\r\033[K", stderr);
    }
}

void ProgressLine::show(const invariants::StressProgress& progress) {
    const Clock::time_point now = Clock::now();
    if (!on_terminal_ || progress.done == 0 || now - last_ < redraw_after) {
        return;
    }
    last_ = now;
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(progress.done) / seconds;
    const double left = static_cast<double>(progress.of - progress.done) / rate;
    const double share = 100.0 * static_cast<double>(progress.done) / static_cast<double>(progress.of);
    fmt::print(stderr, "\r\033[K{:5.1f} %  {} of {}  {:.0f}/s  {:.0f} s left  violations {}", share, progress.done,
               progress.of, rate, left, progress.violations);
    std::fflush(stderr);
}

}  // namespace kvpane::cli

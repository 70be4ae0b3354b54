// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/bench.h"

#include <algorithm>
#include <ctime>

namespace kvpane::bench {

namespace {

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

double thread_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

bool Row::is_right() const { return std::ranges::all_of(checks, &Check::holds); }

void Bench::Rounds::add(const Sample& mine, const Sample& least) {
    ours.push_back(mine.nanoseconds / mine.units);
    floor.push_back(least.nanoseconds / least.units);
    ratio.push_back(ours.back() / floor.back());
}

void Bench::note(Row& row, const Sample& sample) {
    if (row.is_right()) {
        row.checks = sample.checks;
    }
}

void Bench::add(Row row, Rounds& rounds) {
    row.ours = median(rounds.ours);
    row.floor = median(rounds.floor);
    row.ratio = median(rounds.ratio);
    rows_.push_back(std::move(row));
}

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The harness. Times on shared machines vary by 2x and more, so what counts is a ratio against a floor: the least that
// any implementation must do for the same work. Both are measured in turn, round by round, and the ratio is the median
// of the rounds' own ratios. Google Benchmark finishes one function before it starts the next (or shuffles all of
// them), knows no ratio of two and no result that must come out; that is all there is here.
namespace kvpane::bench {

// A value that the work must give, in every round.
struct Check {
    std::string name;
    std::uint64_t value = 0;
    std::uint64_t expected = 0;

    bool holds() const { return value == expected; }
};

// What one round of one side took.
struct Sample {
    double nanoseconds = 0;
    double units = 1;
    std::vector<Check> checks{};
};

// One line of the result. ENSURES checks: of the last round, or of the first round in which one did not hold.
struct Row {
    std::string workload;
    std::string variant;
    std::string unit;
    double goal = 0;   // the ratio that is wanted at most; 0 = none
    double ours = 0;   // [ns / unit] median
    double floor = 0;  // [ns / unit] median
    double ratio = 0;  // median
    std::vector<Check> checks{};

    bool is_right() const;
    bool misses_its_goal() const { return goal > 0 && ratio > goal; }
};

// What a workload needs to measure itself.
class Bench {
public:
    // `large` also measures pools of 10 000 000 blocks (about 3 GB of memory).
    Bench(std::size_t rounds, bool large) : rounds_(rounds), large_(large) {}

    // Measures `ours()` and `floor()`, each of which gives a Sample, and adds the row. A round that nobody looks at
    // goes first, unless there is only one.
    template <class Ours, class Floor>
    void measure(Row row, Ours ours, Floor floor) {
        Rounds rounds;
        for (std::size_t round = rounds_ > 1 ? 0 : 1; round <= rounds_; ++round) {
            const Sample mine = ours();
            const Sample least = floor();
            note(row, mine);
            if (round > 0) {
                rounds.add(mine, least);
            }
        }
        add(std::move(row), rounds);
    }

    bool large() const { return large_; }
    std::span<const Row> rows() const { return rows_; }

private:
    struct Rounds {
        std::vector<double> ours;
        std::vector<double> floor;
        std::vector<double> ratio;

        void add(const Sample& mine, const Sample& least);
    };

    static void note(Row& row, const Sample& sample);
    void add(Row row, Rounds& rounds);

    std::size_t rounds_;
    bool large_;
    std::vector<Row> rows_;
};

// Processor time of this thread.
double thread_nanoseconds();

// What `work` takes, in nanoseconds. From 0.1 ms on in time of this thread, since it may have had to wait for the core
// meanwhile; reading that clock costs 0.2 us, so shorter work is timed by the clock on the wall.
template <class Work>
double time(Work work) {
    constexpr double longest_on_the_wall = 1e5;
    const double cpu_begin = thread_nanoseconds();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    const double wall = std::chrono::duration<double, std::nano>(end - begin).count();
    return wall < longest_on_the_wall ? wall : std::min(wall, thread_nanoseconds() - cpu_begin);
}

// The compiler must assume that somebody reads what `memory` points to.
inline void keep(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

}  // namespace kvpane::bench

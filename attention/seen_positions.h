// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/visibility.h>
#include <kvpane/blocktable/block_shape.h>
#include <kvpane/blocktable/window.h>

// What queries see, and the only place where attention computes it: the host's functions and the kernels call the same
// ones. A header of its own, so that who passes the rule on does not get the window's arithmetic.
namespace kvpane {

// Does the query see the position?
constexpr bool sees(const Visibility& rule, Length query, Length position) noexcept {
    return position <= query && (position >= need(query, rule.window) || position < rule.sinks);
}

// The positions that a query sees, ascending: those of the sinks, then those of the window. They do not overlap; an
// empty range has begin = end. Without a window all of them stand in the run.
struct SeenPositions {
    Length sink_begin = 0;
    Length sink_end = 0;
    Length run_begin = 0;
    Length run_end = 0;

    constexpr Length sinks() const noexcept { return sink_end - sink_begin; }
    constexpr Length size() const noexcept { return sinks() + (run_end - run_begin); }
    // REQUIRES 0 <= i < size().
    constexpr Length operator[](Length i) const noexcept {
        return i < sinks() ? sink_begin + i : run_begin + (i - sinks());
    }

    friend bool operator==(const SeenPositions&, const SeenPositions&) = default;
};

// What any of the queries at positions [first, last] sees, as far as it lies in [begin, end).
constexpr SeenPositions seen_by_queries(const Visibility& rule, Length first, Length last, Length begin,
                                        Length end) noexcept {
    // One after the other, their windows leave no gap; the first query's starts first and the last one's ends last.
    const Length run = need(first, rule.window);
    const Length behind = last + 1;
    const auto within = [&](Length position) { return std::max(begin, std::min(position, end)); };
    return {within(0), within(std::min(std::min(rule.sinks, run), behind)), within(run), within(std::max(run, behind))};
}

// Of the query at `position` (-1: it sees nothing).
constexpr SeenPositions seen_by_query(const Visibility& rule, Length position, Length begin, Length end) noexcept {
    return seen_by_queries(rule, position, position, begin, end);
}

// The logical blocks [0, sinks) and [run, size) of one sequence.
struct SeenBlocks {
    Length sinks = 0;
    Length run = 0;
    Length size = 0;

    constexpr Length count() const noexcept { return sinks + (size - run); }
    // REQUIRES 0 <= i < count().
    constexpr Length operator[](Length i) const noexcept { return i < sinks ? i : run + (i - sinks); }
};

// Those of which the latest queries of a sequence see something; all where none is skipped between sinks and run.
// REQUIRES 0 <= queries <= length.
constexpr SeenBlocks seen_blocks(const Visibility& rule, const BlockShape& shape, Length length,
                                 Length queries) noexcept {
    const SeenPositions seen = seen_by_queries(rule, length - queries, length - 1, 0, length);
    const Length size = shape.blocks_for(length);
    const Length sinks = shape.blocks_for(seen.sink_end);
    const Length run = std::min(size, shape.index(seen.run_begin));
    return run <= sinks ? SeenBlocks{0, 0, size} : SeenBlocks{sinks, run, size};
}

// Those that the `entries` of one row of a CSR are, which seen_blocks() or export_csr() found.
// REQUIRES first_position >= 0, sinks >= 0, entries >= 0.
constexpr SeenBlocks blocks_of_row(const BlockShape& shape, Length sinks, Length first_position,
                                   Length entries) noexcept {
    // Where the run begins at 0 the sinks' blocks are its first ones; else it begins behind a hole.
    const Length run = shape.index(first_position);
    const Length of_sinks = run == 0 ? 0 : std::min(entries, shape.blocks_for(sinks));
    return {of_sinks, run, run + (entries - of_sinks)};
}

}  // namespace kvpane

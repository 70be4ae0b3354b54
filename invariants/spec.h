// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <kvpane/allocator/ids.h>

// What is right, said once and plainly, for one attention group. Everything follows from one sentence: a query at
// position q sees the positions > q - W and those < S. It shares nothing with the code that it judges but the ids.
namespace kvpane::invariants::spec {

// The rule of a group.
struct Rule {
    Length window = 0;  // W [tokens], 0 = everything
    Length sinks = 0;   // S [tokens]
    Length slack = 0;   // [cells] kept before the window for truncate()
    Length block_size = 1;
};

struct Range {
    Length begin = 0;
    Length end = 0;

    constexpr bool has(Length position) const { return begin <= position && position < end; }
};

// Whether the query at position `query` sees the cell at `position`. It sees itself, and nothing behind it.
constexpr bool query_sees(Length query, Length position, Length window, Length sinks) {
    if (position < 0 || position > query) {
        return false;
    }
    return window == 0 || position < sinks || query - position < window;
}

// The first position that the query at position n sees, sinks aside.
constexpr Length need(Length n, Length window) { return window == 0 ? 0 : std::max<Length>(0, n - window + 1); }

// visible(h) = h[0 .. min(S, n)) ++ h[max(S, n - W) .. n): what a history of n tokens must read back as.
struct Visible {
    Range sinks;
    Range last;

    constexpr bool has(Length position) const { return sinks.has(position) || last.has(position); }
};

constexpr Visible visible(Length n, Length window, Length sinks) {
    const Length last = window == 0 ? 0 : n - window;
    const Length sink_end = std::min(sinks, n);
    return {{0, sink_end}, {std::max(sink_end, last), n}};
}

// The committed cells (below n) that the next query, at position n, sees.
constexpr Visible seen_next(Length n, Length window, Length sinks) {
    const Length sink_end = std::min(sinks, n);
    return {{0, sink_end}, {std::max(sink_end, std::min(n, need(n, window))), n}};
}

// Blocks are released when no cell of theirs is kept: seen by the query, with a window that is `slack` cells wider.
constexpr bool is_kept(Length query, Length position, const Rule& rule) {
    return query_sees(query, position, rule.window == 0 ? 0 : rule.window + rule.slack, 0);
}

// The first position of the first block that holds a kept cell.
constexpr Length begin_of_kept(Length query, const Rule& rule) {
    const Length first = rule.window == 0 ? 0 : need(query, rule.window + rule.slack);
    return first - first % rule.block_size;
}

constexpr Length blocks_for(Length cells, const Rule& rule) { return (cells + rule.block_size - 1) / rule.block_size; }

// Most blocks behind the sinks while `cells` cells are reserved behind the committed ones.
constexpr Length most_blocks(Length cells, const Rule& rule) {
    return blocks_for(rule.window - 1 + rule.slack + cells, rule) + 1;
}

// What a sequence holds in this group, exactly: the cells [low, end), reserved ones included, and of the sink blocks
// [0, sink_end) what lies below `end`. `low` moves up by whole blocks when a window releases, and down only when the
// sequence is cut below it: what was released does not come back, so a block may then begin with missing cells.
struct Holding {
    Rule rule;
    Length low = 0;
    Length end = 0;

    constexpr Length sink_end() const { return blocks_for(rule.sinks, rule) * rule.block_size; }

    constexpr bool has(Length position) const {
        return 0 <= position && position < end && (position >= low || position < sink_end());
    }

    // Whether a cell of this logical block is held.
    constexpr bool has_block(Length block) const {
        const Length begin = block * rule.block_size;
        const bool in_run = low < end && begin + rule.block_size > low;
        return begin < end && (in_run || begin < sink_end());
    }

    constexpr Length blocks() const {
        Length held = 0;
        for (Length block = 0; block * rule.block_size < end; ++block) {
            held += has_block(block) ? 1 : 0;
        }
        return held;
    }

    // Where the unbroken run that ends at the tail begins; `end` where nothing is held.
    constexpr Length first_resident() const { return low <= sink_end() ? 0 : low; }

    // What the query at this position does not keep is released.
    constexpr void release_before(Length query) { low = std::max(low, begin_of_kept(query, rule)); }

    constexpr void cut(Length length) {
        end = length;
        low = std::min(low, length);
    }

    // Whether everything that the query at position `length` sees is still here.
    constexpr bool can_cut(Length length) const {
        for (Length position = 0; position < length; ++position) {
            if (query_sees(length, position, rule.window, rule.sinks) && !has(position)) {
                return false;
            }
        }
        return true;
    }
};

// --- the boundaries, and that the ways to say it agree ---------------------------------------------------------------

// visible() is what the last query saw, seen_next() what the next one sees; the kept block is found by looking.
constexpr bool agrees(Length n, const Rule& rule) {
    for (Length p = -1; p <= n + 1; ++p) {
        const bool last_saw = p < n && query_sees(n - 1, p, rule.window, rule.sinks);
        const bool next_sees = p < n && query_sees(n, p, rule.window, rule.sinks);
        if (visible(n, rule.window, rule.sinks).has(p) != last_saw ||
            seen_next(n, rule.window, rule.sinks).has(p) != next_sees) {
            return false;
        }
    }
    Length first = 0;
    while (!is_kept(n, first, rule)) {
        ++first;
    }
    return begin_of_kept(n, rule) == first - first % rule.block_size;
}

constexpr bool agrees_everywhere() {
    for (Length window = 0; window <= 5; ++window) {
        for (Length sinks = 0; sinks <= 5; ++sinks) {
            for (Length block_size = 1; block_size <= 4; ++block_size) {
                for (Length n = 0; n <= 10; ++n) {
                    if (!agrees(n, {window, sinks, n % 3, block_size})) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}
static_assert(agrees_everywhere());

// W = 0: everything, always.
static_assert(need(9, 0) == 0 && visible(9, 0, 0).last.begin == 0 && begin_of_kept(9, {0, 0, 0, 4}) == 0);
// n < W: nothing has left yet.
static_assert(need(3, 4) == 0 && visible(3, 4, 0).last.begin == 0);
// n = W: the next query sees one cell less than the history shows.
static_assert(need(4, 4) == 1 && visible(4, 4, 0).last.begin == 0 && seen_next(4, 4, 0).last.begin == 1);
// n = W + 1: the first cell has left.
static_assert(need(5, 4) == 2 && visible(5, 4, 0).last.begin == 1);
// W = 1: a query sees only itself, of the committed cells none.
static_assert(need(5, 1) == 5 && visible(5, 1, 0).last.begin == 4 && seen_next(5, 1, 0).last.begin == 5);
// block_size = 1: the kept block begins at the needed cell itself.
static_assert(begin_of_kept(5, {4, 0, 0, 1}) == 2 && begin_of_kept(5, {4, 0, 0, 4}) == 0);
// Sinks end where the window begins, and never count twice.
static_assert(visible(10, 4, 2).sinks.end == 2 && visible(10, 4, 2).last.begin == 6);
static_assert(visible(5, 4, 2).last.begin == 2);

}  // namespace kvpane::invariants::spec

// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/host_item.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/seen_positions.h>

namespace kvpane {

namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

HostKernels kernels_of(HostPath path, DType cells) noexcept {
    const HostPath chosen = path == HostPath::portable ? path : best_host_path();
    return chosen == HostPath::avx2 ? avx2_kernels(cells) : portable_kernels(cells);
}

Positions common(const Positions& a, const Positions& b) noexcept {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

bool are_the_same(const Positions& a, const Positions& b) noexcept {
    return a.size() == b.size() && (a.size() == 0 || a.begin == b.begin);
}

}  // namespace

HostItem::HostItem(const AttentionProblem& problem, const HostOptions& options, const HostWorkspace& workspace,
                   std::span<float> scratch, std::size_t sequence, std::size_t number) noexcept
    : problem_(problem), workspace_(workspace), kernels_(kernels_of(options.path, problem.cells.shape.dtype)),
      sequence_(sequence) {
    const SequenceItems items = items_of(problem, options, sequence);
    const RowTiles tiles = row_tiles(problem);
    parts_ = items.parts;
    part_ = number % items.parts;
    kv_head_ = number / items.parts / items.row_tiles;
    heads_ = tiles.heads;

    const SequenceRows rows = rows_of_sequence(problem, sequence);
    const std::size_t before = number / items.parts % items.row_tiles * tiles.tokens;
    first_row_ = rows.begin + before;
    tokens_ = std::min(tiles.tokens, rows.size() - before);
    first_position_ = rows.first_position + static_cast<Length>(before);

    tile_.rows = tokens_ * heads_;
    tile_.head_dim = problem.cells.shape.head_dim;
    queries_ = scratch.data();
    tile_.queries = queries_;
    tile_.out = queries_ + tile_.rows * tile_.head_dim;
    tile_.weights = tile_.out + tile_.rows * tile_.head_dim;
    tile_.largest = tile_.weights + tile_.rows * tile_cells;
    tile_.sum = tile_.largest + tile_.rows;
    tile_.factors = tile_.sum + tile_.rows;
    chunk_ = options.chunk;
}

void HostItem::run(const AttentionResult& result) noexcept {
    load_queries();
    std::array<Positions, 2> ranges = cells_of_part();
    Tile now = next_tile(ranges);
    while (now.positions.size() > 0) {
        const Tile next = next_tile(ranges);
        attend(now, next);
        now = next;
    }
    finish(result);
}

void HostItem::load_queries() noexcept {
    const float scale = scale_of(problem_) * problem_.cells.k_scale;
    for (std::size_t row = 0; row < tile_.rows; ++row) {
        for (std::size_t d = 0; d < tile_.head_dim; ++d) {
            const std::size_t element = state_of(row) * tile_.head_dim + d;
            queries_[row * tile_.head_dim + d] =
                scale * read_element(problem_.queries.data, problem_.queries.dtype, element);
        }
    }
    std::fill_n(tile_.out, tile_.rows * tile_.head_dim, 0.0F);
    std::fill_n(tile_.largest, tile_.rows, nothing);
    std::fill_n(tile_.sum, tile_.rows, 0.0F);
}

// What the rows see of the sinks and of the run, as far as it belongs to this part.
std::array<Positions, 2> HostItem::cells_of_part() const noexcept {
    const SeenPositions seen =
        seen_by_queries(problem_.rule.visibility(), first_position_, first_position_ + static_cast<Length>(tokens_) - 1,
                        begin_of(problem_, sequence_), end_of(problem_, sequence_));
    const Positions sinks{seen.sink_begin, seen.sink_end};
    const Positions run{seen.run_begin, seen.run_end};
    if (parts_ == 1) {
        return {sinks, run};
    }
    // The part in numbers of cells, counted through both.
    const Length begin = static_cast<Length>(part_) * chunk_;
    const Positions of_sinks{sinks.begin + begin, sinks.begin + begin + chunk_};
    const Length shift = run.begin - sinks.size();
    const Positions of_run{shift + begin, shift + begin + chunk_};
    return {common(sinks, of_sinks), common(run, of_run)};
}

// Takes the next cells off the front of the ranges; none when they are empty.
HostItem::Tile HostItem::next_tile(std::array<Positions, 2>& ranges) const noexcept {
    Positions& range = ranges[0].size() > 0 ? ranges[0] : ranges[1];
    Tile tile;
    if (range.size() == 0) {
        return tile;
    }
    tile.positions = {range.begin, std::min(range.end, range.begin + static_cast<Length>(tile_cells))};
    range.begin = tile.positions.end;

    const CellStore& store = problem_.cells;
    const auto block_size = Length{store.shape.block_size};
    const auto bytes = static_cast<std::int64_t>(bytes_of(store.shape.dtype));
    const std::int32_t* table = &problem_.tables[sequence_ * problem_.width];
    Length block = tile.positions.begin / block_size;
    Length cell = tile.positions.begin % block_size;
    for (std::size_t i = 0; i < tile_cells; ++i) {
        const std::int64_t offset =
            bytes * store.strides.index(table[block], cell, static_cast<std::int64_t>(kv_head_));
        tile.k[i] = static_cast<const std::byte*>(store.k) + offset;
        tile.v[i] = static_cast<const std::byte*>(store.v) + offset;
        const bool is_last = static_cast<Length>(i) + 1 >= tile.positions.size();
        cell += is_last ? 0 : 1;
        if (cell == block_size) {
            cell = 0;
            ++block;
        }
    }
    return tile;
}

// What a row of the problem sees of the tile: of the sinks, of the run.
std::array<Positions, 2> HostItem::seen_of_tile(std::size_t token, const Tile& tile) const noexcept {
    const SeenPositions seen = seen_by_query(problem_.rule.visibility(), first_position_ + static_cast<Length>(token),
                                             begin_of(problem_, sequence_), end_of(problem_, sequence_));
    return {common({seen.sink_begin, seen.sink_end}, tile.positions),
            common({seen.run_begin, seen.run_end}, tile.positions)};
}

// Rows that see the same cells of the tile go together; cells that they do not see are not touched.
void HostItem::attend(const Tile& tile, const Tile& next) const noexcept {
    for (std::size_t begin = 0; begin < tokens_;) {
        const std::array<Positions, 2> seen = seen_of_tile(begin, tile);
        std::size_t end = begin + 1;
        while (end < tokens_ && std::ranges::equal(seen, seen_of_tile(end, tile), are_the_same)) {
            ++end;
        }
        for (const Positions& positions : seen) {
            if (positions.size() > 0) {
                attend(rows(begin * heads_, end * heads_), tile, positions, next);
            }
        }
        begin = end;
    }
}

void HostItem::attend(const QueryTile& some, const Tile& tile, const Positions& positions,
                      const Tile& next) const noexcept {
    const auto first = static_cast<std::size_t>(positions.begin - tile.positions.begin);
    const auto cells = static_cast<std::size_t>(positions.size());
    const void* const* ahead = next.positions.size() > 0 ? next.k.data() + first : nullptr;
    kernels_.logits(some, {tile.k.data() + first, tile.v.data() + first, cells});
    kernels_.weigh(some, cells, problem_.rule.soft_cap);
    kernels_.accumulate(some, {tile.v.data() + first, ahead, cells});
}

QueryTile HostItem::rows(std::size_t begin, std::size_t end) const noexcept {
    QueryTile some = tile_;
    some.rows = end - begin;
    some.queries += begin * tile_.head_dim;
    some.out += begin * tile_.head_dim;
    some.largest += begin;
    some.sum += begin;
    some.factors += begin;
    some.weights += begin * tile_cells;
    return some;
}

// Divides by the sums; writes the result, or a part of it, in which the sink logit does not count.
void HostItem::finish(const AttentionResult& result) const noexcept {
    for (std::size_t row = 0; row < tile_.rows; ++row) {
        const std::size_t state = state_of(row);
        const auto& sinks = problem_.rule.sink_logits;
        const float sink = parts_ > 1 || sinks.empty() ? nothing : sinks[state % problem_.query_heads];
        const float largest = std::max(tile_.largest[row], sink);
        const float own = tile_.largest[row] == nothing ? 0 : std::exp(tile_.largest[row] - largest);
        const float sum = own * tile_.sum[row] + (sink == nothing ? 0 : std::exp(sink - largest));
        const float factor = sum == 0 ? 0 : problem_.cells.v_scale * own / sum;
        const float lse = sum == 0 ? nothing : largest + std::log(sum);
        write(result, row, factor, lse);
    }
}

void HostItem::write(const AttentionResult& result, std::size_t row, float factor, float lse) const noexcept {
    const float* out = tile_.out + row * tile_.head_dim;
    const std::size_t state = state_of(row);
    if (parts_ == 1) {
        for (std::size_t d = 0; d < tile_.head_dim; ++d) {
            write_element(result.out.data, result.out.dtype, state * tile_.head_dim + d, factor * out[d]);
        }
        if (!result.lse.empty()) {
            result.lse[state] = lse;
        }
        return;
    }
    // A sequence that is split has all of its rows in one tile.
    const std::size_t place = workspace_.first_state[sequence_] + part_ * tokens_ * problem_.query_heads +
                              (state - first_row_ * problem_.query_heads);
    std::transform(out, out + tile_.head_dim, &workspace_.part_out[place * tile_.head_dim],
                   [&](float value) { return factor * value; });
    workspace_.part_lse[place] = lse;
}

// The place of a row of the tile among [rows, query_heads].
std::size_t HostItem::state_of(std::size_t row) const noexcept {
    return (first_row_ + row / heads_) * problem_.query_heads + kv_head_ * heads_ + row % heads_;
}

}  // namespace kvpane

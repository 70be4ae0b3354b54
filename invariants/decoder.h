// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <kvpane/allocator/ids.h>

// The decoder of the article on prefix reuse: two layers of attention over rows of 16 doubles, nothing else. It is small
// enough that every number can be checked by hand, and it is exact: the same rows in the same order give the same bits.
// Its arithmetic is scalar, in the order written here, without contraction to fused multiply-adds (docs/article.md).
namespace kvpane::invariants::article {

inline constexpr std::size_t width = 16;  // [doubles] of a row
inline constexpr std::size_t layers = 2;
inline constexpr std::size_t vocabulary = 32;
inline constexpr std::size_t weight_count = vocabulary * width + layers * 3 * width * width;

using Row = std::array<double, width>;
using Rows = std::vector<Row>;  // [tokens]
using Matrix = std::array<Row, width>;

struct LayerWeights {
    Matrix query, key, value;  // y = x W, x a row
};

struct Weights {
    std::array<Row, vocabulary> embedding;
    std::array<LayerWeights, layers> layer;
};

// From the order in which they are stored: the embedding, then query, key and value of each layer, all row by row.
Weights make_weights(std::span<const double, weight_count> values);

// K and V of one token in one layer: what a cell of a layer's payload holds.
struct KeyValue {
    Row key;
    Row value;
};

// embedding[token] + P(position), P(p)[2j] = sin(p / 10000^(2j / 16)), P(p)[2j + 1] = cos of the same.
// REQUIRES 0 <= token < vocabulary, position >= 0.
Row input_row(const Weights& weights, Token token, Length position);

// A row that a query looks at; one that is not allowed gets the score -inf, hence the probability 0.
struct Seen {
    const KeyValue* row = nullptr;
    bool is_allowed = true;
};

// Where the K and V rows of a pass are kept: contiguous memory, or the blocks of a Manager.
class RowMemory {
public:
    virtual ~RowMemory() = default;

    // Keeps the rows of the pass's tokens [tokens] in a layer; afterwards its queries look.
    virtual void write(std::size_t layer, std::span<const KeyValue> rows) = 0;

    // The rows that query `index` of the pass looks at, oldest first, its own included. `seen` is empty; the rows stay
    // where they are until the next write.
    virtual void look(std::size_t layer, std::size_t index, std::vector<Seen>& seen) const = 0;
};

// What a pass costs, counted while it is done.
struct Effort {
    std::int64_t projected_rows = 0;  // Q, K and V rows computed
    std::int64_t score_elements = 0;  // scores, those of masked rows included

    friend bool operator==(const Effort&, const Effort&) = default;
};

// Runs the tokens [n] through all layers, token i with the code of positions[i]; returns what comes out [n].
// In each layer: q, k, v = x Wq, x Wk, x Wv; score = (q . k) / 4; p = softmax(score); x = tanh(x + sum of p v).
// REQUIRES as input_row(), and that each query is allowed to see a row; else std::logic_error ("all rows are masked").
Rows forward(const Weights& weights, std::span<const Token> tokens, std::span<const Length> positions,
             RowMemory& memory, Effort& effort);

// The positions first, first + 1, ... [count].
std::vector<Length> positions_from(Length first, std::size_t count);

// The largest difference of two elements, NaN if there is one. REQUIRES equal sizes, else std::logic_error.
double largest_difference(std::span<const Row> a, std::span<const Row> b);

// Rows in memory of their own, oldest first, each with the position that it was computed for.
struct PlacedRows {
    std::vector<Length> positions;                   // [rows]
    std::array<std::vector<KeyValue>, layers> rows;  // [rows] of each layer
};

// May the query at this position see the row at that one?
using Mask = std::function<bool(Length query, Length row)>;

// What a window allows, 0 = full attention.
Mask window_mask(Length window);

// The memory of one pass of the reference: every query looks at every row, and the mask decides. Also the place for
// masks and pasts that are wrong on purpose.
class PlainMemory : public RowMemory {
public:
    // `positions` [n] are those of the pass; the rows of the past stand before them.
    PlainMemory(PlacedRows past, std::span<const Length> positions, Mask mask);

    void write(std::size_t layer, std::span<const KeyValue> rows) override;
    void look(std::size_t layer, std::size_t index, std::vector<Seen>& seen) const override;

    const PlacedRows& rows() const noexcept { return rows_; }

private:
    std::size_t past_;  // [rows]
    PlacedRows rows_;
    Mask mask_;
};

// All tokens at once, masked, the first one at position `first`: what every reuse is compared with.
Rows recompute(const Weights& weights, Length window, std::span<const Token> tokens, Length first, Effort& effort);

}  // namespace kvpane::invariants::article

// SPDX-License-Identifier: Apache-2.0
// Compiled with -ffp-contract=off, whatever the target: see invariants/CMakeLists.txt.
#include <kvpane/invariants/decoder.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace kvpane::invariants::article {

namespace {

constexpr double base = 10000;
constexpr double root_of_width = 4;

double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

Row times(const Row& x, const Matrix& matrix) {
    Row y{};
    for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            y[j] += x[i] * matrix[i][j];
        }
    }
    return y;
}

// softmax(q . k / 4) v over the rows that are allowed. Masked ones take part with the probability 0, so that a query
// which does not look at them at all gets the same bits.
Row attend(const Row& query, std::span<const Seen> seen, std::vector<double>& scores) {
    scores.assign(seen.size(), -HUGE_VAL);
    double largest = -HUGE_VAL;
    for (std::size_t r = 0; r < seen.size(); ++r) {
        if (seen[r].is_allowed) {
            scores[r] = dot(query, seen[r].row->key) / root_of_width;
            largest = std::max(largest, scores[r]);
        }
    }
    if (std::ranges::none_of(seen, &Seen::is_allowed)) {
        throw std::logic_error("all rows are masked");
    }
    double sum = 0;
    for (double& score : scores) {
        score = std::exp(score - largest);
        sum += score;
    }
    Row out{};
    for (std::size_t r = 0; r < seen.size(); ++r) {
        const double probability = scores[r] / sum;
        for (std::size_t j = 0; j < width; ++j) {
            out[j] += probability * seen[r].row->value[j];
        }
    }
    return out;
}

}  // namespace

Weights make_weights(std::span<const double, weight_count> values) {
    Weights weights{};
    auto next = values.begin();
    const auto take = [&next](auto& rows) {
        for (Row& row : rows) {
            std::copy_n(next, width, row.begin());
            next += width;
        }
    };
    take(weights.embedding);
    for (LayerWeights& layer : weights.layer) {
        take(layer.query);
        take(layer.key);
        take(layer.value);
    }
    return weights;
}

Row input_row(const Weights& weights, Token token, Length position) {
    Row row = weights.embedding.at(static_cast<std::size_t>(token));
    for (std::size_t j = 0; j < width / 2; ++j) {
        const double exponent = static_cast<double>(2 * j) / static_cast<double>(width);
        const double angle = static_cast<double>(position) / std::pow(base, exponent);
        row[2 * j] += std::sin(angle);
        row[2 * j + 1] += std::cos(angle);
    }
    return row;
}

Rows forward(const Weights& weights, std::span<const Token> tokens, std::span<const Length> positions,
             RowMemory& memory, Effort& effort) {
    const std::size_t n = tokens.size();
    if (positions.size() != n) {
        throw std::logic_error("a pass needs one position for each token");
    }
    Rows rows(n);
    std::ranges::transform(tokens, positions, rows.begin(),
                           [&](Token token, Length position) { return input_row(weights, token, position); });
    Rows queries(n);
    std::vector<KeyValue> kept(n);
    std::vector<Seen> seen;
    std::vector<double> scores;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const LayerWeights& matrices = weights.layer[layer];
        for (std::size_t i = 0; i < n; ++i) {
            queries[i] = times(rows[i], matrices.query);
            kept[i] = {times(rows[i], matrices.key), times(rows[i], matrices.value)};
        }
        effort.projected_rows += static_cast<std::int64_t>(3 * n);
        memory.write(layer, kept);
        for (std::size_t i = 0; i < n; ++i) {
            seen.clear();
            memory.look(layer, i, seen);
            effort.score_elements += static_cast<std::int64_t>(seen.size());
            const Row attention = attend(queries[i], seen, scores);
            std::ranges::transform(rows[i], attention, rows[i].begin(),
                                   [](double x, double a) { return std::tanh(x + a); });
        }
    }
    return rows;
}

std::vector<Length> positions_from(Length first, std::size_t count) {
    std::vector<Length> positions(count);
    std::ranges::generate(positions, [&first] { return first++; });
    return positions;
}

double largest_difference(std::span<const Row> a, std::span<const Row> b) {
    if (a.size() != b.size()) {
        throw std::logic_error("rows are compared with another number of rows");
    }
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < width; ++j) {
            const double difference = std::abs(a[i][j] - b[i][j]);
            if (std::isnan(difference)) {
                return difference;
            }
            largest = std::max(largest, difference);
        }
    }
    return largest;
}

Mask window_mask(Length window) {
    return [window](Length query, Length row) { return row <= query && (window == 0 || row > query - window); };
}

PlainMemory::PlainMemory(PlacedRows past, std::span<const Length> positions, Mask mask)
    : past_(past.positions.size()), rows_(std::move(past)), mask_(std::move(mask)) {
    rows_.positions.insert(rows_.positions.end(), positions.begin(), positions.end());
}

void PlainMemory::write(std::size_t layer, std::span<const KeyValue> rows) {
    rows_.rows[layer].insert(rows_.rows[layer].end(), rows.begin(), rows.end());
}

void PlainMemory::look(std::size_t layer, std::size_t index, std::vector<Seen>& seen) const {
    const Length query = rows_.positions[past_ + index];
    for (std::size_t r = 0; r < rows_.positions.size(); ++r) {
        seen.push_back({&rows_.rows[layer][r], mask_(query, rows_.positions[r])});
    }
}

Rows recompute(const Weights& weights, Length window, std::span<const Token> tokens, Length first, Effort& effort) {
    const std::vector<Length> positions = positions_from(first, tokens.size());
    PlainMemory memory({}, positions, window_mask(window));
    return forward(weights, tokens, positions, memory, effort);
}

}  // namespace kvpane::invariants::article

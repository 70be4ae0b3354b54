// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/reference_attention.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/seen_positions.h>

namespace kvpane {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// One query: a row and a head.
struct Query {
    std::size_t sequence = 0;
    std::size_t row = 0;
    std::uint32_t head = 0;
    Length position = 0;
};

void attend(const AttentionProblem& problem, const AttentionResult& result, const Query& query) {
    const CellStore& store = problem.cells;
    const AttentionRule& rule = problem.rule;
    const std::size_t head_dim = store.shape.head_dim;
    const std::size_t state = query.row * problem.query_heads + query.head;
    const std::uint32_t kv_head = query.head / (problem.query_heads / store.shape.kv_heads);

    // Element 0 of a cell of this head, in K and V alike.
    const auto place = [&](Length position) {
        const auto block_size = Length{store.shape.block_size};
        const std::size_t entry = query.sequence * problem.width + static_cast<std::size_t>(position / block_size);
        return static_cast<std::size_t>(problem.tables[entry] * store.strides.block +
                                        position % block_size * store.strides.cell + kv_head * store.strides.head);
    };
    const auto logit = [&](Length position) {
        double dot = 0;
        for (std::size_t d = 0; d < head_dim; ++d) {
            dot += double{read_element(problem.queries.data, problem.queries.dtype, state * head_dim + d)} *
                   read_element(store.k, store.shape.dtype, place(position) + d);
        }
        const double scaled = dot * store.k_scale * scale_of(problem);
        return rule.soft_cap > 0 ? rule.soft_cap * std::tanh(scaled / rule.soft_cap) : scaled;
    };

    std::vector<Length> seen;
    const SeenPositions ranges = seen_by_query(rule.visibility(), query.position, begin_of(problem, query.sequence),
                                               end_of(problem, query.sequence));
    for (Length i = 0; i < ranges.size(); ++i) {
        seen.push_back(ranges[i]);
    }

    const double sink_logit = rule.sink_logits.empty() ? nothing : rule.sink_logits[query.head];
    std::vector<double> logits(seen.size());
    std::ranges::transform(seen, logits.begin(), logit);
    const double largest = std::ranges::max(logits.empty() ? nothing : std::ranges::max(logits), sink_logit);
    const auto weight_of = [&](double a_logit) { return a_logit == nothing ? 0 : std::exp(a_logit - largest); };
    double sum = weight_of(sink_logit);
    std::vector<double> out(head_dim, 0);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const double weight = weight_of(logits[i]);
        sum += weight;
        for (std::size_t d = 0; d < head_dim; ++d) {
            out[d] += weight * store.v_scale * read_element(store.v, store.shape.dtype, place(seen[i]) + d);
        }
    }

    for (std::size_t d = 0; d < head_dim; ++d) {
        const double value = sum == 0 ? 0 : out[d] / sum;
        write_element(result.out.data, result.out.dtype, state * head_dim + d, static_cast<float>(value));
    }
    if (!result.lse.empty()) {
        result.lse[state] = static_cast<float>(sum == 0 ? nothing : largest + std::log(sum));
    }
}

}  // namespace

payload_expected<void> reference_attention(const AttentionProblem& problem, const AttentionResult& result) {
    return find_wrong(problem, result).map([&] {
        for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
            const SequenceRows rows = rows_of_sequence(problem, i);
            for (std::size_t row = rows.begin; row < rows.end; ++row) {
                for (std::uint32_t head = 0; head < problem.query_heads; ++head) {
                    attend(problem, result,
                           {i, row, head, rows.first_position + static_cast<Length>(row - rows.begin)});
                }
            }
        }
    });
}

}  // namespace kvpane

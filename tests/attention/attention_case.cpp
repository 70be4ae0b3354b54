// SPDX-License-Identifier: Apache-2.0
#include "attention/attention_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/reference_attention.h>

#include "support/workloads.h"

namespace kvpane::testing {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

float drawn(Lcg& lcg, float largest) {
    constexpr std::uint64_t steps = 1U << 20U;
    return largest * (2 * static_cast<float>(lcg.below(steps)) / static_cast<float>(steps) - 1);
}

std::int64_t blocks_of(const AttentionSizes& sizes, Length length) {
    return (length + sizes.block_size - 1) / sizes.block_size;
}

CellShape shape_of(const AttentionSizes& sizes) {
    std::int64_t blocks = 1;
    for (const Length length : sizes.lengths) {
        blocks += blocks_of(sizes, length);
    }
    return {blocks, sizes.block_size, sizes.kv_heads, sizes.head_dim, sizes.cells};
}

}  // namespace

std::string describe(const AttentionSizes& sizes) {
    std::string text = "block_size " + std::to_string(sizes.block_size) + ", kv_heads " +
                       std::to_string(sizes.kv_heads) + ", group " + std::to_string(sizes.group) + ", head_dim " +
                       std::to_string(sizes.head_dim) + ", cells " + std::string(to_string(sizes.cells)) + ", rows " +
                       std::string(to_string(sizes.rows)) + ", window " + std::to_string(sizes.window) + ", sinks " +
                       std::to_string(sizes.sinks) + ", soft_cap " + std::to_string(sizes.soft_cap) + ", sink_logits " +
                       std::to_string(sizes.sink_logits) + (sizes.order == CellOrder::nhd ? ", nhd" : ", hnd") +
                       ", lengths";
    for (const Length length : sizes.lengths) {
        text += " " + std::to_string(length);
    }
    return text;
}

AttentionCase::AttentionCase(const AttentionSizes& sizes, std::uint64_t seed)
    : lengths(sizes.lengths), store(shape_of(sizes), sizes.order, sizes.interleaved), sizes_(sizes) {
    Lcg lcg(seed);
    rule = {.window = sizes.window, .sinks = sizes.sinks, .soft_cap = sizes.soft_cap};
    if (sizes.sink_logits) {
        sink_logits.resize(std::size_t{sizes.kv_heads} * sizes.group);
        std::ranges::generate(sink_logits, [&] { return drawn(lcg, 4); });
    }
    rows_ = lengths.size();
    if (!sizes.queries.empty()) {
        query_indptr = {0};
        for (const std::int32_t rows : sizes.queries) {
            query_indptr.push_back(query_indptr.back() + rows);
        }
        rows_ = static_cast<std::size_t>(query_indptr.back());
    }
    if (bytes_of(sizes.cells) == 1) {
        store.set_scales(0.25F, 0.5F);
    }
    queries.resize(states() * sizes.head_dim * bytes_of(sizes.rows));
    for (std::size_t i = 0; i < states() * sizes.head_dim; ++i) {
        write_element(queries.data(), sizes.rows, i, drawn(lcg, 3));
    }

    for (const Length length : lengths) {
        width = std::max(width, static_cast<std::size_t>(blocks_of(sizes, length)));
    }
    std::vector<std::int32_t> ids(static_cast<std::size_t>(store.view().shape.blocks));
    std::iota(ids.begin(), ids.end(), 1);
    for (std::size_t left = ids.size(); left > 1; --left) {
        std::swap(ids[left - 1], ids[lcg.below(left)]);
    }
    tables.resize(lengths.size() * width);
    std::size_t used = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        for (Length block = 0; block < blocks_of(sizes, lengths[i]); ++block) {
            tables[i * width + static_cast<std::size_t>(block)] = ids[used++];
        }
    }
    write_seen_cells(lcg.below(1U << 30U));
}

void AttentionCase::write_seen_cells(std::uint64_t seed) {
    Lcg lcg(seed);
    const CellStore& cells = store.view();
    for (std::size_t i = 0; i < bytes_of(cells.shape) / bytes_of(cells.shape.dtype); ++i) {
        write_element(cells.k, sizes_.cells, i, nan);  // V lies behind K, or between
    }
    const AttentionProblem whole = problem();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const Length first = rows_of_sequence(whole, i).first_position;
        std::vector<bool> is_seen(width);
        for (Length position = 0; position < lengths[i]; ++position) {
            // Not by the function under test: by the sentence in attention.h, for any of the queries.
            bool seen = false;
            for (Length p = first; p < lengths[i] && !seen; ++p) {
                seen = position <= p && (rule.window == 0 || position > p - rule.window || position < rule.sinks);
            }
            if (!seen) {
                continue;
            }
            is_seen[static_cast<std::size_t>(position / sizes_.block_size)] = true;
            for (std::uint32_t head = 0; head < sizes_.kv_heads; ++head) {
                for (std::size_t d = 0; d < sizes_.head_dim; ++d) {
                    write_element(cells.k, sizes_.cells, place(i, position, head) + d, drawn(lcg, 1) / cells.k_scale);
                    write_element(cells.v, sizes_.cells, place(i, position, head) + d, drawn(lcg, 1) / cells.v_scale);
                }
            }
        }
        for (std::size_t block = 0; block < width; ++block) {
            if (!is_seen[block]) {
                tables[i * width + block] = 0;
            }
        }
    }
}

std::size_t AttentionCase::place(std::size_t sequence, Length position, std::uint32_t head) const {
    const CellStrides& strides = store.view().strides;
    const std::int32_t block = tables[sequence * width + static_cast<std::size_t>(position / sizes_.block_size)];
    return static_cast<std::size_t>(block * strides.block + position % sizes_.block_size * strides.cell +
                                    head * strides.head);
}

void AttentionCase::fill(std::size_t sequence, Length position, float k, float v) {
    for (std::uint32_t head = 0; head < sizes_.kv_heads; ++head) {
        for (std::size_t d = 0; d < sizes_.head_dim; ++d) {
            write_element(store.view().k, sizes_.cells, place(sequence, position, head) + d, k);
            write_element(store.view().v, sizes_.cells, place(sequence, position, head) + d, v);
        }
    }
}

AttentionProblem AttentionCase::problem() const {
    AttentionProblem problem{.cells = store.view(),
                             .rule = rule,
                             .query_heads = sizes_.kv_heads * sizes_.group,
                             .tables = tables,
                             .width = width,
                             .lengths = lengths,
                             .queries = {queries.data(), sizes_.rows},
                             .query_indptr = query_indptr};
    problem.rule.sink_logits = sink_logits;
    return problem;
}

std::size_t states_of(const AttentionProblem& problem) { return rows_of(problem) * problem.query_heads; }

void require(const payload_expected<void>& solved) {
    if (!solved) {
        throw std::runtime_error(std::string(to_string(solved.error().fault)) + " " + solved.error().where + " " +
                                 std::to_string(solved.error().code));
    }
}

Answer by_reference(const AttentionProblem& problem) {
    Answer answer{std::vector<float>(states_of(problem) * problem.cells.shape.head_dim, nan),
                  std::vector<float>(states_of(problem), nan)};
    const auto solved = reference_attention(problem, {{answer.out.data(), DType::f32}, answer.lse});
    require(solved);
    return answer;
}

Answer by_host(const AttentionProblem& problem, const HostOptions& options, DType rows) {
    const std::size_t elements = states_of(problem) * problem.cells.shape.head_dim;
    std::vector<std::byte> out(elements * bytes_of(rows), std::byte{0xff});
    Answer answer{std::vector<float>(elements), std::vector<float>(states_of(problem), nan)};
    const std::size_t bytes = host_workspace_bytes(problem, options);
    Workspace workspace(bytes);
    const auto solved = host_attention(problem, options, workspace.span(bytes), {{out.data(), rows}, answer.lse});
    require(solved);
    for (std::size_t i = 0; i < elements; ++i) {
        answer.out[i] = read_element(out.data(), rows, i);
    }
    return answer;
}

double norm_ratio(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i] && std::isinf(a[i])) {
            continue;
        }
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
            return std::numeric_limits<double>::infinity();
        }
        difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
        norm += double{b[i]} * b[i];
    }
    return difference == 0 ? 0 : std::sqrt(difference / norm);
}

std::span<std::byte> Workspace::span(std::size_t bytes) {
    void* memory = memory_.data();
    std::size_t room = memory_.size();
    return {static_cast<std::byte*>(std::align(64, bytes, memory, room)), bytes};
}

}  // namespace kvpane::testing

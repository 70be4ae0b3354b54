// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <kvpane/attention/cascade.h>

#include "attention/attention_case.h"

namespace kvpane::testing {

// A problem whose neighbouring sequences share their first blocks.
struct CascadeSizes {
    AttentionSizes attention;
    std::vector<std::int32_t> indptr;  // of SharedPrefixes
    std::vector<Length> prefixes;
};

// REQUIRES of each group: its first sequence has the cells of all blocks that the prefix touches.
class CascadeCase {
public:
    CascadeCase(const CascadeSizes& sizes, std::uint64_t seed)
        : made(sizes.attention, seed), indptr(sizes.indptr), prefixes(sizes.prefixes) {
        const auto row = [&](std::int32_t sequence) {
            return made.tables.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(sequence) * made.width);
        };
        for (std::size_t group = 0; group < prefixes.size(); ++group) {
            const Length block_size = sizes.attention.block_size;
            const Length blocks = (prefixes[group] + block_size - 1) / block_size;
            for (std::int32_t follower = indptr[group] + 1; follower < indptr[group + 1]; ++follower) {
                std::copy_n(row(indptr[group]), blocks, row(follower));
            }
        }
    }

    AttentionProblem problem() const { return made.problem(); }
    SharedPrefixes shared() const { return {indptr, prefixes}; }

    AttentionCase made;
    std::vector<std::int32_t> indptr;
    std::vector<Length> prefixes;
};

// Problems on which every cascade has to agree with the reference: decodes and prefills; prefixes that end with a block,
// within one, and that are none (they take turns); a group with more queries than its rows have cells.
inline std::vector<CascadeSizes> cascades() {
    std::vector<CascadeSizes> all;
    bool is_turn = false;
    for (const std::uint32_t block_size : {1U, 8U, 16U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            const AttentionSizes decode{.block_size = block_size,
                                        .kv_heads = 1,
                                        .group = group,
                                        .soft_cap = group == 4 ? 2.0F : 0.0F,
                                        .sink_logits = group != 8,
                                        .lengths = {130, 100, 97, 40, 9, 0}};
            AttentionSizes prefill = decode;
            prefill.queries = {10, 4, 1, 10, 0, 0};
            const CascadeSizes whole_blocks{is_turn ? decode : prefill, {0, 3, 4, 6}, {96, 30, 0}};
            const CascadeSizes half_blocks{is_turn ? prefill : decode, {0, 3, 4, 5, 6}, {67, 0, 9, 0}};
            all.insert(all.end(), {whole_blocks, half_blocks});
            is_turn = !is_turn;
        }
    }
    const std::vector<Length> many(40, 17);
    all.push_back({{.block_size = 8, .kv_heads = 1, .head_dim = 128, .lengths = many}, {0, 40}, {16}});
    all.push_back({{.cells = DType::e4m3, .rows = DType::bf16, .lengths = {50, 40, 60}}, {0, 2, 3}, {33, 60}});
    return all;
}

inline Answer by_cascade(const AttentionProblem& problem, const SharedPrefixes& shared, const HostOptions& options) {
    Answer answer{std::vector<float>(states_of(problem) * problem.cells.shape.head_dim, -1),
                  std::vector<float>(states_of(problem), -1)};
    const std::size_t bytes = cascade_workspace_bytes(problem, shared, options);
    Workspace workspace(bytes);
    require(cascade_attention(problem, shared, options, workspace.span(bytes),
                              {{answer.out.data(), DType::f32}, answer.lse}));
    return answer;
}

}  // namespace kvpane::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/kernels/elements.cuh>
#include <kvpane/attention/cuda/kernels/problem.cuh>
#include <kvpane/attention/cuda/kernels/softmax.cuh>

// One query a sequence. A thread block reads the cells of one chunk of one KV head, once for up to eight query heads.
// Some lanes share a cell, eight elements each; each such team keeps a softmax of its own in registers, and the teams
// are merged at the end. Cells that are not seen are never touched: chunks are chunks of what is seen.
namespace kvpane::cuda {

inline constexpr unsigned decode_threads = 128;
inline constexpr unsigned decode_warps = decode_threads / warp_size;

struct DecodeArgs {
    KernelProblem problem;
    Length chunk = 0;           // [cells]; the last chunk takes what is left
    std::uint32_t tiles = 0;    // thread blocks that share a group of query heads
    float* part_out = nullptr;  // [chunks, n_seqs, query_heads, head_dim]
    float* part_lse = nullptr;  // [chunks, n_seqs, query_heads]; -inf: nothing was seen, part_out is not written
};

// The lanes of a team: head_dim / 8, rounded up to a power of two that divides a warp.
KVPANE_DEVICE unsigned lanes_of_team(std::uint32_t head_dim) {
    unsigned lanes = 1;
    while (lanes * piece < head_dim) {
        lanes *= 2;
    }
    return lanes;
}

// The softmax over the cells that a team has seen, for its lane's eight elements of the output.
template <unsigned heads>
struct TeamState {
    float largest[heads];
    float sum[heads];
    float out[heads * piece];

    KVPANE_DEVICE void clear() {
        KVPANE_UNROLL
        for (unsigned h = 0; h < heads; ++h) {
            largest[h] = nothing;
            sum[h] = 0;
        }
        KVPANE_UNROLL
        for (float& value : out) {
            value = 0;
        }
    }

    // Makes room for logits up to `top`.
    KVPANE_DEVICE void raise(unsigned h, float top) {
        const float factor = weight_of(largest[h], top);
        largest[h] = top;
        sum[h] *= factor;
        KVPANE_UNROLL
        for (unsigned d = 0; d < piece; ++d) {
            out[h * piece + d] *= factor;
        }
    }

    // Takes in what the team has seen that is `offset` lanes away.
    KVPANE_DEVICE void merge(unsigned offset) {
        TeamState other;
        shuffle_xor(largest, other.largest, offset);
        shuffle_xor(sum, other.sum, offset);
        shuffle_xor(out, other.out, offset);
        KVPANE_UNROLL
        for (unsigned h = 0; h < heads; ++h) {
            raise(h, larger(largest[h], other.largest[h]));
            const float factor = weight_of(other.largest[h], largest[h]);
            sum[h] += other.sum[h] * factor;
            KVPANE_UNROLL
            for (unsigned d = 0; d < piece; ++d) {
                out[h * piece + d] += other.out[h * piece + d] * factor;
            }
        }
    }
};

template <unsigned heads>
KVPANE_BOTH std::size_t decode_shared_bytes(std::uint32_t head_dim) {
    return sizeof(float) * decode_warps * heads * (head_dim + 2);
}

// grid [n_seqs, kv_heads * tiles, chunks]
template <class Cells, unsigned heads>
KVPANE_KERNEL void KVPANE_MOST_THREADS(decode_threads) decode_chunk(const DecodeArgs args) {
    constexpr unsigned at_once = heads == 8 ? 2 : 4;  // cells of a team under way; registers hold no more
    const KernelProblem& problem = args.problem;
    const std::uint32_t head_dim = problem.cells.shape.head_dim;
    const std::uint32_t sequence = block_index().x;
    const std::uint32_t kv_head = block_index().y / args.tiles;
    const std::uint32_t first_in_group = block_index().y % args.tiles * heads;
    const std::uint32_t first_head = kv_head * problem.group + first_in_group;
    const auto heads_here = std::min(problem.group - first_in_group, heads);

    const Length last = length_of(problem, sequence) - 1;
    const SeenPositions seen = seen_by_queries(problem, sequence, last, last);
    const Length chunk_begin = block_index().z * args.chunk;
    const bool is_last = block_index().z + 1 == grid_size().z;
    const Length chunk_end = is_last ? seen.size() : std::min(chunk_begin + args.chunk, seen.size());
    const std::size_t first_state =
        (std::size_t{block_index().z} * problem.n_seqs + sequence) * problem.query_heads + first_head;
    if (chunk_begin >= chunk_end) {
        if (thread_index() < heads_here) {
            args.part_lse[first_state + thread_index()] = nothing;
        }
        return;
    }

    const unsigned lanes = lanes_of_team(head_dim);
    const unsigned teams = decode_threads / lanes;
    const unsigned team = thread_index() / lanes;
    const unsigned element = thread_index() % lanes * piece;
    const bool has_elements = element < head_dim;

    float query[heads * piece];
    KVPANE_UNROLL
    for (unsigned h = 0; h < heads; ++h) {
        const std::size_t row = std::size_t{sequence} * problem.query_heads + first_head + h;
        KVPANE_UNROLL
        for (unsigned d = 0; d < piece; ++d) {
            query[h * piece + d] =
                h < heads_here && has_elements
                    ? problem.scale * load_element(problem.queries, problem.query_dtype, row * head_dim + element + d)
                    : 0.0F;
        }
    }

    TeamState<heads> state;
    state.clear();
    for (Length base = chunk_begin; base < chunk_end; base += Length{teams} * at_once) {
        Piece<Cells> keys[at_once];
        Piece<Cells> values[at_once];
        KVPANE_UNROLL
        for (unsigned i = 0; i < at_once; ++i) {
            const Length index = base + Length{teams} * i + team;
            if (index < chunk_end && has_elements) {
                const std::int64_t at = element_of(problem, sequence, seen[index], kv_head, element);
                if (at == not_there) {
                    keys[i].fill_nan();  // and so is all that the query gets
                    continue;
                }
                keys[i].load(problem.cells.k, at);
                values[i].load(problem.cells.v, at);
            }
        }
        float logits[at_once * heads];
        KVPANE_UNROLL
        for (unsigned i = 0; i < at_once; ++i) {
            KVPANE_UNROLL
            for (unsigned h = 0; h < heads; ++h) {
                float dot = 0;
                KVPANE_UNROLL
                for (unsigned d = 0; d < piece; ++d) {
                    dot += query[h * piece + d] * keys[i][d];
                }
                logits[i * heads + h] = dot;
            }
        }
        for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
            float others[at_once * heads];
            shuffle_xor(logits, others, offset);
            KVPANE_UNROLL
            for (unsigned i = 0; i < at_once * heads; ++i) {
                logits[i] += others[i];
            }
        }
        KVPANE_UNROLL
        for (unsigned h = 0; h < heads; ++h) {
            float top = state.largest[h];
            KVPANE_UNROLL
            for (unsigned i = 0; i < at_once; ++i) {
                float& logit = logits[i * heads + h];
                const bool is_there = base + Length{teams} * i + team < chunk_end;
                logit = is_there ? cap_softly(logit, problem.soft_cap) : nothing;
                top = larger(top, logit);
            }
            state.raise(h, top);
            KVPANE_UNROLL
            for (unsigned i = 0; i < at_once; ++i) {
                const float weight = weight_of(logits[i * heads + h], top);
                state.sum[h] += weight;
                KVPANE_UNROLL
                for (unsigned d = 0; d < piece; ++d) {
                    state.out[h * piece + d] += weight * values[i][d];
                }
            }
        }
    }
    for (unsigned offset = lanes; offset < warp_size; offset *= 2) {
        state.merge(offset);
    }

    // Now across the warps, in shared memory: [warps, heads] largest and sums, [warps, heads, head_dim] outputs.
    auto* const largest = reinterpret_cast<float*>(shared_memory());
    float* const sum = largest + decode_warps * heads;
    float* const out = sum + decode_warps * heads;
    const unsigned warp = thread_index() / warp_size;
    if (thread_index() % warp_size < lanes && has_elements) {
        KVPANE_UNROLL
        for (unsigned h = 0; h < heads; ++h) {
            const unsigned place = warp * heads + h;
            largest[place] = state.largest[h];  // the same from each lane
            sum[place] = state.sum[h];
            KVPANE_UNROLL
            for (unsigned d = 0; d < piece; ++d) {
                out[place * head_dim + element + d] = state.out[h * piece + d];
            }
        }
    }
    sync_block();
    for (unsigned i = thread_index(); i < heads_here * head_dim; i += decode_threads) {
        const unsigned h = i / head_dim;
        const unsigned d = i % head_dim;
        float top = nothing;
        for (unsigned w = 0; w < decode_warps; ++w) {
            top = larger(top, largest[w * heads + h]);
        }
        float total = 0;
        float value = 0;
        for (unsigned w = 0; w < decode_warps; ++w) {
            const float factor = weight_of(largest[w * heads + h], top);
            total += factor * sum[w * heads + h];
            value += factor * out[(w * heads + h) * head_dim + d];
        }
        const Finish done = finish(top, total, nothing);
        args.part_out[(first_state + h) * head_dim + d] = value * done.factor * problem.cells.v_scale;
        if (d == 0) {
            args.part_lse[first_state + h] = done.lse;
        }
    }
}

}  // namespace kvpane::cuda

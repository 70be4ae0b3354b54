// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kvpane/attention/cuda/kernels/elements.cuh>
#include <kvpane/attention/cuda/kernels/problem.cuh>
#include <kvpane/attention/cuda/kernels/softmax.cuh>

// Several queries a sequence. A thread block takes 16 queries of one KV head (rows times the heads of a group) and
// walks through what they see together, 32 cells at a time, K and then V in shared memory as floats.
namespace kvpane::cuda {

inline constexpr unsigned prefill_threads = 128;
inline constexpr unsigned prefill_warps = prefill_threads / warp_size;
inline constexpr unsigned tile_queries = 16;
inline constexpr unsigned tile_cells = warp_size;  // a lane a cell
inline constexpr unsigned queries_of_warp = tile_queries / prefill_warps;
inline constexpr unsigned most_columns = 2;  // of the output, a thread: head_dim is at most 256

struct PrefillArgs {
    KernelProblem problem;
    std::uint32_t rows = 0;   // of all sequences
    std::uint32_t tiles = 0;  // of the sequence with the most queries
    void* out = nullptr;      // [rows, query_heads, head_dim]
    DType out_dtype = DType::f32;
    float* lse = nullptr;  // [rows, query_heads], or null
};

// The tile in shared memory. Rows of cells are padded so that the lanes' addresses fall into different banks.
struct PrefillShared {
    float* queries;  // [tile_queries, head_dim]
    float* cells;    // [tile_cells, head_dim + 1]
    float* weights;  // [tile_queries, tile_cells]
    float* factors;  // [tile_queries] of what is summed up so far
};

KVPANE_BOTH std::size_t prefill_shared_bytes(std::uint32_t head_dim) {
    return sizeof(float) * (tile_queries * head_dim + tile_cells * (head_dim + 1) + tile_queries * (tile_cells + 1));
}

KVPANE_DEVICE PrefillShared prefill_shared(std::uint32_t head_dim) {
    PrefillShared shared{};
    shared.queries = reinterpret_cast<float*>(shared_memory());
    shared.cells = shared.queries + tile_queries * head_dim;
    shared.weights = shared.cells + tile_cells * (head_dim + 1);
    shared.factors = shared.weights + tile_queries * tile_cells;
    return shared;
}

// Brings the cells [begin, begin + count) of what is seen to shared memory.
template <class Cells>
KVPANE_DEVICE void load_tile(const KernelProblem& problem, std::uint32_t sequence, std::uint32_t kv_head,
                             const SeenPositions& seen, Length begin, unsigned count, const void* from, float* cells) {
    const std::uint32_t head_dim = problem.cells.shape.head_dim;
    const unsigned pieces = head_dim / piece;
    for (unsigned i = thread_index(); i < count * pieces; i += prefill_threads) {
        const unsigned cell = i / pieces;
        const unsigned element = i % pieces * piece;
        Piece<Cells> loaded;
        const std::int64_t at = element_of(problem, sequence, seen[begin + cell], kv_head, element);
        if (at == not_there) {
            loaded.fill_nan();  // and so is all that a query gets which sees it
        } else {
            loaded.load(from, at);
        }
        for (unsigned d = 0; d < piece; ++d) {
            cells[cell * (head_dim + 1) + element + d] = loaded[d];
        }
    }
}

// grid [n_seqs * tiles, kv_heads]
template <class Cells>
KVPANE_KERNEL void KVPANE_MOST_THREADS(prefill_threads) prefill_tile(const PrefillArgs args) {
    const KernelProblem& problem = args.problem;
    const std::uint32_t head_dim = problem.cells.shape.head_dim;
    const std::uint32_t sequence = block_index().x / args.tiles;
    const std::uint32_t kv_head = block_index().y;
    const auto first_row = static_cast<std::uint32_t>(problem.query_indptr[sequence]);
    const std::uint32_t rows = static_cast<std::uint32_t>(problem.query_indptr[sequence + 1]) - first_row;
    const std::uint32_t first_query = block_index().x % args.tiles * tile_queries;
    if (first_row > args.rows || rows > args.rows - first_row || first_query >= Length{rows} * problem.group) {
        return;
    }
    const auto queries =
        static_cast<unsigned>(std::min<Length>(tile_queries, Length{rows} * problem.group - first_query));
    const Length first_position = length_of(problem, sequence) - rows;
    const auto position_of = [&](unsigned query) { return first_position + (first_query + query) / problem.group; };
    // Where the query stands in [rows, query_heads].
    const auto state_of = [&](unsigned query) {
        const std::uint32_t row = first_row + (first_query + query) / problem.group;
        return std::size_t{row} * problem.query_heads + kv_head * problem.group + (first_query + query) % problem.group;
    };

    const PrefillShared shared = prefill_shared(head_dim);
    for (unsigned i = thread_index(); i < tile_queries * head_dim; i += prefill_threads) {
        const unsigned query = i / head_dim;
        shared.queries[i] = query < queries ? problem.scale * load_element(problem.queries, problem.query_dtype,
                                                                           state_of(query) * head_dim + i % head_dim)
                                            : 0.0F;
    }

    const unsigned warp = thread_index() / warp_size;
    const unsigned lane = thread_index() % warp_size;
    const unsigned my_first = warp * queries_of_warp;
    float largest[queries_of_warp];
    float sum[queries_of_warp];
    KVPANE_UNROLL
    for (unsigned q = 0; q < queries_of_warp; ++q) {
        largest[q] = nothing;
        sum[q] = 0;
    }
    float out[most_columns][tile_queries] = {};

    const SeenPositions seen = seen_by_queries(problem, sequence, position_of(0), position_of(queries - 1));
    for (Length begin = 0; begin < seen.size(); begin += tile_cells) {
        const auto count = static_cast<unsigned>(std::min<Length>(tile_cells, seen.size() - begin));
        sync_block();  // the cells of the tile before have been read
        load_tile<Cells>(problem, sequence, kv_head, seen, begin, count, problem.cells.k, shared.cells);
        sync_block();

        // A warp has four queries, a lane one cell.
        float logits[queries_of_warp] = {};
        if (lane < count) {
            for (unsigned d = 0; d < head_dim; ++d) {
                const float key = shared.cells[lane * (head_dim + 1) + d];
                KVPANE_UNROLL
                for (unsigned q = 0; q < queries_of_warp; ++q) {
                    logits[q] += shared.queries[(my_first + q) * head_dim + d] * key;
                }
            }
        }
        float tops[queries_of_warp];
        KVPANE_UNROLL
        for (unsigned q = 0; q < queries_of_warp; ++q) {
            const bool is_seen = lane < count && my_first + q < queries &&
                                 sees(problem.rule, position_of(my_first + q), seen[begin + lane]);
            logits[q] = is_seen ? cap_softly(logits[q], problem.soft_cap) : nothing;
            tops[q] = larger(largest[q], logits[q]);
        }
        float others[queries_of_warp];
        for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
            shuffle_xor(tops, others, offset);
            KVPANE_UNROLL
            for (unsigned q = 0; q < queries_of_warp; ++q) {
                tops[q] = larger(tops[q], others[q]);
            }
        }
        float sums[queries_of_warp];
        KVPANE_UNROLL
        for (unsigned q = 0; q < queries_of_warp; ++q) {
            sums[q] = weight_of(logits[q], tops[q]);
            shared.weights[(my_first + q) * tile_cells + lane] = sums[q];
        }
        for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
            shuffle_xor(sums, others, offset);
            KVPANE_UNROLL
            for (unsigned q = 0; q < queries_of_warp; ++q) {
                sums[q] += others[q];
            }
        }
        KVPANE_UNROLL
        for (unsigned q = 0; q < queries_of_warp; ++q) {
            const float factor = weight_of(largest[q], tops[q]);
            largest[q] = tops[q];
            sum[q] = sum[q] * factor + sums[q];
            if (lane == 0) {
                shared.factors[my_first + q] = factor;
            }
        }
        sync_block();
        load_tile<Cells>(problem, sequence, kv_head, seen, begin, count, problem.cells.v, shared.cells);
        sync_block();

        // A thread has columns of the output.
        KVPANE_UNROLL
        for (unsigned c = 0; c < most_columns; ++c) {
            const unsigned d = thread_index() + c * prefill_threads;
            if (d < head_dim) {
                KVPANE_UNROLL
                for (unsigned q = 0; q < tile_queries; ++q) {
                    out[c][q] *= shared.factors[q];
                }
                for (unsigned cell = 0; cell < count; ++cell) {
                    const float value = shared.cells[cell * (head_dim + 1) + d];
                    KVPANE_UNROLL
                    for (unsigned q = 0; q < tile_queries; ++q) {
                        const float weight = shared.weights[q * tile_cells + cell];
                        // What a query does not see has no influence on it, be it NaN.
                        out[c][q] += weight == 0 ? 0.0F : weight * value;
                    }
                }
            }
        }
    }

    sync_block();
    KVPANE_UNROLL
    for (unsigned q = 0; q < queries_of_warp; ++q) {
        const unsigned query = my_first + q;
        if (lane == 0 && query < queries) {
            const std::size_t state = state_of(query);
            const float sink =
                problem.sink_logits == nullptr ? nothing : problem.sink_logits[state % problem.query_heads];
            const Finish done = finish(largest[q], sum[q], sink);
            shared.factors[query] = done.factor * problem.cells.v_scale;
            if (args.lse != nullptr) {
                args.lse[state] = done.lse;
            }
        }
    }
    sync_block();
    KVPANE_UNROLL
    for (unsigned c = 0; c < most_columns; ++c) {
        const unsigned d = thread_index() + c * prefill_threads;
        KVPANE_UNROLL
        for (unsigned q = 0; q < tile_queries; ++q) {
            if (d < head_dim && q < queries) {
                store_element(args.out, args.out_dtype, state_of(q) * head_dim + d, out[c][q] * shared.factors[q]);
            }
        }
    }
}

}  // namespace kvpane::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kvpane/attention/attention.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/host_attention.h>

// Problems for tests of attention, made from a few numbers.
namespace kvpane::testing {

struct AttentionSizes {
    std::uint32_t block_size = 16;
    std::uint32_t kv_heads = 2;
    std::uint32_t group = 4;  // query heads of a KV head
    std::uint32_t head_dim = 64;
    DType cells = DType::f32;
    DType rows = DType::f32;
    CellOrder order = CellOrder::nhd;
    bool interleaved = false;

    Length window = 0;
    Length sinks = 0;
    float soft_cap = 0;
    bool sink_logits = false;

    std::vector<Length> lengths = {};
    std::vector<std::int32_t> queries = {};  // of each sequence; empty: one each
};

std::string describe(const AttentionSizes& sizes);

// A problem with its memory: random K, V and queries, blocks in an order that no prefetcher guesses. Whatever no query
// sees is NaN, the null block included, and blocks of which nothing is seen are holes.
class AttentionCase {
public:
    AttentionCase(const AttentionSizes& sizes, std::uint64_t seed);

    AttentionProblem problem() const;
    std::size_t states() const { return rows_ * sizes_.kv_heads * sizes_.group; }

    // Sets all of K and V of one position.
    void fill(std::size_t sequence, Length position, float k, float v);

    std::vector<Length> lengths;
    std::vector<std::int32_t> query_indptr;
    std::vector<std::int32_t> tables;
    std::vector<float> sink_logits;
    AttentionRule rule;
    std::size_t width = 1;
    std::vector<std::byte> queries;
    HostCellStore store;

private:
    std::size_t place(std::size_t sequence, Length position, std::uint32_t head) const;
    void write_seen_cells(std::uint64_t seed);

    AttentionSizes sizes_;
    std::size_t rows_ = 0;
};

// An answer, widened to f32.
struct Answer {
    std::vector<float> out;  // [rows, query_heads, head_dim]
    std::vector<float> lse;  // [rows, query_heads]
};

// Throws std::runtime_error with the fault, if there is one: it ends a test.
void require(const payload_expected<void>& solved);

std::size_t states_of(const AttentionProblem& problem);
Answer by_reference(const AttentionProblem& problem);
Answer by_host(const AttentionProblem& problem, const HostOptions& options, DType rows = DType::f32);

// |a - b| / |b| in the Euclidean norm; infinite where one is NaN. Equal infinities are no difference.
double norm_ratio(const std::vector<float>& a, const std::vector<float>& b);

// Memory as workspaces want it.
class Workspace {
public:
    explicit Workspace(std::size_t bytes) : memory_(bytes + 64) {}
    std::span<std::byte> span(std::size_t bytes);

private:
    std::vector<std::byte> memory_;
};

}  // namespace kvpane::testing

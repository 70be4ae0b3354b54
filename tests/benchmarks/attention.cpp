// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/host_attention.h>
#include <kvpane/attention/reference_attention.h>

#include "benchmarks/floors.h"
#include "benchmarks/memory_floors.h"
#include "benchmarks/workload_list.h"
#include "support/workloads.h"

// Workload "attention": a decode step of 16 sequences of 4096 tokens, 8 KV heads, 64 query heads of 128 elements, blocks
// of 16 that lie at random. K and V of f32 are 512 MiB.
namespace kvpane::bench {

namespace {

constexpr std::size_t sequences = 16;
constexpr Length length = 4096;
constexpr std::uint32_t block_size = 16;
constexpr std::uint32_t kv_heads = 8;
constexpr std::uint32_t query_heads = 64;
constexpr std::uint32_t head_dim = 128;
constexpr std::size_t width = length / block_size;
constexpr std::size_t blocks = sequences * width;
constexpr std::size_t states = sequences * query_heads;
constexpr double elements = 2.0 * sequences * length * kv_heads * head_dim;  // of K and V
constexpr double multiplications = elements * query_heads / kv_heads;

// Numbers that repeat after a prime, so that no two cells are alike.
std::vector<float> pattern() {
    testing::Lcg lcg(1);
    std::vector<float> values(65'521);
    for (float& value : values) {
        value = static_cast<float>(lcg.below(2'000'001)) / 1e6F - 1;
    }
    return values;
}

void fill(const CellStore& store) {
    const std::vector<float> values = pattern();
    const std::size_t size = bytes_of(store.shape.dtype);
    std::vector<std::byte> narrow(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        write_element(narrow.data(), store.shape.dtype, i, values[i]);
    }
    auto* at = static_cast<std::byte*>(store.k);  // V lies behind K
    for (std::size_t left = bytes_of(store.shape); left > 0;) {
        const std::size_t now = std::min(left, narrow.size());
        std::memcpy(at, narrow.data(), now);
        at += now;
        left -= now;
    }
}

class Decode {
public:
    explicit Decode(DType dtype)
        : store_({blocks, block_size, kv_heads, head_dim, dtype}, CellOrder::hnd, false), lengths_(sequences, length),
          queries_(pattern()), out_(states * head_dim), lse_(states) {
        fill(store_.view());
        for (const std::uint32_t id : shuffled_ids(blocks)) {
            tables_.push_back(static_cast<std::int32_t>(id));
        }
        queries_.resize(states * head_dim, 0.5F);
        workspace_.resize(host_workspace_bytes(problem(), {.threads = 2}) + 64);
        expected_ = std::vector<float>(query_heads * head_dim);
        solve_by_reference();
    }

    double bytes() const { return elements * bytes_of(store_.view().shape.dtype); }

    void solve(unsigned threads) {
        void* memory = workspace_.data();
        std::size_t room = workspace_.size();
        const HostOptions options{.threads = threads};
        const std::size_t needed = host_workspace_bytes(problem(), options);
        const std::span workspace(static_cast<std::byte*>(std::align(64, needed, memory, room)), needed);
        if (!host_attention(problem(), options, workspace, {{out_.data(), DType::f32}, lse_})) {
            out_.front() = std::nanf("");
        }
    }

    // One of the sequences.
    void solve_by_reference() {
        AttentionProblem one = problem();
        one.tables = one.tables.subspan(sampled * width, width);
        one.lengths = one.lengths.first(1);
        one.queries.data = queries_.data() + sampled * query_heads * head_dim;
        if (!reference_attention(one, {{expected_.data(), DType::f32}, {}})) {
            expected_.front() = std::nanf("");
        }
    }

    // How far the rows of that sequence are from the reference.
    std::vector<Check> checks() const {
        double difference = 0;
        double norm = 0;
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const double found = out_[sampled * expected_.size() + i];
            difference += (found - expected_[i]) * (found - expected_[i]);
            norm += double{expected_[i]} * expected_[i];
        }
        const bool agrees = std::sqrt(difference / norm) < 1e-5;
        return {{"agrees", agrees ? 1U : 0U, 1}};
    }

    // The pieces that a step reads, one head of a block each, in the order in which it does.
    std::vector<std::span<const std::byte>> pieces() const {
        const CellStore& store = store_.view();
        const std::size_t size = bytes_of(store.shape.dtype);
        std::vector<std::span<const std::byte>> out;
        for (std::size_t sequence = 0; sequence < sequences; ++sequence) {
            for (std::int64_t head = 0; head < kv_heads; ++head) {
                for (std::size_t block = 0; block < width; ++block) {
                    const auto at = static_cast<std::size_t>(tables_[sequence * width + block] * store.strides.block +
                                                             head * store.strides.head) *
                                    size;
                    for (const void* memory : {store.k, store.v}) {
                        out.emplace_back(static_cast<const std::byte*>(memory) + at, block_size * head_dim * size);
                    }
                }
            }
        }
        return out;
    }

    std::span<const std::byte> memory() const {
        return {static_cast<const std::byte*>(store_.view().k), bytes_of(store_.view().shape)};
    }

private:
    static constexpr std::size_t sampled = 7;

    AttentionProblem problem() const {
        return {.cells = store_.view(),
                .query_heads = query_heads,
                .tables = tables_,
                .width = width,
                .lengths = lengths_,
                .queries = {queries_.data(), DType::f32}};
    }

    HostCellStore store_;
    std::vector<Length> lengths_;
    std::vector<std::int32_t> tables_;  // [sequences, width]
    std::vector<float> queries_;
    std::vector<float> out_;
    std::vector<float> lse_;
    std::vector<float> expected_;  // of the sampled sequence
    std::vector<std::byte> workspace_;
};

Sample one_thread(Decode& decode, double units) {
    Sample sample{time([&] { decode.solve(1); }), units};
    sample.checks = decode.checks();
    return sample;
}

// On the wall: two threads spend twice the processor time.
Sample on_the_wall(Decode& decode, unsigned threads) {
    const auto begin = std::chrono::steady_clock::now();
    decode.solve(threads);
    const auto end = std::chrono::steady_clock::now();
    return {std::chrono::duration<double, std::nano>(end - begin).count(), decode.bytes(), decode.checks()};
}

Sample without_checks(Sample sample) {
    sample.checks = {};
    return sample;
}

}  // namespace

void attention(Bench& bench) {
    Decode f32(DType::f32);
    const auto pieces = f32.pieces();
    const auto gather = [&] { return Sample{time([&] { read(pieces); }), f32.bytes()}; };
    bench.measure(
        {.workload = "attention", .variant = "streaming read", .unit = "byte"},
        [&] {
            const auto memory = f32.memory();
            return Sample{time([&] { read({&memory, 1}); }), static_cast<double>(memory.size())};
        },
        gather);
    {
        const auto source = f32.memory().first(f32.memory().size() / 2);
        std::vector<std::byte> copy(source.size());
        bench.measure(
            {.workload = "attention", .variant = "memcpy", .unit = "byte"},
            [&] {
                const Sample sample{time([&] { std::memcpy(copy.data(), source.data(), copy.size()); }),
                                    static_cast<double>(copy.size())};
                keep(copy.data());
                return sample;
            },
            gather);
    }
    bench.measure(
        {.workload = "attention", .variant = "f32 and gather", .unit = "byte", .goal = 1 / 0.6},
        [&] { return one_thread(f32, f32.bytes()); }, gather);
    bench.measure(
        {.workload = "attention", .variant = "f32 and FMA peak", .unit = "FMA"},
        [&] { return one_thread(f32, multiplications); },
        [&] {
            return Sample{time([&] { multiply_add(multiplications); }), multiplications};
        });
    bench.measure(
        {.workload = "attention", .variant = "f32 and reference", .unit = "byte", .goal = 0.2},
        [&] { return one_thread(f32, f32.bytes()); },
        [&] {
            return Sample{time([&] { f32.solve_by_reference(); }), f32.bytes() / sequences};
        });
    bench.measure(
        {.workload = "attention", .variant = "2 threads and 1", .unit = "byte", .goal = 1 / 1.7},
        [&] { return on_the_wall(f32, 2); }, [&] { return on_the_wall(f32, 1); });
    for (const DType dtype : {DType::bf16, DType::f16}) {
        Decode narrow(dtype);
        const bool is_bf16 = dtype == DType::bf16;
        bench.measure(
            {.workload = "attention",
             .variant = is_bf16 ? "bf16 and f32" : "f16 and f32",
             .unit = "element",
             .goal = is_bf16 ? 0.6 : 0},
            [&] { return one_thread(narrow, elements); }, [&] { return without_checks(one_thread(f32, elements)); });
    }
}

}  // namespace kvpane::bench

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <kvpane/attention/cuda/device_cascade.h>
#include <kvpane/attention/elements.h>
#include <kvpane/attention/merge.h>

#include "attention/agreement.h"
#include "attention/cascade_case.h"
#include "cuda/bounds_of.h"
#include "gpu/gpu_check.h"
#include "gpu/on_gpu.h"

namespace kvpane::gpu {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;

// What `solve` writes on the device: it gets the device, the problem there and where to put the result.
template <class Solve>
Answer answer_of(const AttentionProblem& host, DType rows, Solve solve) {
    OnGpu gpu;
    const AttentionProblem problem = gpu.copy(host);
    const std::size_t states = testing::states_of(host);
    const std::size_t elements = states * host.cells.shape.head_dim;
    const auto out = gpu.empty(elements * bytes_of(rows));
    const auto lse = gpu.array<float>(states);
    require(solve(gpu, problem, AttentionResult{.out = {out.data(), rows}, .lse = lse}));
    const auto bytes = from_gpu<std::byte>(out);
    Answer answer{std::vector<float>(elements), from_gpu<float>(lse)};
    for (std::size_t i = 0; i < elements; ++i) {
        answer.out[i] = read_element(bytes.data(), rows, i);
    }
    return answer;
}

Answer by_gpu(const AttentionProblem& host, DType rows) {
    const DeviceBounds bounds = testing::bounds_of(host);
    return answer_of(host, rows, [&](OnGpu& gpu, const AttentionProblem& problem, const AttentionResult& result) {
        return device_attention(problem, bounds, gpu.empty(device_workspace_bytes(problem, bounds)), result, nullptr);
    });
}

Answer by_gpu(const AttentionProblem& host, const SharedPrefixes& host_shared, DType rows) {
    const CascadeBounds bounds = testing::bounds_of(host, host_shared);
    return answer_of(host, rows, [&](OnGpu& gpu, const AttentionProblem& problem, const AttentionResult& result) {
        const SharedPrefixes shared{gpu.copy(host_shared.indptr), gpu.copy(host_shared.lengths)};
        const auto workspace = gpu.empty(device_cascade_workspace_bytes(problem, shared, bounds));
        return device_cascade_attention(problem, shared, bounds, workspace, result, nullptr);
    });
}

Outcome compare(const Answer& found, const Answer& expected, DType rows) {
    const double error = testing::norm_ratio(found.out, expected.out);
    const double lse_error = testing::norm_ratio(found.lse, expected.lse);
    return {error < testing::tolerance(rows) && lse_error < testing::lse_tolerance, std::max(error, lse_error)};
}

void check(Checks& checks, const AttentionSizes& sizes) {
    const AttentionCase made(sizes, 1);
    const Answer expected = testing::by_reference(made.problem());
    checks.add("attention: " + describe(sizes),
               [&] { return compare(by_gpu(made.problem(), sizes.rows), expected, sizes.rows); });
}

void check_cascades(Checks& checks, bool small) {
    const std::vector<testing::CascadeSizes> all = testing::cascades();
    for (std::size_t i = 0; i < all.size(); i += small ? 7 : 1) {
        const testing::CascadeCase made(all[i], 1);
        const DType rows = all[i].attention.rows;
        const Answer expected = testing::by_cascade(made.problem(), made.shared(), {});
        checks.add("cascade: " + describe(all[i].attention),
                   [&] { return compare(by_gpu(made.problem(), made.shared(), rows), expected, rows); });
    }
}

// The two halves of a problem, cut at a position, merge to the whole.
void check_merge(Checks& checks) {
    const AttentionCase made({.kv_heads = 1, .sink_logits = true, .lengths = {100, 30, 0}}, 1);
    const AttentionProblem whole = made.problem();
    const std::vector<Length> cut(3, 40);
    AttentionProblem front = whole;
    front.rule.sink_logits = {};
    AttentionProblem back = front;
    front.end = cut;
    back.begin = cut;
    const Answer first = testing::by_reference(front);
    Answer parts = testing::by_reference(back);
    parts.out.insert(parts.out.begin(), first.out.begin(), first.out.end());
    parts.lse.insert(parts.lse.begin(), first.lse.begin(), first.lse.end());
    const AttentionParts both{.parts = 2,
                              .rows = 3,
                              .query_heads = whole.query_heads,
                              .head_dim = whole.cells.shape.head_dim,
                              .out = parts.out,
                              .lse = parts.lse,
                              .sink_logits = whole.rule.sink_logits};
    Answer expected{std::vector<float>(first.out.size()), std::vector<float>(first.lse.size())};
    require(merge_parts(both, {.out = {expected.out.data(), DType::f32}, .lse = expected.lse}));
    checks.add("merge of parts", [&] {
        OnGpu gpu;
        AttentionParts copied = both;
        copied.out = gpu.copy(both.out);
        copied.lse = gpu.copy(both.lse);
        copied.sink_logits = gpu.copy(both.sink_logits);
        const auto out = gpu.array<float>(expected.out.size());
        const auto lse = gpu.array<float>(expected.lse.size());
        require(device_merge_parts(copied, {.out = {out.data(), DType::f32}, .lse = lse}, nullptr));
        return compare({from_gpu<float>(out), from_gpu<float>(lse)}, expected, DType::f32);
    });
}

WrongEntry wrong_entry_by_gpu(const AttentionProblem& problem) {
    OnGpu gpu;
    const auto scratch = gpu.array<std::uint64_t>(1);
    const auto found = gpu.array<WrongEntry>(1);
    require(device_find_wrong_entry(gpu.copy(problem), scratch.data(), found.data(), nullptr));
    return from_gpu<WrongEntry>(found)[0];
}

// A block that the store lacks: the place of it, and NaN for those that see it. A sink logit that is none.
void check_wrong_entry(Checks& checks) {
    AttentionCase made({.lengths = {20, 100}}, 1);
    const std::size_t states_of_row = made.states() / 2;
    made.tables[made.width + 2] = 1'000'000;
    checks.add("a block that the store lacks", [&]() -> Outcome {
        const Answer answer = by_gpu(made.problem(), DType::f32);
        const auto is_nan = [](float value) { return std::isnan(value); };
        const auto second = answer.lse.begin() + static_cast<std::ptrdiff_t>(states_of_row);
        return {.agrees = wrong_entry_by_gpu(made.problem()) == WrongEntry{.kind = WrongEntry::Kind::table_entry,
                                                                           .fault = PayloadFault::out_of_range,
                                                                           .block = 1'000'000,
                                                                           .index = 1,
                                                                           .entry = 2} &&
                          std::none_of(answer.lse.begin(), second, is_nan) &&
                          std::all_of(second, answer.lse.end(), is_nan)};
    });
    AttentionCase logits({.sink_logits = true, .lengths = {20, 100}}, 1);
    logits.sink_logits[5] = std::numeric_limits<float>::quiet_NaN();
    checks.add("a sink logit that is none", [&]() -> Outcome {
        return {.agrees =
                    wrong_entry_by_gpu(logits.problem()) ==
                    WrongEntry{.kind = WrongEntry::Kind::sink_logit, .fault = PayloadFault::out_of_range, .index = 5}};
    });
}

}  // namespace

void check_attention(Checks& checks, bool small) {
    for (AttentionSizes& sizes : testing::sizes_in_turn(small ? 100 : 1500, small ? 11 : 1)) {
        check(checks, sizes);
        const auto b = static_cast<std::int32_t>(sizes.block_size);
        sizes.queries = {0, 1, b - 1, 1, b + 1, 33};
        check(checks, sizes);
    }
    check_cascades(checks, small);
    check_merge(checks);
    check_wrong_entry(checks);
}

}  // namespace kvpane::gpu

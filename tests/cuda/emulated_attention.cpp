// SPDX-License-Identifier: Apache-2.0
#include "cuda/emulated_attention.h"

#include <vector>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/cuda/attention_launch.cuh>

#include "cuda/bounds_of.h"
#include "cuda/emulated_launch.h"

namespace kvpane::testing {

Answer by_emulator(const AttentionProblem& problem, std::uint64_t seed, DType rows) {
    return by_emulator(problem, bounds_of(problem), seed, rows);
}

Answer by_emulator(const AttentionProblem& problem, const DeviceBounds& bounds, std::uint64_t seed, DType rows) {
    const std::size_t states = bounds.rows * problem.query_heads;
    const std::size_t elements = states * problem.cells.shape.head_dim;
    std::vector<float> workspace(device_workspace_bytes(problem, bounds) / sizeof(float), 0.5F);
    std::vector<std::byte> out(elements * bytes_of(rows), std::byte{0xff});
    Answer answer{.out = std::vector<float>(elements), .lse = std::vector<float>(states, 7)};
    EmulatedLaunch launch(seed);
    static_cast<void>(cuda::run_attention(launch, problem, bounds, std::as_writable_bytes(std::span(workspace)),
                                          {.out = {out.data(), rows}, .lse = answer.lse}));
    for (std::size_t i = 0; i < elements; ++i) {
        answer.out[i] = read_element(out.data(), rows, i);
    }
    return answer;
}

}  // namespace kvpane::testing
